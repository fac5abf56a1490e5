package reference

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"hilrig/engine/numeric"
)

// Table is a motion given by points, joined by cubics. Where velocities are given the cubics are Hermite's and pass
// through them; otherwise the slopes are those of the monotone interpolation [FB84] with the weighted harmonic mean, which
// adds no overshoot between the points. Position and velocity are continuous, acceleration is linear between the points.
// Before the first point and after the last one the motion rests there.
type Table struct {
	Offset float64   // rad, added to the positions
	t      []float64 // s, strictly increasing, from zero
	p      []float64 // rad
	v      []float64 // rad/s
	loop   bool
}

// NewTable joins the points (t in s, p in rad). v (rad/s) may be nil. t must increase; its first entry becomes time zero.
// With loop the motion starts again at the last point, which therefore must be the position of the first one.
func NewTable(t, p, v []float64, loop bool) (*Table, error) {
	n := len(t)
	if n < 2 {
		return nil, fmt.Errorf("%d points, want at least 2", n)
	}
	if len(p) != n || (v != nil && len(v) != n) {
		return nil, fmt.Errorf("%d times, %d positions, %d velocities: want as many of each", n, len(p), len(v))
	}
	tab := &Table{t: make([]float64, n), p: append([]float64(nil), p...), v: append([]float64(nil), v...), loop: loop}
	lo, hi := p[0], p[0]
	for i := range n {
		if !numeric.IsFinite(t[i]) || !numeric.IsFinite(p[i]) || (v != nil && !numeric.IsFinite(v[i])) {
			return nil, fmt.Errorf("point %d: not a finite number", i+1)
		}
		if i > 0 && t[i] <= t[i-1] {
			return nil, fmt.Errorf("point %d: time %g s after %g s, want increasing times", i+1, t[i], t[i-1])
		}
		tab.t[i] = t[i] - t[0]
		lo, hi = math.Min(lo, p[i]), math.Max(hi, p[i])
	}
	if loop && math.Abs(p[n-1]-p[0]) > 1e-6*(hi-lo) {
		return nil, fmt.Errorf("ends at %g but starts at %g: repeating it would jump; make the last position equal the first, or set "+
			"loop: false", p[n-1], p[0])
	}
	if v == nil {
		tab.v = slopes(tab.t, tab.p, loop)
	}
	return tab, nil
}

// At returns the motion at t (s).
func (tab *Table) At(t float64) (pos, vel, acc float64) {
	n := len(tab.t)
	end := tab.t[n-1]
	if tab.loop && t > 0 {
		t -= math.Floor(t/end) * end
	}
	switch {
	case t < 0 || (t == 0 && !tab.loop):
		return tab.Offset + tab.p[0], 0, 0
	case t >= end && !tab.loop:
		return tab.Offset + tab.p[n-1], 0, 0
	}

	// the interval that holds t, by bisection: the tick may jump in time
	lo, hi := 0, n-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; tab.t[mid] <= t {
			lo = mid
		} else {
			hi = mid
		}
	}

	// cubic from its end values and slopes: p0 + s(d0 + s(c2 + s·c3)), s from the left point
	h := tab.t[hi] - tab.t[lo]
	s := t - tab.t[lo]
	d0, d1 := tab.v[lo], tab.v[hi]
	mean := (tab.p[hi] - tab.p[lo]) / h
	c2 := (3*mean - 2*d0 - d1) / h
	c3 := (d0 + d1 - 2*mean) / (h * h)
	return tab.Offset + tab.p[lo] + s*(d0+s*(c2+s*c3)), d0 + s*(2*c2+3*s*c3), 2*c2 + 6*s*c3
}

// slopes are the velocities of the monotone interpolation: zero at a local extremum, elsewhere the harmonic mean of the
// neighbouring secants weighted by the interval lengths. The ends rest, unless the table repeats.
func slopes(t, p []float64, loop bool) []float64 {
	n := len(t)
	d := make([]float64, n)
	inner := func(hl, hr, sl, sr float64) float64 {
		if sl*sr <= 0 {
			return 0
		}
		wl, wr := 2*hr+hl, hr+2*hl
		return (wl + wr) / (wl/sl + wr/sr)
	}
	secant := func(i int) (h, s float64) { return t[i+1] - t[i], (p[i+1] - p[i]) / (t[i+1] - t[i]) }
	for i := 1; i < n-1; i++ {
		hl, sl := secant(i - 1)
		hr, sr := secant(i)
		d[i] = inner(hl, hr, sl, sr)
	}
	if loop {
		hl, sl := secant(n - 2)
		hr, sr := secant(0)
		d[0] = inner(hl, hr, sl, sr)
		d[n-1] = d[0]
	}
	return d
}

// LoadTable reads a CSV with a header that names time_s, position_rad (or position_m) and, if present, velocity_rad_s (or
// velocity_m_s). Lines that begin with # are skipped. Errors name the line.
func LoadTable(path string, loop bool) (*Table, error) {
	find := func(header []string, names ...string) int {
		return slices.IndexFunc(header, func(h string) bool { return slices.Contains(names, h) })
	}
	c, lines, err := ReadColumns(path, func(header []string) ([]int, error) {
		ct, cp, cv := find(header, "time_s"), find(header, "position_rad", "position_m"), find(header, "velocity_rad_s", "velocity_m_s")
		if ct < 0 || cp < 0 {
			return nil, fmt.Errorf("want columns time_s and position_rad (velocity_rad_s if known), found %s", strings.Join(header, ", "))
		}
		if cv < 0 {
			return []int{ct, cp}, nil
		}
		return []int{ct, cp, cv}, nil
	})
	if err != nil {
		return nil, err
	}
	t := c[0]
	for k := 1; k < len(t); k++ {
		if t[k] <= t[k-1] {
			return nil, fmt.Errorf("%s:%d: time goes from %g s to %g s, want increasing times", path, lines[k], t[k-1], t[k])
		}
	}
	var v []float64
	if len(c) > 2 {
		v = c[2]
	}
	tab, err := NewTable(t, c[1], v, loop)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tab, nil
}

// ReadColumns reads columns of finite numbers from a CSV with a header, and the lines that they stand in. choose gets the names of the
// header and says which columns are wanted, in which order. Lines that begin with # are skipped. Errors name the line.
func ReadColumns(path string, choose func(header []string) ([]int, error)) (columns [][]float64, lines []int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true

	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("%s: empty file", path)
	} else if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, h := range header {
		header[i] = strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))
	}
	at, err := choose(header)
	if err != nil {
		return nil, nil, fmt.Errorf("%s:1: %w", path, err)
	}
	columns = make([][]float64, len(at))
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return columns, lines, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		if len(rec) != len(header) {
			return nil, nil, fmt.Errorf("%s:%d: %d cells, the header has %d", path, line, len(rec), len(header))
		}
		lines = append(lines, line)
		for i, c := range at {
			x, err := strconv.ParseFloat(strings.TrimSpace(rec[c]), 64)
			if err != nil || !numeric.IsFinite(x) {
				return nil, nil, fmt.Errorf("%s:%d: %q in column %s is not a finite number", path, line, rec[c], header[c])
			}
			columns[i] = append(columns[i], x)
		}
	}
}
