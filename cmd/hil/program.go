package main

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// startName is the name by which the user started us, such as ./bin/hil: hints use it, so that they can be copied.
var startName = "hil"

// startedAs takes the name from the first word of the command line. What go run builds has no name that a user could repeat.
func startedAs(word string) {
	if word != "" && !strings.Contains(word, "go-build") {
		startName = shellWord(word)
	}
}

// shellWord quotes a word that a shell would take apart.
func shellWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'$`\\|&;<>()*?[]#~!{}") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// commandLine is how this run was started.
func commandLine() string {
	words := []string{startName}
	for _, w := range os.Args[1:] {
		words = append(words, shellWord(w))
	}
	return strings.Join(words, " ")
}

var hilVerb = regexp.MustCompile(`(^|[\s(,;:"'` + "`" + `])hil (run|rig|replay|export|identify|compare|simulate|scenario|laws|lcp|study|check|config|ports|latency|version|--help)\b`)

// asStarted puts the name of the program in place of hil in the commands of a hint.
func asStarted(hint string) string {
	if startName == "hil" {
		return hint
	}
	return hilVerb.ReplaceAllString(hint, "${1}"+strings.ReplaceAll(startName, "$", "$$")+" $2")
}

// helpAsStarted does so in the help of a command and those below it.
func helpAsStarted(c *cobra.Command) {
	c.Long, c.Example = asStarted(c.Long), asStarted(c.Example)
	for _, below := range c.Commands() {
		helpAsStarted(below)
	}
}

// logAsStarted does so in what is logged.
func logAsStarted(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string, error:
		if text := fmt.Sprint(v); asStarted(text) != text {
			a.Value = slog.StringValue(asStarted(text))
		}
	}
	return a
}
