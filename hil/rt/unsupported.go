//go:build !linux

package rt

import (
	"fmt"
	"runtime"
)

// notSupported says that this needs Linux.
func notSupported(what string) error {
	return fmt.Errorf("%s: not supported on %s; run in a single process", what, runtime.GOOS)
}
