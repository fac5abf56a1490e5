package identify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/engine/rotation"
	"hilrig/identify/independent"
	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// The suite of machines: arms of random real bodies, led along smooth tours or held by controllers, by a recursion of Newton and Euler
// and an integrator of their own (identify/independent). Each kind has one thing wrong at one joint, or nothing.

// armBench is an arm before it is recorded.
type armBench struct {
	rng    *rand.Rand
	seed   uint64
	arm    *independent.Arm
	dt     float64
	n      int
	count  float64 // rad, step of the encoders
	noise  float64 // of the torques, relative to their rms
	colour float64
	top    float64 // rad/s
	wrong  int     // the joint at which something is wrong
	drawn  func(i int, b *multibody.Body)
	spec   machine.Spec
	along  independent.Tours
}

func newArmBench(seed uint64, joints int) *armBench {
	b := &armBench{rng: rand.New(rand.NewPCG(seed, 616)), seed: seed, arm: independent.RandomArm(seed, joints), dt: 2e-3, n: 10000,
		count: 2 * math.Pi / 131072, noise: 0.02, colour: 0.5, top: 1.6}
	b.wrong = b.rng.IntN(joints)
	b.spec = machine.DefaultSpec()
	b.spec.Instruments = machine.UseNone
	return b
}

// tour is the motion of the bench: slow harmonics, or what a kind asks for.
func (b *armBench) tour() independent.Tours {
	if b.along != nil {
		return b.along
	}
	return independent.Tour(b.seed, len(b.arm.Links), 0.15, b.top)
}

func (b *armBench) led() *independent.ArmTrace { return b.arm.FollowTour(b.tour(), b.dt, b.n) }

// driven is the arm in its controllers, which know it roughly.
func (b *armBench) driven(late float64, drive func(joint int, command, v float64) float64) *independent.ArmTrace {
	run := independent.ArmRun{Dt: b.dt, N: b.n, Tour: b.tour(), Model: b.arm, Delay: late, Drive: drive}
	for i := range b.arm.Links {
		inertia := 0.0
		q, v := make([]float64, len(b.arm.Links)), make([]float64, len(b.arm.Links))
		a := make([]float64, len(b.arm.Links))
		rest := independent.Arm{Links: b.arm.Links}
		a[i] = 1
		inertia = rest.Torques(q, v, a)[i]
		run.Kp, run.Kd = append(run.Kp, inertia*900), append(run.Kd, inertia*40)
	}
	return b.arm.Simulate(run)
}

// edit changes the recorded torques of the joint at which something is wrong.
func (b *armBench) edit(tr *independent.ArmTrace, f func(k int, u float64) float64) *independent.ArmTrace {
	u := tr.U[b.wrong]
	out := make([]float64, len(u))
	for k := range u {
		out[k] = f(k, u[k])
	}
	tr.U[b.wrong] = out
	return tr
}

func (b *armBench) record(tr *independent.ArmTrace) []*record.Record {
	s := independent.ArmSensors{Count: b.count, Colour: b.colour, Seed: b.seed}
	for _, u := range tr.U {
		s.Torque = append(s.Torque, b.noise*numeric.RMS(u))
	}
	return tr.Record(s)
}

func (b *armBench) torqueRMS(tr *independent.ArmTrace) float64 { return numeric.RMS(tr.U[b.wrong]) }

// model is the file: the arm, with masses off by up to a third.
func (b *armBench) model(edit func(i int, x *multibody.Body)) (*multibody.Model, error) {
	rng := rand.New(rand.NewPCG(b.seed, 17))
	vec := func(v independent.Vec) r3.Vec { return r3.Vec{X: v[0], Y: v[1], Z: v[2]} }
	spec := multibody.Spec{Gravity: vec(b.arm.Gravity)}
	parent := ""
	for i, l := range b.arm.Links {
		x := multibody.Body{Name: fmt.Sprintf("l%d", i+1), Parent: parent, Place: multibody.At(l.Origin[0], l.Origin[1], l.Origin[2]),
			Joint: multibody.Joint{Kind: multibody.Revolute, Axis: r3.Vec{Z: 1}}}
		if l.Turn[2][1] == 1 {
			x.Place = x.Place.Turned(r3.Vec{X: math.Pi / 2})
		}
		f := 1 + 0.6*(rng.Float64()-0.5)
		x.Inertia = multibody.Inertia{Mass: l.Mass * f, Com: vec(l.Com), I: rotation.Matrix(l.I).Scale(f)}
		x.Joint.Armature = l.Rotor * f
		if edit != nil {
			edit(i, &x)
		}
		spec.Bodies = append(spec.Bodies, x)
		parent = x.Name
	}
	return multibody.Build(spec)
}

// truth are the true base parameters by name.
func (b *armBench) truth() (map[string]float64, error) {
	m, err := b.model(nil)
	if err != nil {
		return nil, err
	}
	base := machine.NewBase(m, b.spec, nil)
	theta := make([]float64, len(base.Columns))
	for k := range base.Columns {
		c := &base.Columns[k]
		l := &b.arm.Links[c.Joint]
		p := multibody.Inertia{Mass: l.Mass, Com: r3.Vec{X: l.Com[0], Y: l.Com[1], Z: l.Com[2]}, I: rotation.Matrix(l.I)}.Params()
		switch {
		case c.Inertial >= 0:
			theta[k] = p[c.Inertial]
		case c.Term == machine.Armature:
			theta[k] = l.Rotor
		case c.Term == machine.Viscous:
			theta[k] = l.Fv
		case c.Term == machine.Coulomb:
			theta[k] = l.Fc
		case c.Term == machine.Offset:
			theta[k] = l.Offset
		}
	}
	out := map[string]float64{}
	for i, x := range base.Of(theta) {
		out[base.Name(i)] = x
	}
	return out, nil
}

// armKind makes recordings of an arm.
type armKind struct {
	name   string
	clean  bool
	unsure machine.Uncertain // what is wrong stands in the file, and the records may hold nothing against it: the file says so much of it
	make   func(b *armBench) [][]*record.Record
}

func one(f func(b *armBench) *independent.ArmTrace) func(b *armBench) [][]*record.Record {
	return func(b *armBench) [][]*record.Record { return [][]*record.Record{b.record(f(b))} }
}

// shown is what sensors of the torque show of it.
func shown(f func(b *armBench, rms float64, tr *independent.ArmTrace) func(k int, u float64) float64) func(b *armBench) [][]*record.Record {
	return one(func(b *armBench) *independent.ArmTrace {
		tr := b.led()
		return b.edit(tr, f(b, b.torqueRMS(tr), tr))
	})
}

func gainOf(plus, minus float64) func(b *armBench) [][]*record.Record {
	return shown(func(*armBench, float64, *independent.ArmTrace) func(int, float64) float64 {
		return func(_ int, u float64) float64 {
			if u > 0 {
				return plus * u
			}
			return minus * u
		}
	})
}

func lateBy(seconds float64) func(b *armBench) [][]*record.Record {
	return one(func(b *armBench) *independent.ArmTrace {
		tr := b.led()
		shifted := b.arm.FollowTour(func(t float64) (q, v, a []float64) { return b.tour()(t - seconds) }, b.dt, b.n)
		tr.U[b.wrong] = shifted.U[b.wrong]
		return tr
	})
}

// more is a torque that the arm takes beside its own.
func more(f func(b *armBench, tr *independent.ArmTrace, k int) float64) func(b *armBench) [][]*record.Record {
	return shown(func(b *armBench, _ float64, tr *independent.ArmTrace) func(int, float64) float64 {
		return func(k int, u float64) float64 { return u + f(b, tr, k) }
	})
}

func spoiled(f func(b *armBench, d []*record.Record)) func(b *armBench) [][]*record.Record {
	return func(b *armBench) [][]*record.Record {
		d := b.record(b.led())
		f(b, d)
		return [][]*record.Record{d}
	}
}

func (b *armBench) fc() float64 { return b.arm.Links[b.wrong].Fc }

var armKinds = []armKind{
	{name: "led", clean: true, make: one((*armBench).led)},
	{name: "two records", clean: true, make: func(b *armBench) [][]*record.Record {
		first := b.record(b.led())
		b.along = independent.Tour(b.seed+1000, len(b.arm.Links), 0.15, b.top)
		return [][]*record.Record{first, b.record(b.led())}
	}},
	{name: "faster", clean: true, make: func(b *armBench) [][]*record.Record { b.top = 2.5; return [][]*record.Record{b.record(b.led())} }},
	{name: "noisy torque", clean: true, make: func(b *armBench) [][]*record.Record {
		b.noise, b.colour = 0.05, 0
		return [][]*record.Record{b.record(b.led())}
	}},
	{name: "controlled at 500 Hz", make: one(func(b *armBench) *independent.ArmTrace { return b.driven(0, nil) })},
	{name: "held, half a sample late", make: one(func(b *armBench) *independent.ArmTrace {
		b.dt, b.n = 4e-3,
			5000
		return b.driven(2e-3, nil)
	})},
	{name: "held at 100 Hz", make: one(func(b *armBench) *independent.ArmTrace { b.dt, b.n = 1e-2, 3000; return b.driven(0, nil) })},
	{name: "gain 1.05 one way", unsure: machine.Uncertain{Gain: 5}, make: gainOf(1.05, 1)},
	{name: "gain 1.1 the other way", unsure: machine.Uncertain{Gain: 10}, make: gainOf(1, 1.1)},
	{name: "gain 1.2", unsure: machine.Uncertain{Gain: 20}, make: gainOf(1.2, 1.2)},
	{name: "gain 0.9", unsure: machine.Uncertain{Gain: 10}, make: gainOf(0.9, 0.9)},
	{name: "torque sensor clips", make: shown(func(_ *armBench, rms float64, _ *independent.ArmTrace) func(int, float64) float64 {
		return func(_ int, u float64) float64 { return min(max(u, -1.3*rms), 1.3*rms) }
	})},
	{name: "drive at its limit", make: one(func(b *armBench) *independent.ArmTrace {
		limit := 1.4 * b.torqueRMS(b.led())
		return b.driven(0, func(j int, u, _ float64) float64 {
			if j == b.wrong {
				return min(max(u, -limit), limit)
			}
			return u
		})
	})},
	{name: "efficiency 0.9", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		return 0.1 * math.Abs(tr.Bodies[b.wrong][k]) * numeric.Sign(tr.V[b.wrong][k])
	})},
	{name: "efficiency 0.95", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		return 0.05 * math.Abs(tr.Bodies[b.wrong][k]) * numeric.Sign(tr.V[b.wrong][k])
	})},
	{name: "one direction", make: func(b *armBench) [][]*record.Record {
		tour := b.tour()
		b.along = func(t float64) (q, v, a []float64) {
			q, v, a = tour(t)
			q[b.wrong], v[b.wrong] = q[b.wrong]+6*t, v[b.wrong]+6
			return q, v, a
		}
		return [][]*record.Record{b.record(b.led())}
	}},
	{name: "three wild positions", make: spoiled(func(b *armBench, d []*record.Record) {
		for range 3 {
			d[b.wrong].Position[500+b.rng.IntN(b.n-1000)] += 0.05 * (1 + b.rng.Float64())
		}
	})},
	{name: "three wild torques", make: spoiled(func(b *armBench, d []*record.Record) {
		for range 3 {
			d[b.wrong].Force[500+b.rng.IntN(b.n-1000)] += 30 * numeric.RMS(d[b.wrong].Force)
		}
	})},
	{name: "torque 1 ms late", make: lateBy(1e-3)},
	{name: "torque 3 ms late", make: lateBy(3e-3)},
	{name: "torque 10 ms late", make: lateBy(1e-2)},
	{name: "torque behind a filter of 8 ms", make: shown(func(b *armBench, _ float64, _ *independent.ArmTrace) func(int, float64) float64 {
		y := math.NaN()
		return func(_ int, u float64) float64 {
			if math.IsNaN(y) {
				y = u
			}
			y += (u - y) * b.dt / 8e-3
			return y
		}
	})},
	{name: "length off by 5 %", unsure: machine.Uncertain{Length: 0.015}, make: func(b *armBench) [][]*record.Record {
		j := max(b.wrong, 1)
		b.drawn = func(i int, x *multibody.Body) {
			if i == j {
				x.Place.P = r3.Scale(1.05, x.Place.P)
			}
		}
		return [][]*record.Record{b.record(b.led())}
	}},
	{name: "zero off by 2 degrees", unsure: machine.Uncertain{Zero: 0.035}, make: spoiled(func(b *armBench, d []*record.Record) {
		for k := range d[b.wrong].Position {
			d[b.wrong].Position[k] += 0.035
		}
	})},
	{name: "spring", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 { return 1.5 * b.fc() * tr.Q[b.wrong][k] })},
	{name: "drag", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		v := tr.V[b.wrong][k]
		return 0.3 * b.fc() * v * math.Abs(v)
	})},
	{name: "Stribeck dip", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		v := tr.V[b.wrong][k]
		return 0.6 * b.fc() * numeric.Sign(v) * math.Exp(-v*v/0.04)
	})},
	{name: "friction by direction", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		return 0.3 * b.fc() * math.Abs(tr.V[b.wrong][k])
	})},
	{name: "friction falls by a third", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		l := &b.arm.Links[b.wrong]
		v := tr.V[b.wrong][k]
		return -0.33 * float64(k) / float64(b.n) * (l.Fc*numeric.Sign(v) + l.Fv*v)
	})},
	{name: "friction grows with position", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		return 0.3 * b.fc() * tr.Q[b.wrong][k] * numeric.Sign(tr.V[b.wrong][k])
	})},
	{name: "cogging", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		return 0.5 * b.fc() * math.Sin(9*tr.Q[b.wrong][k])
	})},
	{name: "torque drifts", make: more(func(b *armBench, tr *independent.ArmTrace,
		k int) float64 {
		return b.fc() * float64(k) / float64(b.n)
	})},
	{name: "constant falls with current", make: shown(func(_ *armBench, rms float64, _ *independent.ArmTrace) func(int, float64) float64 {
		return func(_ int, u float64) float64 { return u * (1 + 0.1*u*u/(rms*rms)) }
	})},
	{name: "torque rounded coarsely", make: spoiled(func(b *armBench,
		d []*record.Record) {
		round(d[b.wrong].Force, 2.5*numeric.RMS(d[b.wrong].Force))
	})},
	{name: "position bends", make: spoiled(func(b *armBench, d []*record.Record) {
		for k, x := range d[b.wrong].Position {
			d[b.wrong].Position[k] = x + 0.04*math.Sin(2*x)
		}
	})},
	{name: "coarse encoder", make: func(b *armBench) [][]*record.Record {
		b.count = 2 * math.Pi / 1000
		return [][]*record.Record{b.record(b.led())}
	}},
	{name: "position 5 ms late", make: spoiled(func(b *armBench, d []*record.Record) {
		x := d[b.wrong].Position
		for k := len(x) - 1; k > 0; k-- {
			x[k] = (x[max(k-2, 0)] + x[max(k-3, 0)]) / 2
		}
	})},
	{name: "position low-passed", make: spoiled(func(b *armBench, d []*record.Record) {
		x := d[b.wrong].Position
		y := x[0]
		for k := range x {
			y += (x[k] - y) * b.dt / 1e-2
			x[k] = y
		}
	})},
	{name: "load grows by a third half-way", make: one(func(b *armBench) *independent.ArmTrace {
		tr, empty := b.led(), *b.arm
		loaded := empty
		loaded.Links = slices.Clone(empty.Links)
		last := &loaded.Links[len(loaded.Links)-1]
		last.Mass *= 1.33
		for i := range last.I {
			for j := range last.I[i] {
				last.I[i][j] *= 1.33
			}
		}
		after := loaded.FollowTour(b.tour(), b.dt, b.n)
		for j := range tr.U {
			copy(tr.U[j][b.n/2:], after.U[j][b.n/2:])
		}
		return tr
	})},
	{name: "torque on the link 1 ms late", make: func(b *armBench) [][]*record.Record {
		for i := range b.arm.Links {
			b.arm.Links[i].Rotor = 0
		}
		return lateBy(1e-3)(b)
	}},
	{name: "torque on the link", clean: true, make: func(b *armBench) [][]*record.Record {
		for i := range b.arm.Links {
			b.arm.Links[i].Rotor = 0
		}
		return [][]*record.Record{b.record(b.led())}
	}},
	{name: "wrong sign of position", make: spoiled(func(b *armBench, d []*record.Record) {
		for k := range d[b.wrong].Position {
			d[b.wrong].Position[k] *= -1
		}
	})},
	{name: "file without weight", unsure: machine.Uncertain{Axis: 1}, make: func(b *armBench) [][]*record.Record {
		file := *b.arm
		d := b.record(b.led())
		file.Gravity = independent.Vec{}
		b.arm = &file
		return [][]*record.Record{d}
	}},
	{name: "narrow Stribeck dip", make: more(func(b *armBench, tr *independent.ArmTrace, k int) float64 {
		v := tr.V[b.wrong][k]
		return 0.4 * b.fc() * numeric.Sign(v) * math.Exp(-v*v/0.0016)
	})},
	{name: "white noise of positions", make: spoiled(func(b *armBench, d []*record.Record) {
		b.spec.Instruments = machine.UseCheck // the default
		for i := range d {
			for k := range d[i].Position {
				d[i].Position[k] += 5e-4 * b.rng.NormFloat64()
			}
		}
	})},
	{name: "wrong sign of torque", make: gainOf(-1, -1)},
	{name: "gravity turned by 3 degrees", make: func(b *armBench) [][]*record.Record {
		g := b.arm.Gravity
		file := *b.arm
		b.arm.Gravity = independent.Vec{9.81 * math.Sin(0.05), 0, -9.81 * math.Cos(0.05)}
		d := b.record(b.led())
		file.Gravity = g
		b.arm = &file
		return [][]*record.Record{d}
	}},
}

// armOutcome is what was made of a record.
type armOutcome struct {
	verdict Verdict
	wrong   []string // called identified under such a verdict, and wrong
	single  []string // called identified under any verdict, and wrong
	of      int      // parameters whose truth is known …
	held    int      // … and in the interval
	reason  string
	blamed  string
}

func (b *armBench) attempt(k armKind) armOutcome {
	recs := k.make(b)
	truth, err := b.truth()
	if err != nil {
		panic(err)
	}
	m, err := b.model(b.drawn)
	if err != nil {
		panic(err)
	}
	spec := b.spec
	spec.Uncertain = k.unsure
	r, err := fitArm(m, spec, recs)
	if err != nil {
		return armOutcome{verdict: "refused", reason: err.Error()}
	}
	o := armOutcome{verdict: r.Verdict}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "assumed, as the file gives it: gains of the torques")
	}) {
		o.wrong = append(o.wrong, "what was assumed is not said")
	}
	if len(r.Reasons) > 0 {
		o.reason = r.Reasons[0].Text
	}
	for _, l := range r.Unmodelled {
		if l.Worst != "" {
			o.blamed = l.What
			break
		}
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		x, known := truth[p.Name]
		if p.Fixed || !known {
			continue
		}
		ci := r.Interval(p)
		if o.of++; ci == nil || ci[0] <= x && x <= ci[1] {
			o.held++
		}
		if ci == nil || p.Worth != string(Identified) || math.Abs(x-(ci[0]+ci[1])/2) <= clearly*(ci[1]-ci[0])/2 ||
			math.Abs(p.Value-x)**p.Share < 100*off*math.Abs(p.Value)/100 || math.Abs(p.Value-x) < off*math.Abs(x) {
			continue
		}
		text := fmt.Sprintf("%s %.3g for %.3g (±%.2g, %.1f %%)", p.Name, p.Value, x, (ci[1]-ci[0])/2, *p.Share)
		o.single = append(o.single, text)
		if r.Verdict == Identified {
			o.wrong = append(o.wrong, text)
		}
	}
	return o
}

// fitArm is the everyday fit.
func fitArm(m *multibody.Model, spec machine.Spec, recs [][]*record.Record) (*Result, error) {
	var all []machine.Recording
	var info []record.Info
	var findings []record.Finding
	for _, d := range recs {
		all = append(all, machine.Recording(d))
		info = append(info, d[0].Info())
	}
	for i := range m.NV() {
		var pieces []*record.Record
		for _, d := range recs {
			pieces = append(pieces, d[i])
		}
		findings = append(findings, record.Check(pieces, record.CheckOptions{Rotary: true, Coupled: true})...)
	}
	b, err := machine.Fit(context.Background(), m, spec, all, nil, nil)
	if err != nil {
		return nil, err
	}
	r, _, _, err := OfMachine(b, info, findings, MachineChecks{})
	return r, err
}

// armSuite runs seeds of every kind and counts.
func armSuite(t *testing.T, joints, seeds int, only func(k armKind) bool) (wrong, single, trials, alarms, clean int) {
	type job struct{ k, s int }
	jobs := make(chan job)
	out := map[job]armOutcome{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for j := range jobs {
				b := newArmBench(uint64(1000*joints+100*j.s+j.k+1), joints)
				o := b.attempt(armKinds[j.k])
				mu.Lock()
				out[j] = o
				mu.Unlock()
			}
		})
	}
	for k := range armKinds {
		for s := range seeds {
			if only == nil || only(armKinds[k]) {
				jobs <- job{k, s}
			}
		}
	}
	close(jobs)
	wg.Wait()
	for k, kd := range armKinds {
		ident, bad, lone, held, of, why := 0, []string{}, []string{}, 0, 0, map[string]bool{}
		for s := range seeds {
			o, there := out[job{k, s}]
			if !there {
				continue
			}
			trials++
			if o.verdict == Identified {
				ident++
			} else {
				why[short(o.reason)] = true
			}
			held, of = held+o.held, of+o.of
			if o.wrong != nil {
				wrong++
				bad = append(bad, strings.Join(o.wrong, "; "))
			}
			if o.single != nil {
				single++
				lone = append(lone, fmt.Sprintf("%d of %d: %s", len(o.single), o.of, o.single[0]))
			}
			if kd.clean {
				if clean++; o.verdict != Identified {
					alarms++
				}
			}
		}
		if of == 0 && len(why) == 0 {
			continue
		}
		mark := "      "
		if kd.clean {
			mark = "clean "
		}
		reasons := ""
		for w := range why {
			reasons += " | " + w
		}
		t.Logf("%s%-30s %d/%d held %d/%d wrong %v single %v%s", mark, kd.name, ident, seeds, held, of, bad, lone, reasons)
	}
	t.Logf("%d joints: confident wrong: %d of %d; with single ones %d; false alarms on clean ones: %d of %d", joints, wrong, trials, single,
		alarms, clean)
	return wrong, single, trials, alarms, clean
}

// No value of a machine is wrong with confidence; the whole suite is suite_soak_test.go.
func TestSuiteOfMachines(t *testing.T) {
	some := []string{"led", "held, half a sample late", "gain 1.1 the other way", "efficiency 0.9", "three wild positions",
		"torque 10 ms late", "Stribeck dip", "constant falls with current"}
	wrong, _, trials, alarms, clean := armSuite(t, 2, 1, func(k armKind) bool { return slices.Contains(some, k.name) })
	if wrong > 0 || alarms > 0 {
		t.Errorf("%d of %d are wrong under the verdict identified, %d of %d clean ones are not identified", wrong, trials, alarms, clean)
	}
}
