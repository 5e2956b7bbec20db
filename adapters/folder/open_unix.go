//go:build unix

package folder

import "syscall"

// noWait keeps the opening of what became a pipe from waiting for its writer.
const noWait = syscall.O_NONBLOCK
