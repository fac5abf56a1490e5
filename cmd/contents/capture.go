package contents

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/report"
	"hilrig/engine/numeric"
	"hilrig/identify/capture"
	"hilrig/identify/record"
)

// description is what a motion-capture recording holds.
type description struct {
	File       string           `json:"file"`
	SHA256     string           `json:"sha256"`
	Format     capture.Format   `json:"format"`
	Unit       string           `json:"unit"` // of lengths in the file
	Rate       float64          `json:"rate_hz"`
	Frames     int              `json:"frames"`
	FirstFrame int              `json:"first_frame"`
	Start      float64          `json:"start_s"`
	Duration   float64          `json:"duration_s"`
	Markers    []point          `json:"markers"`
	Bodies     []point          `json:"bodies"`
	Groups     []group          `json:"groups"`
	Analog     []channel        `json:"analog"`
	Events     []event          `json:"events"`
	Findings   []record.Finding `json:"findings"`
}

// point is a marker or body.
type point struct {
	Name       string      `json:"name"`
	FramesSeen int         `json:"frames_seen"`
	Gaps       int         `json:"gaps"`
	Longest    float64     `json:"longest_gap_s"`
	Min        *[3]float64 `json:"low_m"` // null: never seen, or without position
	Max        *[3]float64 `json:"high_m"`
}

type group struct {
	Markers []string `json:"markers"`
	Size    float64  `json:"size_m"`
	Scatter float64  `json:"scatter_m"`
	Travel  float64  `json:"travel_m"`
}

type channel struct {
	Name         string   `json:"name"`
	Unit         string   `json:"unit"`
	Rate         float64  `json:"rate_hz"`
	Samples      int      `json:"samples"`
	MissingCount int      `json:"missing"`
	Min          *float64 `json:"low"`
	Max          *float64 `json:"high"`
}

type event struct {
	Name string  `json:"name"`
	Time float64 `json:"time_s"`
}

// describe looks at a recording.
func describe(c *capture.Capture, known capture.Known) *description {
	d := &description{File: c.File, SHA256: c.SHA256, Format: c.Format, Unit: c.Unit, Rate: c.Rate, Frames: len(c.Time),
		FirstFrame: c.Frame[0],
		Start:      c.Time[0], Duration: c.Duration(), Markers: []point{}, Bodies: []point{}, Groups: []group{}, Analog: []channel{},
		Events: []event{}, Findings: []record.Finding{}}
	for _, m := range c.Markers {
		d.Markers = append(d.Markers, describePoint(c, m.Name, m.Path, m.Visible))
	}
	for _, b := range c.Bodies {
		d.Bodies = append(d.Bodies, describePoint(c, b.Name, b.Position, b.Visible))
	}
	for _, g := range capture.Groups(c) {
		out := group{Size: g.Size, Scatter: g.Scatter, Travel: g.Travel}
		for _, i := range g.Markers {
			out.Markers = append(out.Markers, c.Markers[i].Name)
		}
		d.Groups = append(d.Groups, out)
	}
	for _, a := range c.Analog {
		there := numeric.OnlyFinite(a.Samples...)
		ch := channel{Name: a.Name, Unit: a.Unit, Rate: a.Rate, Samples: len(a.Samples), MissingCount: len(a.Samples) - len(there)}
		if len(there) > 0 {
			low, high := there[0], there[0]
			for _, x := range there {
				low, high = min(low, x), max(high, x)
			}
			ch.Min, ch.Max = &low, &high
		}
		d.Analog = append(d.Analog, ch)
	}
	for _, e := range c.Events {
		d.Events = append(d.Events, event(e))
	}
	d.Findings = append(append(d.Findings, c.Findings...), capture.Check(c, known)...)
	return d
}

func describePoint(c *capture.Capture, name string, path []r3.Vec, visible []bool) point {
	p := point{Name: name, FramesSeen: capture.VisibleCount(visible)}
	for _, g := range capture.Gaps(visible) {
		p.Gaps++
		end := c.Time[len(c.Time)-1] + 1/c.Rate
		if g.To < len(c.Time) {
			end = c.Time[g.To]
		}
		p.Longest = math.Max(p.Longest, end-c.Time[g.From])
	}
	if path == nil {
		return p
	}
	if lo, hi, ok := capture.Extent([]capture.Marker{{Path: path, Visible: visible}}); ok {
		p.Min, p.Max = &[3]float64{lo.X, lo.Y, lo.Z}, &[3]float64{hi.X, hi.Y, hi.Z}
	}
	return p
}

// print writes the description for people.
func (d *description) print(w io.Writer) {
	unit := "lengths in " + d.Unit
	if d.Unit == "" {
		unit = "no unit of length named"
	}
	fmt.Fprintf(w, "%s: %s, %d frames at %.6g Hz, %.6g s from frame %d, %s\n", d.File, d.Format, d.Frames, d.Rate, d.Duration, d.FirstFrame,
		unit)
	d.printPoints(w, "markers", d.Markers)
	d.printPoints(w, "bodies", d.Bodies)
	for _, g := range d.Groups {
		moves := fmt.Sprintf("move over %.4g m", g.Travel)
		if g.Travel == 0 {
			moves = "rest"
		}
		fmt.Fprintf(w, "\none body: %s\n  %d markers, up to %.4g mm apart, distances kept within %.2g mm, %s\n", strings.Join(g.Markers, ", "),
			len(g.Markers), 1e3*g.Size, 1e3*g.Scatter, moves)
	}
	if len(d.Analog) > 0 {
		fmt.Fprintf(w, "\n%d analog channels\n", len(d.Analog))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  channel\tunit\trate, Hz\tsamples\tmissing\tfrom\tto")
		for _, a := range d.Analog {
			fmt.Fprintf(t, "  %s\t%s\t%.6g\t%d\t%d\t%s\t%s\n", a.Name, a.Unit, a.Rate, a.Samples, a.MissingCount, report.OrDash("%.5g", a.Min),
				report.OrDash("%.5g", a.Max))
		}
		t.Flush()
	}
	for _, e := range d.Events {
		fmt.Fprintf(w, "event %s at %.6g s\n", e.Name, e.Time)
	}
	if len(d.Findings) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s: %s\n", f.Severity, f.Text)
		if f.Advice != "" {
			fmt.Fprintf(w, "  %s\n", report.AsStarted(f.Advice))
		}
	}
}

// printPoints writes a table of markers or bodies: how often they were seen, and the box in which, in mm.
func (d *description) printPoints(w io.Writer, title string, points []point) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d %s\n", len(points), title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  name\tseen in\tgaps\tlongest, s\tx, mm\ty, mm\tz, mm")
	for _, p := range points {
		fmt.Fprintf(t, "  %s\t%d\t%d\t%.4g", p.Name, p.FramesSeen, p.Gaps, p.Longest)
		for i := range 3 {
			if p.Min == nil {
				fmt.Fprint(t, "\t–")
			} else {
				fmt.Fprintf(t, "\t%.1f … %.1f", 1e3*p.Min[i], 1e3*p.Max[i])
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
