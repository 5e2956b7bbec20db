// Package view is what a state shows: typed elements, rendered to text of so many columns.
package view

// A View is a page of a state.
type View struct{}
