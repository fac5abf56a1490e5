package report

import (
	"fmt"
	"io"
	"runtime"
)

// VersionLine is what hil --version and hil version print.
func VersionLine() string {
	return fmt.Sprintf("hil %s (%s %s/%s)", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// PrintVersion prints it.
func PrintVersion(o *Output) error {
	answer := map[string]string{"version": Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	return o.Give(answer, func(w io.Writer) { fmt.Fprintln(w, VersionLine()) })
}
