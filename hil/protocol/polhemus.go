package protocol

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"hilrig/engine"
	"hilrig/hil/wire/tracker"
)

// PolhemusUnit is that of positions on the line.
type PolhemusUnit uint8

const (
	Inches PolhemusUnit = iota
	Centimetres
)

// Words are the names of the units.
func (PolhemusUnit) Words() []string { return []string{"inch", "cm"} }

func (u PolhemusUnit) metres() float64 { return [...]float64{0.0254, 0.01}[u] }

// Polhemus is the section of a LIBERTY, LATUS, PATRIOT or FASTRAK.
type Polhemus struct {
	Stations []Part       `yaml:"stations" doc:"the stations, each with a name and its number: [{name: hand, number: 1}]; a measurement is called hand.x. Left out: station 1, whose measurements are called x, y, …"`
	Items    []int        `yaml:"items" doc:"what a record holds: the list of the command O of the device"`
	Unit     PolhemusUnit `yaml:"unit" doc:"of positions on the line"`
	Start    bool         `yaml:"start" doc:"the device is told its items, its unit, to send binary records, and to send by itself; no: nothing is ever sent"`
}

func (p *Polhemus) check(bytes func(int) int, known string) []engine.Problem {
	bad := checkParts("stations", p.Stations)
	for i, it := range p.Items {
		if bytes(it) == 0 {
			bad = append(bad, *engine.Problemf(fmt.Sprintf("items[%d]", i), "%d is no item; want some of %s", it, known))
		}
	}
	if len(p.Items) == 0 {
		bad = append(bad, *engine.Problemf("items", "empty: nothing would be sent"))
	}
	return bad
}

// plan is the start, and then what the device sends: records of n bytes.
func (p *Polhemus) plan(t *Table, kind, start string, d tracker.Decoder, n int, write func([]byte, *tracker.Frame) []byte) (*Plan, error) {
	list, bad := slots(t, kind, p.Stations, 1)
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	plan := streaming(t, d, list, p.Stations, n)
	if p.Start {
		plan.Turns = []Turn{startTurn(plan, "start of the records", []byte(start), n, 1)}
		plan.Decoder.(*samples).ends = func(turn int, f *tracker.Frame) end {
			if turn >= 0 && f.Role == tracker.Data { // nothing else answers
				return answered
			}
			return notYet
		}
	}
	plan.FarEnd = func() Far {
		on := new(atomic.Bool)
		on.Store(!p.Start)
		e := &poses{slots: list, parts: numbers(p.Stations, 1), write: write, max: 300 * max(1, len(p.Stations)), running: on}
		return Far{Encoder: e, Decoder: &deaf{hear: func(b byte) {
			if b == 'C' {
				on.Store(true)
			}
		}}, Restart: func() []byte { on.Store(false); return nil }}
	}
	return plan, nil
}

// Liberty is the section of LIBERTY, LATUS and PATRIOT.
type Liberty Polhemus

// SetDefaults are count, time, position and quaternion.
func (l *Liberty) SetDefaults() { *l = Liberty{Items: []int{9, 8, 2, 7}, Start: true} }

func (s *Sections) polhemus() *Liberty {
	if s.Polhemus == nil {
		s.Polhemus = new(Liberty)
		s.Polhemus.SetDefaults()
	}
	return s.Polhemus
}

// Check finds items that do not exist, and stations that contradict each other.
func (l *Liberty) Check() []engine.Problem {
	return (*Polhemus)(l).check(func(i int) int { return tracker.Item(i).Bytes() }, "0 to 11")
}

// Plan is the start, and then the records.
func (l *Liberty) Plan(t *Table) (*Plan, error) {
	items, n, words, clocked := make([]tracker.Item, len(l.Items)), 8, []string{"O*"}, false
	for i, it := range l.Items {
		items[i] = tracker.Item(it)
		n += items[i].Bytes()
		words = append(words, fmt.Sprint(it))
		clocked = clocked || items[i] == tracker.ItemTime
	}
	d := tracker.NewPolhemus(items)
	d.Length = l.Unit.metres()
	start := fmt.Sprintf("%s\rU%d\rF1\rC\r", strings.Join(words, ","), l.Unit)
	e := &tracker.PolhemusEncoder{Head: "LY", Items: items, Length: d.Length}
	p, err := (*Polhemus)(l).plan(t, "polhemus", start, d, n, e.Append)
	if err == nil {
		p.Clocked = clocked
	}
	return p, err
}

// Fastrak is the section of FASTRAK.
type Fastrak Polhemus

// SetDefaults are position, quaternion and CR LF.
func (f *Fastrak) SetDefaults() { *f = Fastrak{Items: []int{2, 11, 1}, Start: true} }

func (s *Sections) fastrak() *Fastrak {
	if s.Fastrak == nil {
		s.Fastrak = new(Fastrak)
		s.Fastrak.SetDefaults()
	}
	return s.Fastrak
}

// Check finds items that are not spoken, and stations that contradict each other.
func (f *Fastrak) Check() []engine.Problem {
	return (*Polhemus)(f).check(func(i int) int { return tracker.FastrakItem(i).Bytes() }, "0, 1, 2, 3, 4, 11")
}

// Plan is the start, and then the records.
func (f *Fastrak) Plan(t *Table) (*Plan, error) {
	items, n, list := make([]tracker.FastrakItem, len(f.Items)), 3, ""
	for i, it := range f.Items {
		items[i] = tracker.FastrakItem(it)
		n += items[i].Bytes()
		list += fmt.Sprintf(",%d", it)
	}
	start := ""
	for _, number := range numbers(f.Stations, 1) {
		start += fmt.Sprintf("O%d%s\r", number, list)
	}
	d := tracker.NewFastrak(items)
	d.Length = f.Unit.metres()
	e := &tracker.FastrakEncoder{Items: items, Length: d.Length}
	return (*Polhemus)(f).plan(t, "fastrak", start+[...]string{"U", "u"}[f.Unit]+"fC", d, n, e.Append)
}
