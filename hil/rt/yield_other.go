//go:build !linux

package rt

// Yield lets other threads of the same priority run first where the system has a call for it.
func Yield() {}
