package record

import (
	"fmt"
	"math"
)

// minFragment is the least number of samples of a stretch between two gaps; shorter ones are left out.
const minFragment = 20

// piece turns the rows lo … hi of a table, which belong together, into records: one, or several where gaps are cut out.
// lost says what was left out.
func (t *Table) piece(m *Mapping, at map[string]int, lo, hi int) (out []*Record, lost []string, err error) {
	name := t.label(m, at, lo)
	of := ""
	if name != "" {
		of = " in piece " + name
	}

	// recorded time, then the part that is wanted
	s := make([]float64, hi-lo)
	if m.Time.Name == "" {
		for k := range s {
			s[k] = float64(k) / m.Rate
		}
	} else {
		col := t.Columns[at[m.Time.Name]]
		for k := range s {
			s[k] = m.Time.si(col[lo+k])
		}
	}
	if m.Span != [2]float64{} {
		a, b := within(s, m.Span)
		if b-a < 2 {
			if m.Piece != "" {
				return nil, []string{fmt.Sprintf("%s is left out: it has fewer than 2 samples from %g to %g s", name, m.Span[0], m.Span[1])}, nil
			}
			return nil, nil, t.fail(0, fmt.Sprintf("Time there runs from %.6g to %.6g s.", s[0], s[len(s)-1]),
				"%d samples from %g to %g s, want at least 2", max(b-a, 0), m.Span[0], m.Span[1])
		}
		s, lo, hi = s[a:b], lo+a, lo+b
	}
	if err := t.sound(m, at, lo, hi); err != nil {
		return nil, nil, err
	}
	if hi-lo < 2 {
		return nil, nil, t.fail(t.line(lo), fmt.Sprintf("Does column %s really change only between pieces?", m.Piece),
			"%d rows%s, want at least 2", hi-lo, of)
	}

	base := Record{File: t.File, SHA256: t.SHA256, Piece: name}
	if m.Time.Name == "" {
		d := base
		d.Dt, d.Start = 1/m.Rate, s[0]
		d.Clock = Clock{Median: d.Dt, Shortest: d.Dt, Longest: d.Dt}
		d.fill(t, m, at, lo, hi)
		d.saturation()
		return []*Record{&d}, nil, nil
	}
	stretches, err := t.stretches(m, s, lo)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range stretches {
		if len(stretches) > 1 && c[1]-c[0] < minFragment {
			lost = append(lost, fmt.Sprintf("%d samples between two gaps at %.6g s are left out%s", c[1]-c[0], s[c[0]], of))
			continue
		}
		d := base
		if len(stretches) > 1 {
			d.Piece = fmt.Sprintf("part %d", i+1)
			if name != "" {
				d.Piece = name + ", " + d.Piece
			}
		}
		if err := d.regular(t, m, at, s[c[0]:c[1]], lo+c[0]); err != nil {
			return nil, nil, err
		}
		d.saturation()
		out = append(out, &d)
	}
	return out, lost, nil
}

// within finds the samples of span, from the first to the last. An end of 0 after a later beginning is no end.
func within(s []float64, span [2]float64) (a, b int) {
	if span[1] == 0 && span[0] > 0 {
		span[1] = math.Inf(1)
	}
	a, b = len(s), 0
	for k, x := range s {
		if x >= span[0] && x <= span[1] {
			a, b = min(a, k), k+1
		}
	}
	return a, b
}

// sound checks that the wanted rows hold numbers only.
func (t *Table) sound(m *Mapping, at map[string]int, lo, hi int) error {
	for _, f := range t.flaws {
		if f.row >= lo && f.row < hi {
			return f.err
		}
	}
	for _, c := range append([]channel{{Column: m.Time}}, m.channels()...) {
		if c.Name == "" {
			continue
		}
		for k, x := range t.Columns[at[c.Name]][lo:hi] {
			if !(math.Abs(c.si(x)) < largest) { // not so for NaN
				return t.fail(t.line(lo+k), cutHint, "%g in column %s is not a usable number (%s)", x, c.Name, t.place(lo+k))
			}
		}
	}
	return nil
}

const cutHint = "Cut the record before or after it: a filter would spread it over its neighbours."

// fill copies the rows lo … hi of the channels, in SI.
func (d *Record) fill(t *Table, m *Mapping, at map[string]int, lo, hi int) {
	for _, c := range m.channels() {
		x := make([]float64, hi-lo)
		for k, y := range t.Columns[at[c.Name]][lo:hi] {
			x[k] = c.si(y)
		}
		*c.to(d) = x
	}
}
