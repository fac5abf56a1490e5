package simulate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
)

// shownEvents of every law are printed; --json has all.
const shownEvents = 12

// print writes the results for people: what ran, one column of numbers per law, events.
func (s *simulation) print(w io.Writer) {
	c := s.cfg
	if c.Name != "" {
		fmt.Fprintln(w, report.Titled(c.Name, c.Description))
	}
	fmt.Fprintf(w, "%s, %s in %d steps of %s, %s; rest is below %s\n\n", s.plantText(), report.WithUnit(c.Duration, "s"), s.steps(),
		report.WithUnit(c.Step, "s"), c.Scheme, report.WithUnit(s.watch.Threshold, c.Unit("m/s")))
	if texts := s.sensorTexts(); len(texts) > 0 {
		fmt.Fprintf(w, "the CSV is what sensors show, seed %d: %s; everything below is exact\n\n", c.Sensors.Seed, strings.Join(texts, "; "))
	}
	for i := range s.runs {
		s.printLaw(w, &s.runs[i])
	}
	fmt.Fprintln(w)
	s.printNumbers(w)
	for i := range s.runs {
		s.printEvents(w, &s.runs[i])
	}
}

func (s *simulation) plantText() string {
	c, p := s.cfg, s.cfg.Plant
	mass, spring := report.WithUnit(p.Mass, c.Unit("kg")), ""
	if p.Spring > 0 {
		spring = report.WithUnit(p.Spring, c.Unit("N/m"))
	}
	if p.Damper > 0 {
		spring = strings.TrimPrefix(spring+" and "+report.WithUnit(p.Damper, c.Unit("N·s/m")), " and ")
	}
	switch p.Kind {
	case experiment.DrawnMass:
		return mass + " drawn over " + spring
	case experiment.ControlledMass:
		k := c.Control
		text := fmt.Sprintf("%s under a %s controller, kp %s, ki %s, kd %s", mass, k.Quantity,
			report.WithUnit(k.Kp, c.ControlUnit("#kp")), report.WithUnit(k.Ki, c.ControlUnit("#ki")), report.WithUnit(k.Kd, c.ControlUnit("#kd")))
		if k.Period > 0 {
			text += ", sampled every " + report.WithUnit(k.Period, "s")
		}
		if spring != "" {
			text += ", on " + spring
		}
		return text
	case experiment.ImposedForce:
		if spring != "" {
			return mass + " on " + spring + " under the input"
		}
		return mass + " under the input"
	case experiment.MotorAxis:
		return fmt.Sprintf("motor, %s in all, under the input", report.WithUnit(p.Motor.J+p.LoadJ, "kg·m²"))
	}
	return strings.ReplaceAll(p.Kind.String(), "-", " ")
}

// printLaw names a law with its parameters and where they come from.
func (s *simulation) printLaw(w io.Writer, r *lawRun) {
	info, _ := friction.Find(r.law.Name)
	name := r.law.Label
	if name != r.law.Name {
		name += " = " + r.law.Name
	}
	fmt.Fprintf(w, "%s   %s %s [%s]\n", name, r.law.Title, info.Equations, info.Source)
	var file, public, preset []string
	for _, p := range r.law.Model.Params() {
		text := p.Name + " " + report.WithUnit(p.Value, s.cfg.Unit(p.Unit))
		switch origin(&r.law, p.Name) {
		case "file":
			file = append(file, text)
		case "public":
			public = append(public, text)
		case r.law.Preset.Name:
			preset = append(preset, text)
		}
	}
	for _, line := range []struct {
		heading string
		list    []string
	}{{"from the file", file}, {"public set", public}, {r.law.Preset.Name, preset}, {"left out, zero", r.law.Zero}} {
		if len(line.list) > 0 {
			fmt.Fprintf(w, "   %-15s %s\n", line.heading, strings.Join(line.list, ", "))
		}
	}
	if r.parts > 1 {
		fmt.Fprintf(w, "   %-15s every step in %d parts: the scheme takes %s at most\n", "divided", r.parts, report.WithUnit(r.limit, "s"))
	}
}

// SideBySide laws fit across a terminal.
const SideBySide = 6

// printNumbers writes the laws side by side, so many in a row that the lines do not wrap.
func (s *simulation) printNumbers(w io.Writer) {
	i := 0
	for part := range slices.Chunk(s.runs, SideBySide) {
		if i++; i > 1 {
			fmt.Fprintln(w)
		}
		s.printTable(w, part)
	}
}

// printTable writes a table with a column per law.
func (s *simulation) printTable(w io.Writer, runs []lawRun) {
	c := s.cfg
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.AlignRight)
	row := func(name, unit string, value func(r *lawRun) string) {
		fmt.Fprintf(t, "%-21s\t%s\t", name, unit)
		for i := range runs {
			fmt.Fprintf(t, "%s\t", value(&runs[i]))
		}
		fmt.Fprintln(t)
	}
	row("", "", func(r *lawRun) string { return r.law.Label })
	for _, k := range eventKinds {
		row(k.String()+"s", "", func(r *lawRun) string { n, _ := countEvents(r.trace.Events, k); return fmt.Sprint(n) })
	}
	row("first break-away", "s", func(r *lawRun) string {
		if n, at := countEvents(r.trace.Events, experiment.BreakAway); n > 0 {
			return fmt.Sprintf("%.4f", at)
		}
		return "–"
	})
	for _, n := range summaryNumbers {
		if n.name == "velocity_end" || strings.HasPrefix(n.name, "load") && c.Plant.Kind.Info().ImposesMotion {
			continue
		}
		title := strings.NewReplacer("_end", " at the end", "_", " ").Replace(n.name)
		row(title, c.Unit(n.unit), func(r *lawRun) string { return fmt.Sprintf("%.6g", report.Number(n.value(&r.trace.Summary))) })
	}
	row("evaluations per step", "", func(r *lawRun) string {
		m := r.trace.Summary
		return fmt.Sprintf("%.2f", float64(m.Evals)/float64(max(m.Steps, 1)))
	})
	row("steps not converged", "", func(r *lawRun) string { return fmt.Sprint(r.trace.Summary.NotConverged) })
	t.Flush()
}

// printEvents lists the first events of a law.
func (s *simulation) printEvents(w io.Writer, r *lawRun) {
	events := r.trace.Events
	fmt.Fprintf(w, "\nevents of %s", r.law.Label)
	if len(events) == 0 {
		fmt.Fprintln(w, ": none")
		return
	}
	fmt.Fprintln(w)
	for i, e := range events {
		if i == shownEvents {
			fmt.Fprintf(w, "   … and %d more, in --json\n", len(events)-i)
			break
		}
		way := "forward"
		if e.Dir < 0 {
			way = "backward"
		}
		force := "friction"
		if e.Kind == experiment.BreakAway {
			force = "after a friction of"
		}
		fmt.Fprintf(w, "   %10.4f s   %-10s %-8s at %s, %s %s\n", e.T, e.Kind, way, prefixed(e.X, s.cfg.Unit("m")), force,
			prefixed(e.F, s.cfg.Unit("N")))
	}
}

// prefixed prints a number with its unit and an SI prefix where the number is small.
func prefixed(x float64, unit string) string {
	if math.Abs(x) < 1e-7 {
		return report.Prefixed(x, 3, unit)
	}
	factor, prefix := prefixOf(math.Abs(x))
	return fmt.Sprintf("%.4g %s%s", report.Number(factor*x), prefix, unit)
}

// prefixOf is the SI prefix that suits a size, with the factor that belongs to it: none, m or µ.
func prefixOf(size float64) (factor float64, prefix string) {
	switch {
	case size >= 0.1:
		return 1, ""
	case size >= 1e-4:
		return 1e3, "m"
	}
	return 1e6, "µ"
}
