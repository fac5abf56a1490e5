package simulate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/spelling"
	"hilrig/identify"
)

// lawJSON describes a law to programs.
type lawJSON struct {
	Name       string           `json:"name"`
	Title      string           `json:"title"`
	Equations  string           `json:"equations,omitempty"` // their numbers in the source
	Text       string           `json:"text"`                // equations and departures from the source, for people
	Source     string           `json:"source"`
	Input      string           `json:"input"` // velocity or force
	Parameters []paramJSON      `json:"parameters"`
	States     []signalJSON     `json:"states"`
	Presets    []presetJSON     `json:"presets,omitempty"`
	Identify   identify.Chain   `json:"identified_by"` // methods of hil identify that find its parameters
	Phenomena  []phenomenonJSON `json:"phenomena,omitempty"`
}

type presetJSON struct {
	Name   string            `json:"name"`
	Title  string            `json:"title"`
	Source string            `json:"source"`
	Values []presetValueJSON `json:"values"`
}

type presetValueJSON struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	Spread float64 `json:"spread"` // 0: none is published
}

type paramJSON struct {
	Name       string  `json:"name"`
	Unit       string  `json:"unit"`
	RotaryUnit string  `json:"rotary_unit"`
	Default    float64 `json:"default"`
	Min        float64 `json:"min"`
	Max        float64 `json:"max"`
	Doc        string  `json:"doc"`
}

type signalJSON struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

type phenomenonJSON struct {
	Key       string   `json:"key"`
	Title     string   `json:"title"`
	Criterion string   `json:"criterion"`
	Shown     bool     `json:"shown"`
	Value     *float64 `json:"value"` // null: infinite or not measured
}

func describeLaw(info friction.Info) lawJSON {
	law := info.NewLaw()
	d := lawJSON{Name: info.Name, Title: info.Title, Equations: info.Equations, Text: info.Text(), Source: info.Source, Input: "velocity",
		States: []signalJSON{}, Identify: identify.MethodsFor(info.Name)}
	if info.Force {
		d.Input = "force"
	}
	for _, p := range law.Params() {
		d.Parameters = append(d.Parameters, paramJSON{p.Name, p.Unit, engine.RotaryUnit(p.Unit), p.Value, p.Lo, p.Hi, p.Doc})
	}
	for _, s := range friction.Telling(law) {
		d.States = append(d.States, signalJSON{s.Name, s.Unit})
	}
	if n := law.StateDim() - len(d.States); n > 0 {
		d.States = append(d.States, signalJSON{fmt.Sprintf("delay line of %d numbers", n), ""})
	}
	for _, p := range info.Presets {
		q := presetJSON{Name: p.Name, Title: p.Title, Source: p.Source}
		for _, v := range p.Values {
			i := slices.IndexFunc(d.Parameters, func(p paramJSON) bool { return p.Name == v.Name })
			q.Values = append(q.Values, presetValueJSON{v.Name, d.Parameters[i].Unit, v.Value, v.Spread})
		}
		d.Presets = append(d.Presets, q)
	}
	return d
}

// text is the numbers of a preset for people.
func (p presetJSON) text() string {
	var parts []string
	for _, v := range p.Values {
		t := v.Name + " = " + report.PlusMinus(v.Value, v.Spread)
		parts = append(parts, strings.TrimSpace(t+" "+v.Unit))
	}
	return strings.Join(parts, ", ")
}

// PrintLaws lists all friction laws.
func PrintLaws(w io.Writer, asJSON bool) error {
	if asJSON {
		var all []lawJSON
		for _, info := range friction.Laws() {
			all = append(all, describeLaw(info))
		}
		return report.EncodeJSON(w, all)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tLAW\tEQUATIONS\tIDENTIFIED BY\tPARAMETERS")
	for _, info := range friction.Laws() {
		var names []string
		for _, p := range info.NewLaw().Params() {
			names = append(names, p.Name)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", info.Name, info.Title, info.Equations, identify.MethodsFor(info.Name).Join(" "),
			strings.Join(names, " "))
	}
	tw.Flush()
	fmt.Fprintln(w, sources)
	fmt.Fprintln(w, report.AsStarted("next: hil laws lugre; hil scenario all --law lugre,gms"))
	return nil
}

// sources says what the keys in brackets mean, to somebody who has the program alone.
const sources = "\nsources: [MOGI] is http://mogi.bme.hu/TAMOP/robotalkalmazasok/ch06.html; docs/reference/references.md has the other keys"

func printLaw(ctx context.Context, w io.Writer, info friction.Info, asJSON bool) error {
	d := describeLaw(info)
	shows, err := experiment.Phenomena(ctx, experiment.Subject{Name: info.Name, Label: info.Title, Law: info.NewLaw(), Force: info.Force})
	if err != nil {
		if ctx.Err() != nil {
			return report.ExitWith(report.Interrupted, nil)
		}
		return err
	}
	for _, p := range shows {
		d.Phenomena = append(d.Phenomena, phenomenonJSON{Key: p.Key, Title: p.Title, Criterion: p.Criterion, Shown: p.Present,
			Value: numeric.OrNull(p.Value)})
	}
	if asJSON {
		return report.EncodeJSON(w, d)
	}
	fmt.Fprintf(w, "%s: %s, %s, [%s], input: %s\n%s\n\n", d.Name, d.Title, d.Equations, d.Source, d.Input, strings.TrimSpace(sources))
	fmt.Fprintf(w, "%s\n\n", d.Text)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "PARAMETER\tDEFAULT\tUNIT\tON A ROTARY AXIS\tRANGE\t")
	for _, p := range d.Parameters {
		fmt.Fprintf(tw, "%s\t%g\t%s\t%s\t%g to %g\t%s\n", p.Name, report.Number(p.Default), p.Unit, p.RotaryUnit,
			report.Number(p.Min), report.Number(p.Max), p.Doc)
	}
	tw.Flush()
	for i, p := range d.Presets {
		if i == 0 {
			fmt.Fprintln(w)
			fmt.Fprintln(tw, "PRESET\tVALUES\tOF\tSOURCE")
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t[%s]\n", p.Name, p.text(), p.Title, p.Source)
	}
	tw.Flush()
	if len(d.States) > 0 {
		fmt.Fprintln(w)
		fmt.Fprintln(tw, "STATE\tUNIT")
		for _, s := range d.States {
			fmt.Fprintf(tw, "%s\t%s\n", s.Name, s.Unit)
		}
		tw.Flush()
	}
	fmt.Fprintf(w, "\nidentified by: %s (hil identify, method)\n\n", d.Identify.Join(", "))
	fmt.Fprintln(tw, "SHOWS\t\tMEASURED\tCRITERION")
	for _, p := range d.Phenomena {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", p.Title, yes(p.Shown), report.OrDash("%.4g", p.Value), p.Criterion)
	}
	tw.Flush()
	return nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// LawNames are the names of all laws.
func LawNames() []string { return configs.LawNames() }

// LawChoices are what may be given for a law: names, and names with a preset.
func LawChoices() []string { return configs.LawChoices() }

// PrintLaw prints the law of that name.
func PrintLaw(ctx context.Context, out io.Writer, name string, asJSON bool) error {
	law, ok := friction.Find(name)
	if !ok {
		return report.Exitf(report.Usage, "laws: %q is unknown%s; hil laws lists them", name, spelling.DidYouMean(name, LawNames()))
	}
	return printLaw(ctx, out, law, asJSON)
}

// LawsHelp is the help of hil laws.
const LawsHelp = `Without NAME lists every friction law. With NAME prints its parameters with unit, range and default, its states, and the
phenomena it shows with the default parameters: these are found by putting the law through experiments, now.`
