// Package official is tests only: the providers' own Go SDKs hear what
// harness/upstream says, and its keys are held against recordings of real providers.
//
// It lies in adapters because SDKs do, and because harness is a module of its own
// that must not require them. It does not test the model adapter; package model does.
package official
