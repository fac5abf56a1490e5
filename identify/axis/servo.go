package axis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
	"hilrig/internal/spelling"
)

// Loop is an axis in its controller, or under the recorded force, on records, with one of the laws for which the loop over
// the samples is written out: none, coulomb, viscous, static-coulomb-viscous and lugre, each the same in both directions or
// by the sign of velocity.
//
// Closed loop, Drive Servo [theory §9.6]: mass and friction run inside the known controller on the recorded reference, and
// the forces the controllers ask for are compared. The controller holds the motion on its path, so a wrong friction force
// shows as a force of the same size, where it acts. Open loop, Drive Force: the recorded force drives the mass, and position
// or velocity is compared. A position integrates every error of the force twice, so such a fit bends friction until the
// drift looks right: worth reporting, no ground for choosing a law.
//
// Parameters, by name: M (J on a rotary axis), lag; Fc, Fs and Fv of the static laws that have them; Fv of the term viscous; of lugre sigma0, sigma1, sigma2, Fc, Fs, vs;
// offset; x0 and v0 of every piece, fixed unless Initial is Free. By direction Fc+, Fc-, Fv+, Fv-, sigma2+ and sigma2- take the place of
// Fc, Fv and sigma2, and dFs = Fs − Fc, one number for both directions, that of Fs; it may be negative. A bristle may be
// given by zeta = σ1/(2√(σ0M)) instead of sigma1. Fs of a bristle is never taken below 0.05 Fc. An offset cannot be told from
// the difference of Fc+ and Fc-: models that have these drop it.
type Loop struct {
	spec   Spec
	pieces []*record.Record
	starts []start
	pulses []pulses
}

// laws of the loop.
var loopLaws = []string{"", "coulomb", "viscous", "static-coulomb-viscous", "lugre"}

// NewLoop checks that the model is one of those the loop knows and that the records have what it needs.
func NewLoop(spec Spec, pieces []*record.Record) (*Loop, error) {
	l := &Loop{spec: spec, pieces: pieces}
	if err := l.checkSpec(); err != nil {
		return nil, err
	}
	if len(pieces) == 0 {
		return nil, &record.Error{Msg: "no record to simulate"}
	}
	for _, d := range pieces {
		if err := l.checkRecord(d); err != nil {
			return nil, err
		}
		l.pulses = append(l.pulses, l.spec.pulsesOf(d))
	}
	var g sliding
	if !l.closed() && spec.Initial != Rest {
		g = l.guess()
	}
	for i, d := range pieces {
		var p *push
		if g.linear {
			p = &push{drive: l.pulses[i].drive, m: g.m, fv: g.s2, linear: spec.LinearHold}
		}
		l.starts = append(l.starts, l.spec.start(d, p))
	}
	return l, nil
}

func (l *Loop) closed() bool { return l.spec.Drive == Servo }

func (l *Loop) checkSpec() error {
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	s := &l.spec
	if !slices.Contains(loopLaws, s.Law) {
		add("law %q: this loop runs none, coulomb, viscous, static-coulomb-viscous and lugre", s.Law)
	}
	for _, t := range s.Terms {
		switch {
		case t == "viscous" && Damped(s.Law):
			add("%s", viscousTwice(s.Law))
		case t != "offset" && t != "viscous":
			add("term %s: this loop has no loads but offset and viscous", t)
		}
	}
	if s.Substeps > 0 || s.Scheme == friction.Implicit {
		add("scheme %v, substeps %d: this loop has a scheme of its own and divides its steps itself", s.Scheme, s.Substeps)
	}
	s.checkServo(add)
	if s.Drive != Servo && s.Drive != Force {
		add("drive: this loop runs under the recorded force or in a controller")
	}
	if s.Decimate < 0 {
		add("decimate: %d, want ≥ 1", s.Decimate)
	}
	if bad != nil {
		return &fit.ParamError{Problems: bad}
	}
	return nil
}

// checkServo tells what is wrong with the controller, and with what is compared in it.
func (s *Spec) checkServo(add func(format string, args ...any)) {
	switch c := s.Controller; {
	case s.Drive == Servo && c == nil:
		add("controller: missing, a servo needs its gains kp and kv")
	case s.Drive == Servo && !(c.Kp >= 0 && c.Kv > 0 && c.Gain > 0 && c.Limit >= 0 && c.Mean >= 0 && c.Delay >= 0) ||
		c != nil && math.IsInf(c.Kp*c.Kv*c.Gain, 0):
		add("controller: kp %g, kv %g, gain %g, limit %g, mean %d, delay %d: want finite gains, kv and gain > 0, the others ≥ 0", c.Kp, c.Kv, c.Gain, c.Limit, c.Mean, c.Delay)
	case s.Drive == Servo && s.Output == Velocity:
		add("output: a servo compares its command, or the position")
	case s.Drive != Servo && s.Output == Command:
		add("output: a command is compared in closed loop only, with the drive servo and its controller")
	}
}

// fewest samples of a piece: enough for a start and a few residuals.
const fewest = 20

func (l *Loop) checkRecord(d *record.Record) error {
	need := []struct {
		name string
		x    []float64
		hint string
	}{{"position", d.Position, "Name its column."}, {"force", d.Force, "The command of the drive times its gain is wanted."}}
	if l.closed() {
		need = append(need, struct {
			name string
			x    []float64
			hint string
		}{"reference", d.Reference, "The controller of the model follows the recorded reference: name its column, or fit in open loop."})
	}
	if l.spec.Output == Velocity && len(d.Velocity) != len(d.Position) {
		return &record.Error{File: d.File, Msg: "no velocity to compare with", Hint: "Compare the position instead."}
	}
	n := len(d.Position)
	if len(d.Disturbance) > 0 {
		need = append(need, struct {
			name string
			x    []float64
			hint string
		}{"disturbance", d.Disturbance, ""})
	}
	for _, c := range need {
		switch {
		case len(c.x) == 0:
			return &record.Error{File: d.File, Msg: "no " + c.name + " in the record", Hint: c.hint}
		case len(c.x) != n:
			return &record.Error{File: d.File, Msg: fmt.Sprintf("%d samples of %s but %d of position", len(c.x), c.name, n)}
		}
		for k, x := range c.x {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return &record.Error{File: d.File, Msg: fmt.Sprintf("%s is %g in sample %d", c.name, x, k), Hint: "Cut the record there."}
			}
		}
	}
	switch {
	case !(d.Dt > 0) || math.IsInf(d.Dt, 0):
		return &record.Error{File: d.File, Msg: fmt.Sprintf("sampling interval %g s, want > 0", d.Dt)}
	case n < fewest:
		return &record.Error{File: d.File, Msg: fmt.Sprintf("%d samples, want at least %d", n, fewest)}
	case span(d.Position) == 0:
		return &record.Error{File: d.File, Msg: "the position never changes", Hint: "Nothing can be learned from an axis at rest."}
	}
	return nil
}

func span(x []float64) float64 { return slices.Max(x) - slices.Min(x) }

// merge puts params over those of the model, by name. One of two names for the same thing takes the place of the other.
func (l *Loop) merge(params []fit.Param) ([]fit.Param, error) {
	all := l.Params()
	index := func(name string) int { return slices.IndexFunc(all, func(q fit.Param) bool { return q.Name == name }) }
	instead := map[string]string{"zeta": "sigma1", "dFs": "Fs"}
	var bad []string
	seen := map[string]bool{}
	for _, p := range params {
		s, known := l.named(p)
		i := index(p.Name)
		if i < 0 && known {
			i = index(instead[p.Name])
		}
		switch {
		case !known:
			names := make([]string, len(all))
			for j, q := range all {
				names[j] = q.Name
			}
			hint := ""
			if near := spelling.Nearest(p.Name, names); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			bad = append(bad, fmt.Sprintf("%s: this model has no such parameter%s; it has %s", p.Name, hint, strings.Join(names, ", ")))
		case seen[p.Name]:
			bad = append(bad, fmt.Sprintf("parameter %s exists twice", p.Name))
		case s.is == isNothing:
		case i < 0:
			bad = append(bad, fmt.Sprintf("%s: zeta and sigma1, and dFs and Fs, are two names of one thing each: give one of them", p.Name))
		default:
			all[i] = p
		}
		seen[p.Name] = true
	}
	if bad != nil {
		return nil, &fit.ParamError{Problems: bad}
	}
	if err := fit.Check(all); err != nil {
		return nil, err
	}
	return all, nil
}

// Problem is the search for the free ones of the parameters. Those that params leaves out are as in Params.
func (l *Loop) Problem(params []fit.Param) (*fit.Problem, error) {
	all, err := l.merge(params)
	if err != nil {
		return nil, err
	}
	return l.problem(all, 1), nil
}

func (l *Loop) problem(all []fit.Param, share float64) *fit.Problem {
	free, _ := fit.Free(all)
	p := &fit.Problem{Params: free, Unit: l.unit()}
	for _, d := range l.pieces {
		p.Rows += l.rows(l.length(d, share))
	}
	p.New = func() fit.Evaluator {
		e := l.evaluator(all, share)
		if e.bristle {
			return newBristleRun(e)
		}
		return e
	}
	p.Horizon = func(part float64) *fit.Problem { return l.problem(all, share*part) }
	return p
}

// length is how many samples of a piece are simulated.
func (l *Loop) length(d *record.Record, share float64) int {
	n := len(d.Position)
	return min(n, max(fewest, int(math.Ceil(share*float64(n)))))
}

func (l *Loop) rows(samples int) int { return (samples + l.step() - 1) / l.step() }

func (l *Loop) step() int { return max(1, l.spec.Decimate) }

func (l *Loop) unit() string {
	u := map[Output]string{Position: "m", Velocity: "m/s", Command: "N"}[l.spec.Output]
	if l.spec.Rotary {
		u = map[Output]string{Position: "rad", Velocity: "rad/s", Command: "N·m"}[l.spec.Output]
	}
	return u
}
