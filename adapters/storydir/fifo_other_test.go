//go:build !unix

package storydir_test

func fifo(string) bool { return false }
