package plant

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
)

// Machine is a plant that somebody may interfere with while it runs.
type Machine interface {
	engine.System
	NewState() []float64
	Settings() []engine.Signal                       // what Set knows, in the order of its numbers
	Set(k int, x []float64, v float64) (was float64) // between steps
}

// Settings are those of a plant with these axes: the supply of all drives, and load and temperature of each axis.
func Settings(linear bool, axes ...string) []engine.Signal {
	load := "N·m"
	if linear {
		load = "N"
	}
	all := []engine.Signal{{Name: "supply", Unit: "V"}}
	for _, a := range axes {
		all = append(all, engine.Signal{Name: a + ".load", Unit: load}, engine.Signal{Name: a + ".temperature", Unit: "degC"})
	}
	return all
}

// Supplied is a supply (V) whose upper edge has become v; the lower one keeps its proportion.
func Supplied(nominal [2]float64, v float64) [2]float64 {
	if math.IsInf(nominal[1], 1) {
		return [2]float64{-v, v}
	}
	return [2]float64{nominal[0] * v / nominal[1], v}
}

// Settings are the supply, and load and temperature of each axis.
func (p *Plant) Settings() []engine.Signal {
	var names []string
	for _, a := range p.axes {
		names = append(names, a.s.Name)
	}
	return Settings(p.axes[0].s.Linear, names...)
}

// Set changes a setting and returns what it was.
func (p *Plant) Set(k int, x []float64, v float64) (was float64) {
	if k == 0 {
		was = p.axes[0].supply[1]
		for _, a := range p.axes {
			a.supply = Supplied(a.s.Supply, v)
		}
		return was
	}
	at := &p.axes[(k-1)/2].s.LoadTorque
	if k%2 == 0 {
		at = &x[p.stateOffsets[(k-1)/2]+Temperature-Current]
	}
	was, *at = *at, v
	return was
}

// Event is something that a script does to a plant or to its sensors.
type Event struct {
	StartTime, Duration float64 // s  when it begins, and how long it lasts; Duration 0: to the end
	Setting             int     // number of the setting; −1: it is a fault of a sensor
	To                  float64 // what the setting becomes, or how much the fault is: see Sensors.Fail
	Sensor              int     // number of the reading …
	Fault               Fault   // … and what is wrong with it
}

func (e *Event) end() float64 {
	if e.Duration == 0 {
		return math.Inf(1)
	}
	return e.StartTime + e.Duration
}

// Clashes are pairs of events of which the second begins while the first still holds the same thing. A setting that is changed for
// good may be changed again.
func Clashes(script []Event) (pairs [][2]int) {
	for i := range script {
		for k := range script {
			e, f := &script[i], &script[k]
			same := e.Setting == f.Setting && (e.Setting >= 0 || e.Sensor == f.Sensor)
			if later := f.StartTime > e.StartTime || f.StartTime == e.StartTime && k > i; same && later && f.StartTime < e.end() &&
				(e.Duration > 0 || e.Setting < 0) {
				pairs = append(pairs, [2]int{i, k})
			}
		}
	}
	return pairs
}

// Rig is a plant with its sensors and the script that disturbs them: all that a virtual rig needs.
type Rig struct {
	Machine
	*Sensors
	script     []Event
	applied    []bool
	expired    []bool
	priorValue []float64
}

// NewRig puts them together. Two events that change the same thing at the same time are refused.
func NewRig(m Machine, s SensorSpec, script ...Event) (*Rig, error) {
	script = slices.Clone(script)
	slices.SortStableFunc(script, func(a, b Event) int { return cmp.Compare(a.StartTime, b.StartTime) })
	var errs []error
	settings := len(m.Settings())
	for i, e := range script {
		switch {
		case !(e.StartTime >= 0) || !(e.Duration >= 0) || math.IsNaN(e.To) || math.IsInf(e.StartTime+e.Duration+e.To, 0):
			errs = append(errs, fmt.Errorf("script: event %d: at %g s for %g s to %g: want finite numbers, times ≥ 0", i, e.StartTime, e.Duration,
				e.To))
		case e.Setting >= settings || e.Setting < 0 && (e.Sensor < 0 || e.Sensor >= len(s.Readings) || s.Readings[e.Sensor].Output < 0):
			errs = append(errs, fmt.Errorf("script: event %d: setting %d, sensor %d: there is none", i, e.Setting, e.Sensor))
		}
		if e.Setting < 0 && e.Fault == Delayed {
			s.Longest = max(s.Longest, e.To)
		}
	}
	for _, c := range Clashes(script) {
		errs = append(errs, fmt.Errorf("script: the event at %g s is still in force at %g s", script[c[0]].StartTime, script[c[1]].StartTime))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n, err := NewSensors(s)
	if err != nil {
		return nil, err
	}
	return &Rig{Machine: m, Sensors: n, script: script, applied: make([]bool, len(script)), expired: make([]bool, len(script)),
		priorValue: make([]float64, len(script))}, nil
}

// Play does what is due at t (s since the start). What ends goes back before anything else begins.
func (r *Rig) Play(t float64, x []float64) {
	r.Clock(t)
	for i := range r.script {
		e := &r.script[i]
		if r.applied[i] && !r.expired[i] && t >= e.end() {
			r.expired[i] = true
			if e.Setting >= 0 {
				r.Set(e.Setting, x, r.priorValue[i])
			} else {
				r.Fail(e.Sensor, Healthy, 0)
			}
		}
	}
	for i := range r.script {
		e := &r.script[i]
		if r.applied[i] || t < e.StartTime {
			continue
		}
		r.applied[i] = true
		if r.expired[i] = t >= e.end(); r.expired[i] { // all of it passed between two calls
			continue
		}
		if e.Setting >= 0 {
			r.priorValue[i] = r.Set(e.Setting, x, e.To)
		} else {
			r.Fail(e.Sensor, e.Fault, e.To)
		}
	}
}
