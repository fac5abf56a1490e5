package check

import (
	"fmt"
	"io"
	"os"
	"strings"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/identify/axis"
)

// describeIdentify says what an identification file asks for, as far as it can be known without reading a whole record: methods,
// model, what each column becomes, what is known and what is searched, and what was said of the
// records that are there.
func describeIdentify(w io.Writer, name string, c *configs.Identify, said map[string]string) {
	line := func(lead, format string, args ...any) {
		fmt.Fprintf(w, "%-14s %s\n", lead, fmt.Sprintf(format, args...))
	}
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
	next := "hil " + verb + " " + name
	if missing > 0 {
		next += "      once the records are there"
	}
	fmt.Fprintf(w, "next: %s\n", report.AsStarted(next))
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

// describeBall says what the identification of a ball asks for.
func describeBall(w io.Writer, name string, c *configs.BallFit) {
	fmt.Fprintf(w, "%-14s %s\n%-14s %d\n", "searched", strings.Join(c.FreeParameters, ", "), "markers", len(c.Markers))
	there := ""
	if _, err := os.Stat(c.Data.File); err != nil {
		there = " is not there"
	}
	fmt.Fprintf(w, "%-14s %s%s\nnext: %s\n", "recording", c.Data.File, there, report.AsStarted("hil identify "+name))
}

// describeMachineFit says what the identification of a machine asks for.
func describeMachineFit(w io.Writer, name string, c *configs.MachineFit) {
	var joints []string
	for _, j := range c.Data.Joints {
		joints = append(joints, j.Name)
	}
	fmt.Fprintf(w, "%-14s %s\n%-14s %s\n", "machine", c.Machine, "joints", strings.Join(joints, ", "))
	describeFiles(w, append(c.Data.Files(), c.Validate...))
	fmt.Fprintf(w, "next: %s\n", report.AsStarted("hil identify "+name))
}

// describeResponse says what the identification of a machine by its response asks for.
func describeResponse(w io.Writer, name string, c *configs.ResponseFit) {
	row := func(what string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(w, "%-14s %s\n", what, strings.Join(names, ", "))
		}
	}
	var in, out, searched []string
	for _, i := range c.Inputs {
		in = append(in, i.Path)
	}
	for _, o := range c.Outputs {
		out = append(out, o.Name)
	}
	for _, p := range c.Parameters {
		searched = append(searched, p.Name)
	}
	row("machine", []string{c.Machine})
	row("inputs", in)
	row("outputs", out)
	row("searched", searched)
	row("beginnings", c.InitialJoints)
	describeFiles(w, append(c.Data.Files(), c.Validate...))
	fmt.Fprintf(w, "next: %s\n", report.AsStarted("hil identify "+name))
}

// describeFiles says which records are there.
func describeFiles(w io.Writer, files []string) {
	for _, file := range files {
		there := ""
		if _, err := os.Stat(file); err != nil {
			there = " is not there"
		}
		fmt.Fprintf(w, "%-14s %s%s\n", "record", file, there)
	}
}
