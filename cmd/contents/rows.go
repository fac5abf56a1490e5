package contents

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/sink"
	"hilrig/identify/record"
)

// column is a signal of a recording, or a column of a table.
type column struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// runContents is what a recording of hil run holds.
type runContents struct {
	File     string         `json:"file"`
	Format   string         `json:"format"`
	Run      string         `json:"run"`
	Rig      string         `json:"rig"`
	Version  string         `json:"version"`
	Start    time.Time      `json:"start"`
	Rate     float64        `json:"rate_hz"`
	Rows     int            `json:"rows"`
	Duration float64        `json:"duration_s"`
	Modes    map[string]int `json:"rows_by_mode"`
	Signals  []column       `json:"signals"`
	Doubts   []string       `json:"doubts"`
}

// showRun shows a recording of hil run.
func showRun(path string, asJSON bool, w io.Writer) error {
	run, err := sink.OpenRun(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return report.ExitWith(report.Unavailable, err)
	case err != nil:
		return report.ExitWith(report.Invalid, err)
	}
	defer run.Close()
	s := &run.Info.Schema
	d := runContents{File: run.Path, Format: "recording of hil run", Run: run.Info.Run, Rig: s.Rig, Version: run.Info.Version,
		Start: run.Info.Start, Rate: s.Rate,
		Modes: map[string]int{}, Signals: []column{}, Doubts: []string{}}
	for _, sig := range run.Samples(sink.SampleOptions{}).Signals() {
		d.Signals = append(d.Signals, column{sig.Name, sig.Unit})
	}
	var row hil.Row
	first, last := int64(0), int64(0)
	it := run.Iter()
	for it.Next(&row) {
		if d.Rows == 0 {
			first = row.T
		}
		last = row.T
		d.Rows++
		d.Modes[row.Mode.String()]++
	}
	if err := it.Err(); err != nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("%s: %w", run.Path, err))
	}
	d.Duration = float64(last-first) * 1e-9
	if cut, lost := run.Truncated(); cut {
		d.Doubts = append(d.Doubts, lost)
	}
	for _, p := range run.Problems() {
		d.Doubts = append(d.Doubts, p.String())
	}
	if asJSON {
		return report.EncodeJSON(w, d)
	}
	fmt.Fprintf(w, "%s: %s of %s on rig %s, version %s\n", d.File, d.Format, d.Start.UTC().Format(time.RFC3339), d.Rig, d.Version)
	fmt.Fprintf(w, "%d rows at %.6g Hz, %.6g s\n", d.Rows, d.Rate, d.Duration)
	for _, mode := range slices.Sorted(maps.Keys(d.Modes)) {
		fmt.Fprintf(w, "  %d in mode %s\n", d.Modes[mode], mode)
	}
	printColumns(w, d.Signals)
	for _, x := range d.Doubts {
		fmt.Fprintf(w, "warning: %s\n", x)
	}
	next := "next: "
	owners := run.Info.Schema.Owners
	// of a rig without an axis there is nothing to fit
	if len(owners) == 0 || slices.ContainsFunc(owners, func(o hil.Owner) bool { return o.Kind == hil.AxisOwner }) {
		next += "hil identify " + path + ", "
	}
	fmt.Fprintln(w, report.AsStarted(next+"hil export "+path+" -o out.csv"))
	return nil
}

// numbersContents is what a table of numbers holds.
type numbersContents struct {
	File     string   `json:"file"`
	Format   string   `json:"format"`
	Columns  []column `json:"columns"`
	FirstRow []string `json:"first_row"`
}

// showNumbers shows the columns of a table, or the variables of a MAT file.
func showNumbers(path string, asJSON bool, w io.Writer) error {
	h, err := record.ReadHeader(path)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	d := numbersContents{File: path, Format: "columns of numbers", Columns: []column{}, FirstRow: h.FirstRow}
	for i, name := range h.Names {
		c := column{Name: name}
		if i < len(h.Units) {
			c.Unit = h.Units[i]
		}
		d.Columns = append(d.Columns, c)
	}
	if asJSON {
		return report.EncodeJSON(w, d)
	}
	fmt.Fprintf(w, "%s: %s; no path of a marker and no pose of a body among them\n", path, d.Format)
	printColumns(w, d.Columns)
	fmt.Fprintln(w, report.AsStarted("next: hil identify "+path+" says what it takes to fit them"))
	return nil
}

func printColumns(w io.Writer, columns []column) {
	fmt.Fprintf(w, "%d columns\n", len(columns))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range columns {
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, c.Unit)
	}
	t.Flush()
}
