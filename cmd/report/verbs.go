package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hilrig/engine/spelling"
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

// meanings are the exit codes in help.
var meanings = []struct {
	code int
	text string
}{
	{OK, "done"},
	{Internal, "a fault of this program"},
	{Usage, "wrong usage"},
	{Invalid, "a file or data that cannot be used"},
	{Unavailable, "a device, broker or file that is not there, not permitted, or cannot be written"},
	{Trip, "the safety guard tripped, or the rig never ran"},
	{Quality, "a quality gate was missed"},
	{Interrupted, "interrupted"},
}

// verbExits are the codes of the verbs that do not explain them in their own help, beside 0, 1 and 2.
var verbExits = map[string][]int{
	"":               {Invalid, Unavailable, Trip, Quality, Interrupted},
	"run":            {Invalid, Unavailable, Trip, Interrupted},
	"rig":            {Invalid, Unavailable, Trip, Interrupted},
	"replay":         {Invalid, Unavailable, Quality},
	"view":           {Invalid, Unavailable},
	"export":         {Invalid, Unavailable, Interrupted},
	"runs":           {Invalid, Unavailable},
	"runs list":      {Invalid, Unavailable},
	"runs tag":       {Invalid, Unavailable},
	"runs remove":    {Invalid, Unavailable},
	"runs verify":    {Invalid, Interrupted},
	"runs prune":     {Unavailable},
	"laws":           {Interrupted},
	"check":          {Invalid},
	"config":         {},
	"config schema":  {},
	"config show":    {Invalid},
	"config example": {},
	"ports":          {Unavailable},
	"latency":        {Unavailable, Quality},
	"version":        {},
	"study plan":     {Invalid, Unavailable, Interrupted},
	"study run":      {Invalid, Unavailable, Interrupted},
	"study status":   {Invalid, Unavailable},
	"study collect":  {Invalid, Unavailable, Quality, Interrupted},
}

// exitsHelp are the codes of a verb in a sentence.
func exitsHelp(codes []int) string {
	var parts []string
	for _, m := range meanings {
		if m.code <= Usage || slices.Contains(codes, m.code) {
			parts = append(parts, fmt.Sprintf("%d %s", m.code, m.text))
		}
	}
	text, width := "Exit codes:", len("Exit codes:")
	for i, p := range parts {
		if i+1 < len(parts) {
			p += ";"
		} else {
			p += "."
		}
		if sep := " "; width+len(p) >= 120 {
			text, width = text+"\n"+p, len(p)
		} else {
			text, width = text+sep+p, width+1+len(p)
		}
	}
	return text
}

// Finish gives all commands what they have in common: exit codes in the help, the name of the program as started, and answers to words
// that are misspelt.
func Finish(root *cobra.Command) {
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return ExitWith(Usage, fmt.Errorf("%w%s (see %s --help)", err, flagHint(c, err), c.CommandPath()))
	})
	finish(root)
}

func finish(c *cobra.Command) {
	path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().DisplayName()), " ")
	if codes, listed := verbExits[path]; listed && !strings.Contains(c.Long, "Exit codes:") {
		c.Long = strings.TrimRight(cmp.Or(c.Long, c.Short+"."), "\n") + "\n\n" + exitsHelp(codes)
	}
	if c.HasSubCommands() && !c.Runnable() && c.HasParent() { // else a misspelt word gets the help, and exit code 0
		c.Args = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return ExitWith(Usage, fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), spelling.DidYouMean(args[0], subcommandNames(c))))
		}
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	c.Long, c.Example = AsStarted(c.Long), AsStarted(c.Example)
	for _, sub := range c.Commands() {
		finish(sub)
	}
}

// subcommandNames are the names of the commands below one.
func subcommandNames(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// flagHint names the flag that was probably meant.
func flagHint(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return spelling.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}
