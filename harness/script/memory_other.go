//go:build !linux

package script

// memory is a file system in memory: none that is there without being asked for.
func memory() string { return "" }
