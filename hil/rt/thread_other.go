//go:build !linux

package rt

// PinThread needs Linux.
func PinThread(int) error { return notSupported("pin a thread") }

// KeepOff needs Linux.
func KeepOff(int) error { return notSupported("keep off a processor") }

// Prefer needs Linux: nothing happens.
func Prefer() {}

// Yielding needs Linux: nothing happens.
func Yielding() {}
