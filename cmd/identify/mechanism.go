package identify

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// planMechanism is the file to identify the mechanism of the rig of a recording: its bodies, and for each joint the columns of its axis.
func planMechanism(path string) (*configs.MachineFit, error) {
	run, err := sink.OpenRun(path)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	rig, err := configs.LoadBytes(run.Path+": its configuration", run.Info.Config)
	if err != nil {
		return nil, err
	}
	if rig.Mechanism == nil {
		return nil, &record.Error{File: run.Path, Msg: "the rig of this recording has no mechanism, which says what bodies its axes move",
			Hint: "Fit one axis, by --axis, or write a file with machine and data: docs/reference/identify-machine.md."}
	}
	_, joints, err := rig.MechanismModel()
	if err != nil {
		return nil, err
	}
	cfg := configs.NewMachineFit("mechanism of the rig "+rig.Rig.Name,
		configs.Machine{Gravity: rig.Mechanism.Gravity, Bodies: rig.Mechanism.Bodies})
	cfg.Name, cfg.Data.File = rig.Rig.Name, run.Path
	for i := range rig.Axes {
		if joints[i] < 0 {
			continue
		}
		ax := &rig.Axes[i]
		one, _, err := PlanAxis(rig, ax, RunOptions{})
		if err != nil {
			return nil, &record.Error{File: run.Path, Msg: err.Error()}
		}
		cfg.Data.Joints = append(cfg.Data.Joints, configs.MachineFitJoint{Name: ax.Name, Position: one.Data.Columns.Position,
			Torque: one.Data.Columns.Force})
	}
	return cfg, nil
}

// coupledTo are the axes that the torque of an axis depends on, by the mechanism of the rig: their inertia matrix joins them, or the
// position of one changes the inertia or weight that the other feels.
func coupledTo(rig *configs.Config, axis *configs.Axis) (names []string) {
	if rig.Mechanism == nil {
		return nil
	}
	m, joints, err := rig.MechanismModel()
	if err != nil {
		return nil
	}
	self := joints[slices.IndexFunc(rig.Axes, func(a configs.Axis) bool { return a.Name == axis.Name })]
	if self < 0 {
		return nil
	}
	d, rng := m.NewData(), rand.New(rand.NewPCG(1, 2))
	n := m.NV()
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	torque := func() float64 { multibody.RNEA(m, d, q, v, a); return d.Tau[self] }
	for i := range rig.Axes {
		other := joints[i]
		if other < 0 || other == self {
			continue
		}
		coupled := false
		for range 20 {
			for k := range q {
				q[k], v[k], a[k] = 2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1
			}
			before := torque()
			q[other], v[other], a[other] = 2*rng.Float64()-1, 2*rng.Float64()-1, 2*rng.Float64()-1
			coupled = coupled || math.Abs(torque()-before) > 1e-9*math.Abs(before)
		}
		if coupled {
			names = append(names, rig.Axes[i].Name)
		}
	}
	return names
}

// sayCoupled rejects the fit of one axis that others move.
func (o *ownRun) sayCoupled(res *identify.Result, path string) {
	if o == nil || o.coupled == nil {
		return
	}
	res.AddReason(fit.Coupled, fit.Reject, nil, "the axis is coupled: by the mechanism of the rig its torque depends on the motion of %s "+
		"too, so that it has no inertia of its own. Identify the bodies of all axes together: %s",
		strings.Join(o.coupled, ", "), report.AsStarted(identifyMechanism(path)))
}

// identifyMechanism is the command for a recording.
func identifyMechanism(path string) string {
	return "hil identify " + report.ShellWord(path) + " --machine"
}

// minCommonSamples is the number of samples below which a stretch that all joints have is left out.
const minCommonSamples = 20

// align brings the pieces of series of a recording to one grid, that of the fastest device, over the times that all of them have: each
// device samples at its own times. In between a cubic runs through the four samples about it. The first series, as many as held, stay from
// sample to sample, and the grid begins at a sample of the first of them.
func align(joints [][]*record.Record, held int) (recs []machine.Recording) {
	dt := math.Inf(1)
	next := make([]int, len(joints))
	for _, pieces := range joints {
		for _, p := range pieces {
			dt = min(dt, p.Dt)
		}
	}
	for {
		// the stretch that the present pieces share; the one that ends first goes
		from, to, first := math.Inf(-1), math.Inf(1), 0
		for i, pieces := range joints {
			if next[i] == len(pieces) {
				return recs
			}
			p := pieces[next[i]]
			from = max(from, p.Start)
			if end := p.Start + float64(p.Len()-1)*p.Dt; end < to {
				to, first = end, i
			}
		}
		if held > 0 {
			p := joints[0][next[0]]
			from = p.Start + p.Dt*math.Ceil((from-p.Start)/p.Dt-1e-6)
		}
		if n := int(math.Floor((to-from)/dt+1e-6)) + 1; n >= minCommonSamples {
			var rec machine.Recording
			for i, pieces := range joints {
				p := *pieces[next[i]]
				p.Position, p.Force = onGrid(&p, p.Position, from, dt, n, i < held), onGrid(&p, p.Force, from, dt, n, i < held)
				p.Velocity, p.Reference = nil, nil
				p.Start, p.Dt = from, dt
				rec = append(rec, &p)
			}
			recs = append(recs, rec)
		}
		next[first]++
	}
}

// onGrid is x, a channel of p, at n times from one on. held: it stays from sample to sample.
func onGrid(p *record.Record, x []float64, from, dt float64, n int, held bool) []float64 {
	if len(x) < 4 {
		return x
	}
	out, places := make([]float64, n), []float64{0, 1, 2, 3}
	for k := range out {
		at := (from + float64(k)*dt - p.Start) / p.Dt
		if held {
			out[k] = x[min(int(at+1e-6), len(x)-1)]
			continue
		}
		i := min(max(int(at)-1, 0), len(x)-4)
		out[k] = numeric.Lagrange(places, x[i:i+4], at-float64(i))
	}
	return out
}
