// Package lint looks for what is wrong with recordings.
package lint
