package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/engine/spelling"
)

// meanings are the exit codes in help.
var meanings = []struct {
	code int
	text string
}{
	{report.OK, "done"},
	{report.Internal, "a fault of this program"},
	{report.Usage, "wrong usage"},
	{report.Invalid, "a file or data that cannot be used"},
	{report.Unavailable, "a device, broker or file that is not there, not permitted, or cannot be written"},
	{report.Trip, "the safety guard tripped, or the rig never ran"},
	{report.Quality, "a quality gate was missed"},
	{report.Interrupted, "interrupted"},
}

// verbExits are the codes of the verbs that do not explain them in their own help, beside 0, 1 and 2.
var verbExits = map[string][]int{
	"":               {report.Invalid, report.Unavailable, report.Trip, report.Quality, report.Interrupted},
	"run":            {report.Invalid, report.Unavailable, report.Trip, report.Interrupted},
	"rig":            {report.Invalid, report.Unavailable, report.Trip, report.Interrupted},
	"replay":         {report.Invalid, report.Unavailable, report.Quality, report.Interrupted},
	"view":           {report.Invalid, report.Unavailable},
	"export":         {report.Invalid, report.Unavailable, report.Interrupted},
	"runs":           {report.Invalid, report.Unavailable},
	"runs list":      {report.Invalid, report.Unavailable},
	"runs tag":       {report.Invalid, report.Unavailable},
	"runs remove":    {report.Invalid, report.Unavailable},
	"runs verify":    {report.Invalid, report.Interrupted},
	"runs prune":     {report.Invalid, report.Unavailable},
	"laws":           {report.Interrupted},
	"check":          {report.Invalid},
	"completion":     {},
	"config":         {},
	"config schema":  {},
	"config show":    {report.Invalid},
	"config example": {},
	"ports":          {report.Unavailable},
	"latency":        {report.Unavailable, report.Quality, report.Interrupted},
	"version":        {},
	"study plan":     {report.Invalid, report.Unavailable, report.Interrupted},
	"study run":      {report.Invalid, report.Unavailable, report.Interrupted},
	"study status":   {report.Invalid, report.Unavailable},
	"study collect":  {report.Invalid, report.Unavailable, report.Quality, report.Interrupted},
}

// exitsHelp are the codes of a verb in a sentence.
func exitsHelp(codes []int) string {
	var parts []string
	for _, m := range meanings {
		if m.code <= report.Usage || slices.Contains(codes, m.code) {
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

// Finish gives all commands what they have in common: exit codes in the help, the name of the program as started, answers to words
// that are misspelt, and completion.
func Finish(root *cobra.Command) {
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return report.ExitWith(report.Usage, fmt.Errorf("%w%s (see %s --help)", err, flagHint(c, err), c.CommandPath()))
	})
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Short = "Print a script by which the Tab key of your shell completes verbs, flags, laws, methods, signals and runs"
			c.Long, c.Example = c.Short+".", "  source <(hil completion bash)      # for this terminal; in ~/.bashrc for all"
		case "help":
			c.Args = func(_ *cobra.Command, topic []string) error {
				if found, rest, err := root.Find(topic); err != nil || len(rest) > 0 {
					word := topic[len(topic)-max(1, len(rest))]
					return report.Exitf(report.Usage, "no help on %q%s", word, spelling.DidYouMean(word, subcommandNames(cmp.Or(found, root))))
				}
				return nil
			}
		}
	}
	finish(root)
	completeVerb(root)
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
			return report.ExitWith(report.Usage, fmt.Errorf("unknown command %q for %q%s", args[0], c.CommandPath(), spelling.DidYouMean(args[0], subcommandNames(c))))
		}
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil || !strings.HasPrefix(err.Error(), "accepts ") && !strings.HasPrefix(err.Error(), "requires ") {
				return err
			}
			given := strings.Replace(report.CountOf(len(args), "argument"), "0 arguments", "no argument", 1)
			return report.ExitWith(report.Usage, fmt.Errorf("%s given; want %s (see %s --help)", given, c.UseLine(), c.CommandPath()))
		}
	}
	c.Long, c.Example = report.AsStarted(c.Long), report.AsStarted(c.Example)
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
	var names, longer []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, "--"+f.Name)
		if strings.HasPrefix(f.Name, unknown.GetSpecifiedName()) {
			longer = append(longer, "--"+f.Name)
		}
	})
	if len(longer) == 1 {
		return fmt.Sprintf(" (did you mean %q?)", longer[0])
	}
	return spelling.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}
