package axis

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// stopAndGo is a record of an axis that stops and turns often: the force drives it, and stays within the level for a while at
// every turn. The motion is not that of any model here.
func stopAndGo(n int, dt, phase float64) *record.Record {
	d := &record.Record{Dt: dt}
	for k := range n {
		s := float64(k)*dt*2*math.Pi*1.1 + phase
		d.Force = append(d.Force, 1.3*math.Sin(s)+0.4*math.Sin(2.63*s+1))
		d.Position = append(d.Position, 0.3*math.Sin(s-0.7)+0.01*math.Sin(5.1*s))
	}
	return d
}

// The variational equations of contacts with a stick mode agree with differences of the simulation itself, through arrests, turns
// and releases.
func TestTangentsThroughEvents(t *testing.T) {
	base := map[string]float64{"J": 0.012, "Fc": 0.25, "Fs": 0.42, "vs": 0.15, "Fv": 0.3, "delta": 1.6, "Fc+": 0.27, "Fc-": 0.22, "dFs": 0.16,
		"offset": 0.03, "k": 0.4, "mgs": 0.3, "mgc": 0.1, "v0[1]": 0.5, "v0[2]": 0.2}
	for _, c := range []struct {
		name  string
		spec  Spec
		set   map[string]float64
		drops bool // held forces pass the level at jumps of the acceleration
	}{
		{"coulomb", Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}}, nil, false},
		{"coulomb, straight", Spec{Law: "coulomb", Terms: []string{"viscous"}, Hold: Linear}, map[string]float64{"lag": 1.1e-3}, false},
		{"coulomb by direction", Spec{Law: "coulomb", Asymmetric: true, Hold: Linear, Terms: []string{"viscous"}},
			map[string]float64{"Fv+": 0.3, "Fv-": 0.4}, false},
		{"static, straight", Spec{Law: "static-coulomb-viscous", Hold: Linear}, map[string]float64{"delta": 1}, false},
		{"static, a power", Spec{Law: "static-coulomb-viscous", Hold: Linear}, nil, false},
		{"static, held", Spec{Law: "static-coulomb-viscous"}, map[string]float64{"delta": 1}, true},
		{"static, by direction", Spec{Law: "static-coulomb-viscous", Asymmetric: true, Hold: Linear, Substeps: 3},
			map[string]float64{"delta": 1, "Fv+": 0.3, "Fv-": 0.4}, false},
		{"tustin", Spec{Law: "stribeck-tustin", Terms: []string{"offset"}}, map[string]float64{"lag": 1.1e-3}, false},
		{"tustin, velocity", Spec{Law: "stribeck-tustin", Output: Velocity, Hold: Linear, Substeps: 2}, nil, false},
		{"bo-pavelescu", Spec{Law: "stribeck-bo-pavelescu", Hold: Linear, Terms: []string{"stiffness"}}, nil, false},
		{"hess-soom", Spec{Law: "stribeck-hess-soom", Terms: []string{"gravity-sin", "gravity-cos"}}, map[string]float64{"lag": -1.3e-3}, false},
		{"strengthens", Spec{Law: "stribeck-hess-soom", Hold: Linear}, map[string]float64{"Fs": 0.1}, false},
		{"viscous", Spec{Law: "viscous"}, nil, false},
		{"none", Spec{Terms: []string{"viscous", "stiffness"}}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Rotary, c.spec.Drive, c.spec.Initial, c.spec.Decimate = true, Force, Free, 1
			recs := []*record.Record{stopAndGo(500, 5e-3, 0.4), stopAndGo(400, 5e-3, 2.7)}
			if c.spec.Output == Velocity {
				for _, d := range recs {
					d.Velocity, _ = parabolas(d.Position, d.Dt, 2)
				}
			}
			m, err := New(c.spec, recs)
			if err != nil {
				t.Fatal(err)
			}
			params := m.Params()
			for i := range params {
				p := &params[i]
				if v, ok := base[p.Name]; ok {
					p.Value = v
				}
				if v, ok := c.set[p.Name]; ok {
					p.Value = v
				}
				p.Fixed = slices.Contains([]string{"mu", "N0", "lag"}, p.Name) || p.Name == "delta" && p.Value == 1
				if _, ok := c.set[p.Name]; ok && p.Name == "lag" {
					p.Fixed = false
				}
				p.Lo, p.Hi = min(p.Lo, p.Value-math.Abs(p.Value)/2), max(p.Hi, 2*p.Value)
			}
			p, err := m.Problem(params)
			if err != nil {
				t.Fatal(err)
			}
			e, ok := p.NewEvaluator().(fit.Differentiable)
			if !ok {
				t.Fatal("no derivatives")
			}
			theta := fit.Values(p.Params)
			columns, st := e.Columns(theta)
			if st != 0 {
				t.Fatal(st)
			}
			var own [][]float64
			for _, x := range columns {
				own = append(own, slices.Clone(x))
			}
			if a := testing.AllocsPerRun(5, func() { e.Columns(theta) }); a != 0 {
				t.Errorf("derivatives allocate %v times", a)
			}
			from := make([]int, len(theta))
			for _, l := range p.Local {
				for _, j := range l.Params {
					from[j] = l.FirstRow
				}
			}
			plain := p.NewEvaluator()
			up, down := make([]float64, p.Rows), make([]float64, p.Rows)
			for j, q := range p.Params {
				step := 1e-6 * max(math.Abs(q.Value), 1e-3)
				theta[j] = q.Value + step
				plain.Residuals(theta, up)
				theta[j] = q.Value - step
				plain.Residuals(theta, down)
				theta[j] = q.Value
				if q.Name[0] == 'x' && c.spec.Output == Velocity && !slices.Contains(c.spec.Terms, "stiffness") {
					continue // moves nothing but rounding
				}
				if c.drops && q.Name == "Fs" {
					continue // differences see no jump, or one
				}
				var miss, norm float64
				for k := range own[j] {
					diff := (up[from[j]+k] - down[from[j]+k]) / (2 * step)
					miss += (diff - own[j][k]) * (diff - own[j][k])
					norm += diff * diff
				}
				if !(miss <= 1e-7*norm) || norm == 0 {
					t.Errorf("%s: off by %.2g of its length %.3g", q.Name, math.Sqrt(miss/norm), math.Sqrt(norm))
				}
			}
		})
	}
}

// A held force that rises past the level sets a body free at a sample. Over many phases of the samples the mean motion changes with
// the level as the derivative says.
func TestTangentOfReleaseBetweenSamples(t *testing.T) {
	const phases = 400
	for _, sign := range []float64{1, -1} {
		var recs []*record.Record
		for i := range phases {
			d := &record.Record{Dt: 5e-3}
			for k := range 60 {
				at := (float64(k) + float64(i)/phases) * d.Dt
				d.Force = append(d.Force, sign*2*at)
				d.Position = append(d.Position, sign*max(0, at-0.2))
			}
			recs = append(recs, d)
		}
		for _, substeps := range []int{1, 3} {
			releases(t, recs, substeps)
		}
	}
}

func releases(t *testing.T, recs []*record.Record, substeps int) {
	t.Helper()
	phases := len(recs)
	m, err := New(Spec{Law: "static-coulomb-viscous", Rotary: true, Drive: Force, Initial: Rest, Substeps: substeps}, recs)
	if err != nil {
		t.Fatal(err)
	}
	params := m.Params()
	for i := range params {
		p := &params[i]
		p.Fixed = p.Name != "Fs"
		if v, ok := map[string]float64{"J": 0.012, "Fc": 0.25, "Fs": 0.42, "Fv": 0.3, "delta": 1}[p.Name]; ok {
			p.Value = v
		} else if p.Name != "lag" && fit.IsState(p.Name) {
			p.Value = 0
		}
		p.Lo, p.Hi = min(p.Lo, p.Value), max(p.Hi, p.Value)
	}
	p, err := m.Problem(params)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Params) != 1 {
		t.Fatalf("%d free parameters, want Fs", len(p.Params))
	}
	columns, st := p.NewEvaluator().(fit.Differentiable).Columns([]float64{0.42})
	if st != 0 {
		t.Fatal(st)
	}
	up, down := make([]float64, p.Rows), make([]float64, p.Rows)
	const step = 0.01 // N·m, one interval of the force
	plain := p.NewEvaluator()
	plain.Residuals([]float64{0.42 + step}, up)
	plain.Residuals([]float64{0.42 - step}, down)
	rows := p.Rows / phases
	var ends, own []float64
	for i := range phases {
		last := (i+1)*rows - 1
		ends = append(ends, (up[last]-down[last])/(2*step))
		own = append(own, columns[0][last])
	}
	want, got := stat.Mean(ends, nil), stat.Mean(own, nil)
	if !(math.Abs(got-want) <= 0.02*math.Abs(want)) || want == 0 {
		t.Errorf("%d steps: mean displacement by the level %.5g rad/(N·m), by differences %.5g", substeps, got, want)
	}
}
