// Command testsum reads go test -json and writes what a person wants to see: a line per package, what failing tests said, and
// at the end every test that was skipped, with its reason, and every one that failed and passed when it was repeated. It ends with
// status 1 if anything failed for good. With -failed it writes the tests that failed as a pattern for -run, where they may be repeated.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
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
	failed := flag.Bool("failed", false, "write the tests that failed as a pattern for -run; status 1 if they are not to be repeated")
	flag.Parse()
	if !*failed {
		if s := summarise(os.Stdin, os.Stdout); !s.report(os.Stdout) {
			os.Exit(1)
		}
		return
	}
	s := summarise(os.Stdin, io.Discard)
	names := s.repeatable()
	if len(names) == 0 {
		os.Exit(1)
	}
	fmt.Printf("^(%s)$\n", strings.Join(names, "|"))
}

// summary is what the tests of some runs came to.
type summary struct {
	skipped  []string
	packages int             // that passed
	broken   int             // packages that did not compile, or ended before their tests did
	outcomes map[string]bool // by package and test: passed the last time it ran
	repeated []string        // tests that failed, and passed later
	err      error           // of the input
}

// summarise reads the events, and writes what is not to wait for the end.
func summarise(in io.Reader, out io.Writer) *summary {
	s := &summary{outcomes: map[string]bool{}}
	said := map[string][]string{} // output of a test or package that runs
	failures := map[string]int{}  // tests of a package that runs
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
			s.broken++
			fmt.Fprint(out, strings.Join(said[key], ""))
		case "pass":
			if e.Test == "" {
				s.packages++
				fmt.Fprintf(out, "ok    %s  %.1f s\n", e.Package, e.Elapsed)
				break
			}
			if before, ran := s.outcomes[key]; ran && !before {
				s.repeated = append(s.repeated, "  "+key)
			}
			s.outcomes[key] = true
		case "skip":
			if e.Test != "" {
				s.skipped = append(s.skipped, fmt.Sprintf("  %s: %s", key, reason(said[key])))
			}
		case "fail":
			if e.FailedBuild == "" {
				fmt.Fprint(out, strings.Join(said[key], ""))
			}
			if e.Test != "" {
				s.outcomes[key] = false
				failures[e.Package]++
				break
			}
			fmt.Fprintf(out, "FAIL  %s  %.1f s\n", e.Package, e.Elapsed)
			if failures[e.Package] == 0 || !slices.Contains(said[key], "FAIL\n") { // which the tests write when all have run
				s.broken++
			}
			failures[e.Package] = 0
		default:
			continue
		}
		delete(said, key)
	}
	s.err = lines.Err()
	return s
}

// report writes the end, and tells whether all is well.
func (s *summary) report(out io.Writer) bool {
	passed := 0
	for _, well := range s.outcomes {
		if well {
			passed++
		}
	}
	fmt.Fprintf(out, "\n%d tests passed in %d packages, %d skipped", passed, s.packages, len(s.skipped))
	if len(s.skipped) > 0 {
		slices.Sort(s.skipped)
		fmt.Fprintf(out, ":\n%s", strings.Join(s.skipped, "\n"))
	}
	fmt.Fprintln(out)
	if len(s.repeated) > 0 {
		fmt.Fprintf(out, "%d failed, and passed when repeated with nothing beside:\n%s\n", len(s.repeated), strings.Join(s.repeated, "\n"))
	}
	switch {
	case s.err != nil:
		fmt.Fprintln(out, s.err)
	case s.broken > 0 || passed < len(s.outcomes):
		fmt.Fprintln(out, "FAIL")
	case s.packages == 0:
		fmt.Fprintln(out, "no test ran")
	default:
		return true
	}
	return false
}

// repeatable are the tests that may be repeated: all others have run, and they are so few that it may have been the machine.
func (s *summary) repeatable() (names []string) {
	for key, well := range s.outcomes {
		_, test, _ := strings.Cut(key, " ")
		if name, _, _ := strings.Cut(test, "/"); !well && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); s.broken > 0 || s.err != nil || len(names) > 3 {
		return nil
	}
	return names
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
