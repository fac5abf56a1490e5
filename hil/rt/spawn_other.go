//go:build !linux

package rt

// StartCore needs Linux.
func StartCore(CoreSpec) (*Core, error) { return nil, notSupported("real-time core") }
