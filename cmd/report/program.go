package report

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// StartName is the name by which the user started us, such as ./bin/hil: hints use it, so that they can be copied.
var StartName = "hil"

// StartedAs takes the name from the first word of the command line. What go run builds has no name that a user could repeat.
func StartedAs(word string) {
	if word != "" && !strings.Contains(word, "go-build") {
		StartName = ShellWord(word)
	}
}

// ShellWord quotes a word that a shell would take apart.
func ShellWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'$`\\|&;<>()*?[]#~!{}") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// CommandLine is how this run was started.
func CommandLine() string {
	words := []string{StartName}
	for _, w := range os.Args[1:] {
		words = append(words, ShellWord(w))
	}
	return strings.Join(words, " ")
}

var hilVerb = regexp.MustCompile(`(^|[\s(,;:"'` + "`" + `])hil (run|rig|replay|runs|view|export|export-model|import|decode|identify|compare|simulate|scenario|laws|lcp|study|check|config|ports|latency|version|completion|--help)\b`)

// AsStarted puts the name of the program in place of hil in the commands of a hint.
func AsStarted(hint string) string {
	if StartName == "hil" {
		return hint
	}
	return hilVerb.ReplaceAllString(hint, "${1}"+strings.ReplaceAll(StartName, "$", "$$")+" $2")
}

// logAsStarted does so in what is logged.
func logAsStarted(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string, error:
		if text := fmt.Sprint(v); AsStarted(text) != text {
			a.Value = slog.StringValue(AsStarted(text))
		}
	}
	return a
}

// VersionLine is what hil --version and hil version print.
func VersionLine() string {
	return fmt.Sprintf("hil %s (%s %s/%s)", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// PrintVersion prints it.
func PrintVersion(o *Output) error {
	answer := map[string]string{"version": Version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	return o.Give(answer, func(w io.Writer) { fmt.Fprintln(w, VersionLine()) })
}

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
