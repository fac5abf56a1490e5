package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/spelling"
)

// schemaKinds are the kinds of files that have a schema, with their defaults.
var schemaKinds = []struct {
	name     string
	defaults func() any
}{
	{"rig", func() any { return configs.Default() }},
	{"simulate", func() any { return configs.DefaultSimulate() }},
	{"identify", func() any { return configs.DefaultIdentify() }},
	{"study", func() any { return configs.DefaultStudy() }},
	{"machine", func() any { return configs.DefaultMachineRun() }},
	{"simulate-ball", func() any { return configs.DefaultBallRun() }},
	{"simulate-manipulator", func() any { return configs.DefaultManipulatorRun() }},
	{"identify-ball", func() any { return configs.DefaultBallFit() }},
	{"identify-machine", func() any { return configs.DefaultMachineFit() }},
	{"identify-response", func() any { return configs.DefaultResponseFit() }},
}

// SchemaKinds are the words of --kind.
func SchemaKinds() (names []string) {
	for _, k := range schemaKinds {
		names = append(names, k.name)
	}
	return names
}

// Schema prints the JSON Schema of a kind of files.
func Schema(out io.Writer, kind string) error {
	i := slices.Index(SchemaKinds(), kind)
	if i < 0 {
		return report.ExitWith(report.Usage, fmt.Errorf("config schema: --kind %q (%s)", kind,
			spelling.Hint(kind, SchemaKinds(), "want "+strings.Join(SchemaKinds(), ", "))))
	}
	defaults := schemaKinds[i].defaults()
	text, err := schema.JSON("hil "+kind+" file", defaults)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// Show prints every key in force of a rig file, or of the demo without one.
func Show(o *report.Output, file string) error {
	cfg, name := configs.Demo(), "the demo"
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
		name = file
	}
	text, err := cfg.Redacted().Marshal()
	if err != nil {
		return err
	}
	keys, err := schema.ToJSON(text)
	if err != nil {
		return err
	}
	answer := struct {
		File   string          `json:"file"`
		Hash   string          `json:"hash"`
		Config json.RawMessage `json:"config"` // in SI
	}{name, cfg.Hash(), keys}
	return o.Give(answer, func(out io.Writer) {
		fmt.Fprintf(out, "# %s as it is in force, in SI; hash %s\n%s", name, cfg.Hash(), text)
	})
}

// Example prints the commented rig file of the demo.
func Example(o *report.Output) error {
	return o.Give(map[string]string{"yaml": string(configs.DemoYAML())}, func(out io.Writer) { _, _ = out.Write(configs.DemoYAML()) })
}
