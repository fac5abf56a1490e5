//go:build !linux

package device

import (
	"errors"
	"runtime"
)

var errOnlyLinux = errors.New("needs Linux, this is " + runtime.GOOS)

// OpenPTY is available on Linux only.
func OpenPTY(string) (master Port, name string, err error) { return nil, "", errOnlyLinux }
