// Package verbs has what all verbs have in common: exit codes in their help, answers to misspelt words, and words that a shell proposes:
// laws, methods, signals, runs and whatever else a flag or an argument can be. A proposal is an entry of flags or of arguments.
package verbs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hilrig/cmd/check"
	"hilrig/cmd/decode"
	"hilrig/cmd/exportmodel"
	"hilrig/cmd/recordings"
	"hilrig/cmd/simulate"
	"hilrig/cmd/study"
	"hilrig/engine/friction"
	"hilrig/hil/sink"
	"hilrig/identify"
)

// words are proposals for a command line whose arguments are known so far.
type words func(args []string) []string

func fixedWords(list []string) words { return func([]string) []string { return list } }

// flags are by the name of the flag, in whatever verb it stands; "verb flag" goes before it.
var flags = map[string]words{
	"law":             fixedWords(simulate.LawChoices()),
	"method":          fixedWords(identify.Method("").Words()),
	"scheme":          fixedWords(friction.Midpoint.Words()),
	"protocol":        fixedWords(decode.Protocols()),
	"input":           fixedWords(decode.Forms()),
	"to":              fixedWords(exportmodel.Targets()),
	"kind":            fixedWords(check.SchemaKinds()),
	"executor":        fixedWords([]string{"local", "slurm"}),
	"log-format":      fixedWords([]string{"text", "json"}),
	"load":            fixedWords([]string{"idle", "full", "garbage", "heap"}),
	"scenario format": fixedWords([]string{"svg", "png", "pdf"}),
	"study format":    fixedWords(study.Formats()),
	"collect format":  fixedWords(study.Formats()),
	"export to":       fixedWords(nil), // a time
	"channels":        signals,
	"axis":            axes,
}

// arguments are by the path of the command; a proposal may be joined by files.
var arguments = map[string]struct {
	words words
	files bool
}{
	"identify": {recorded, true}, "export": {recorded, true}, "view": {recorded, true}, "replay": {recorded, true}, "import": {recorded, true},
	"runs tag": {recorded, true}, "runs remove": {recorded, true}, "runs verify": {recorded, true},
	"scenario":   {fixedWords(simulate.ScenarioNames()), false},
	"laws":       {fixedWords(simulate.LawNames()), false},
	"study":      {fixedWords(study.Names()), true},
	"study plan": {fixedWords(study.Names()), true},
}

// recorded are the runs below the usual folder, newest first, and the folder itself.
func recorded([]string) []string {
	list, _ := filepath.Glob(filepath.Join(recordings.Folder, "*", "run.mcap"))
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	slices.Reverse(list)
	for i := range list {
		list[i] = filepath.Dir(list[i])
	}
	return append(list, recordings.Folder)
}

// open opens the recording of a command line.
func open(args []string) *sink.Run {
	if len(args) == 0 {
		return nil
	}
	if _, isRun := sink.FindRun(args[0]); !isRun {
		return nil
	}
	run, err := sink.OpenRun(args[0])
	if err != nil {
		return nil
	}
	return run
}

func signals(args []string) (names []string) {
	run := open(args)
	if run == nil {
		return nil
	}
	defer run.Close()
	all, err := run.Export(sink.ExportOptions{})
	if err != nil {
		return nil
	}
	for _, c := range all.Columns[1:] {
		names = append(names, c.Name)
	}
	return names
}

func axes(args []string) []string {
	run := open(args)
	if run == nil {
		return nil
	}
	defer run.Close()
	return run.Info.Schema.Axes()
}

// completeVerb proposes words for the flags and arguments of all commands.
func completeVerb(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		list, ok := flags[c.Name()+" "+f.Name]
		if !ok {
			list, ok = flags[f.Name]
		}
		if !ok {
			return
		}
		// those that take a list complete its last word
		takesList := f.Value.Type() == "stringSlice"
		_ = c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			before := ""
			if i := strings.LastIndexByte(typed, ','); takesList && i >= 0 {
				before = typed[:i+1]
			}
			return matching(list(args), before, typed), cobra.ShellCompDirectiveNoFileComp
		})
	})
	path := strings.TrimPrefix(c.CommandPath(), c.Root().DisplayName()+" ")
	if a, ok := arguments[path]; ok {
		c.ValidArgs = nil
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			many := path == "runs remove" || path == "runs verify"
			if len(args) > 0 && !many {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			found := matching(a.words(args), "", typed)
			if a.files && (len(found) == 0 || typed != "" && exists(typed)) {
				return found, cobra.ShellCompDirectiveDefault
			}
			if a.files { // names, and files beside them
				list, _ := filepath.Glob(typed + "*.yaml")
				found = append(found, list...)
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, sub := range c.Commands() {
		completeVerb(sub)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// matching are the words that begin as typed, behind what stands before them in a list.
func matching(list []string, before, typed string) (found []string) {
	for _, word := range list {
		if strings.HasPrefix(before+word, typed) {
			found = append(found, before+word)
		}
	}
	return found
}
