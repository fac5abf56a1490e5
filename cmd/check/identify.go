package check

import (
	"fmt"
	"os"
	"strings"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify/axis"
)

// identify says what an identification file asks for, as far as it can be known without reading a whole record: methods,
// model, what each column becomes, what is known and what is searched, and what was said of the
// records that are there.
func (a *Answer) identify(name string, c *configs.Identify, said map[string]string) {
	line := a.fact
	line("method", "%s", c.Method.Join(", then "))
	if c.Model.Law != "" || len(c.Model.Terms) > 0 {
		line("model", "%s", modelText(&c.Model))
	}
	for _, d := range []struct {
		label string
		*configs.IdentifyData
	}{{"column", &c.Data}, {"loop column", c.Loop}} {
		if d.IdentifyData == nil {
			continue
		}
		for _, ch := range c.Channels(d.IdentifyData) {
			if ch.Column.Name == "" {
				continue
			}
			scale, shift, _ := ch.Column.Factors(ch.SI) // checked by the loader
			text := fmt.Sprintf("%s = %s", ch.Key, ch.Column.Name)
			if scale != 1 {
				text += fmt.Sprintf(" · %.6g", scale)
			}
			if shift != 0 {
				text += fmt.Sprintf(" %+.6g", shift)
			}
			if ch.SI != "1" {
				text += " " + ch.SI
			}
			line(d.label, "%s", text)
		}
	}
	for i := range c.Parameters {
		line("parameter", "%s", c.Parameters[i].Text(c.ParameterUnit(c.Parameters[i].Name)))
	}
	for _, v := range c.Compare {
		line("compared", "%s", v.Name)
	}
	missing := 0
	for _, path := range c.Files() {
		if text, there := said[path]; there {
			line("record", "%s %s", path, text)
		} else {
			line("record", "%s is not there", path)
			missing++
		}
	}
	if missing > 0 && c.Data.Source != "" {
		line("", "%s", report.AsStarted(identify.FromWhere(c, &c.Data)))
	}
	verb := "identify"
	if len(c.Compare) > 0 {
		verb = "compare"
	}
	if a.then(verb, name); missing > 0 {
		a.Next += "      once the records are there"
	}
}

// modelText is a model in a line.
func modelText(m *configs.IdentifyModel) string {
	var parts []string
	if m.Law != "" {
		law := m.Law
		if m.Asymmetric {
			law += " by direction"
		}
		parts = append(parts, law)
	}
	parts = append(parts, m.Terms...)
	drive := [...]string{
		axis.Force: "under the recorded force", axis.Spring: "drawn over a spring by the reference", axis.Coast: "without a drive",
		axis.Servo: "in its controller, on the reference",
	}[m.Drive]
	return fmt.Sprintf("%s, %s, %s compared", strings.Join(parts, " and "), drive, m.Output)
}

// ballFit says what the identification of a ball asks for.
func (a *Answer) ballFit(name string, c *configs.BallFit) error {
	a.fact("searched", "%s", strings.Join(c.FreeParameters, ", "))
	a.fact("markers", "%d", len(c.Markers))
	a.files("recording", c.Data.File)
	a.then("identify", name)
	return nil
}

// machineFit says what the identification of a machine asks for.
func (a *Answer) machineFit(name string, c *configs.MachineFit) error {
	a.fact("machine", "%s", c.Machine)
	a.names("joints", len(c.Data.Joints), func(i int) string { return c.Data.Joints[i].Name })
	a.files("record", append(c.Data.Files(), c.Validate...)...)
	a.then("identify", name)
	return nil
}

// responseFit says what the identification of a machine by its response asks for.
func (a *Answer) responseFit(name string, c *configs.ResponseFit) error {
	a.fact("machine", "%s", c.Machine)
	a.names("inputs", len(c.Inputs), func(i int) string { return c.Inputs[i].Path })
	a.names("outputs", len(c.Outputs), func(i int) string { return c.Outputs[i].Name })
	a.names("searched", len(c.Parameters), func(i int) string { return c.Parameters[i].Name })
	a.names("beginnings", len(c.InitialJoints), func(i int) string { return c.InitialJoints[i] })
	a.files("record", append(c.Data.Files(), c.Validate...)...)
	a.then("identify", name)
	return nil
}

// names lists n things, if there are any.
func (a *Answer) names(label string, n int, name func(i int) string) {
	var list []string
	for i := range n {
		list = append(list, name(i))
	}
	if n > 0 {
		a.fact(label, "%s", strings.Join(list, ", "))
	}
}

// files says which records are there.
func (a *Answer) files(label string, files ...string) {
	for _, file := range files {
		there := ""
		if _, err := os.Stat(file); err != nil {
			there = " is not there"
		}
		a.fact(label, "%s%s", file, there)
	}
}
