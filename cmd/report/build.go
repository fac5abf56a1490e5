package report

import "runtime/debug"

// version is set by the Makefile from the repository; a plain `go build` reads it from the build information.
var version = ""

// Version is the version of the program, for results and recordings.
func Version() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" && bi.Main.Version != "(devel)" {
		return bi.Main.Version
	}
	return "development"
}
