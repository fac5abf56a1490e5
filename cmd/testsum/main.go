// Command testsum reads go test -json and writes what a person wants to see: a line per package, what failing tests said, and
// at the end every test that was skipped, with its reason. It ends with status 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64
}

func main() {
	if !summarise(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// summarise tells whether all is well.
func summarise(in io.Reader, out io.Writer) bool {
	said := map[string][]string{} // output of a test or package that runs
	var skipped []string
	passed, failed, packages := 0, 0, 0
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(out, lines.Text()) // not from a test
			continue
		}
		key := e.Package + e.ImportPath + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			said[key] = append(said[key], e.Output)
			continue
		case "build-fail":
			fmt.Fprint(out, strings.Join(said[key], ""))
		case "pass":
			if e.Test == "" {
				packages++
				fmt.Fprintf(out, "ok    %s  %.1f s\n", e.Package, e.Elapsed)
			} else {
				passed++
			}
		case "skip":
			if e.Test != "" {
				skipped = append(skipped, fmt.Sprintf("  %s %s: %s", e.Package, e.Test, reason(said[key])))
			}
		case "fail":
			if failed++; e.FailedBuild == "" {
				fmt.Fprint(out, strings.Join(said[key], ""))
			}
			if e.Test == "" {
				fmt.Fprintf(out, "FAIL  %s  %.1f s\n", e.Package, e.Elapsed)
			}
		default:
			continue
		}
		delete(said, key)
	}
	fmt.Fprintf(out, "\n%d tests passed in %d packages, %d skipped", passed, packages, len(skipped))
	if len(skipped) > 0 {
		slices.Sort(skipped)
		fmt.Fprintf(out, ":\n%s", strings.Join(skipped, "\n"))
	}
	fmt.Fprintln(out)
	switch {
	case lines.Err() != nil:
		fmt.Fprintln(out, lines.Err())
	case failed > 0:
		fmt.Fprintln(out, "FAIL")
	case packages == 0:
		fmt.Fprintln(out, "no test ran")
	default:
		return true
	}
	return false
}

// reason is what a skipped test said, without the place in its file.
func reason(output []string) string {
	var words []string
	for _, s := range output {
		if s = strings.TrimSpace(s); s != "" && !strings.HasPrefix(s, "===") && !strings.HasPrefix(s, "---") {
			if place, rest, ok := strings.Cut(s, ".go:"); ok && !strings.Contains(place, " ") {
				_, s, _ = strings.Cut(rest, ": ")
			}
			words = append(words, s)
		}
	}
	if len(words) == 0 {
		return "no reason given"
	}
	return strings.Join(words, " ")
}
