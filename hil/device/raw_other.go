//go:build !linux

package device

import (
	"errors"
	"runtime"

	"hilrig/hil/protocol"
)

var errOnlyLinux = errors.New("needs Linux, this is " + runtime.GOOS)

func openRaw(string, protocol.PortSpec) (Port, error) { return nil, errOnlyLinux }

// OpenPTY is available on Linux only.
func OpenPTY(string) (master Port, name string, err error) { return nil, "", errOnlyLinux }

// OpenSocket is available on Linux only.
func OpenSocket(string) (Port, error) { return nil, errOnlyLinux }
