//go:build !linux

package rt

// Raise needs Linux: elsewhere the process stays as it is.
func Raise(int) (refused string, err error) { return notSupported("real-time scheduling").Error(), nil }

// Lower has nothing to do.
func Lower() error { return nil }
