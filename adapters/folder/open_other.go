//go:build !unix

package folder

// noWait is nothing where files that wait have no names in folders.
const noWait = 0
