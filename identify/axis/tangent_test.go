package axis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The variational equations agree with central differences of the simulation itself, in every variant.
func TestTangents(t *testing.T) {
	servo := empsController()
	late := *servo
	late.Delay, late.Mean = 2, 3
	tight := *servo
	tight.Limit = 2.5
	pulse := make([]float64, 1000)
	for k := 300; k < 400; k++ {
		pulse[k] = 40
	}
	base := map[string]float64{"M": 95, "Fc": 20, "Fs": 24, "Fc+": 20, "Fc-": 22, "dFs": 4, "vs": 0.01, "sigma0": 1e6, "sigma1": 3000,
		"sigma2": 200, "Fv": 200, "Fv+": 170, "Fv-": 240, "sigma2+": 170, "sigma2-": 240, "offset": -3}
	for _, c := range []struct {
		name  string
		spec  Spec
		set   map[string]float64
		pulse []float64
		led   bool
	}{
		{"both directions alike", Spec{Terms: []string{"offset"}, Controller: servo}, map[string]float64{"lag": 0.23e-3}, nil, false},
		{"by direction", Spec{Asymmetric: true, Controller: servo, Substeps: 3}, map[string]float64{"lag": -0.2e-3}, nil, false},
		{"before its stamp", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.83e-3}, nil, false},
		{"far before its stamp, linear hold", Spec{Asymmetric: true, Controller: servo, Hold: Linear, Substeps: 2},
			map[string]float64{"lag": -0.7e-3}, nil, false},
		{"pulses", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.83e-3}, pulse, false},
		{"late velocity", Spec{Asymmetric: true, Controller: &late, Substeps: 2}, map[string]float64{"lag": -1.2e-3}, nil, false},
		{"implicit", Spec{Asymmetric: true, Controller: servo, Scheme: friction.Implicit, Substeps: 2}, map[string]float64{"lag": 0.2e-3}, nil,
			false},
		{"saturated", Spec{Asymmetric: true, Controller: &tight}, map[string]float64{"lag": -0.83e-3}, nil, false},
		{"free start", Spec{Asymmetric: true, Controller: servo, Initial: Free, Output: Position}, map[string]float64{"lag": 0.1e-3}, nil, false},
		{"open loop", Spec{Terms: []string{"offset"}, Drive: Force, Output: Position, Initial: Free}, map[string]float64{"lag": 0.3e-3}, nil,
			false},
		{"open loop, velocity", Spec{Asymmetric: true, Drive: Force, Output: Velocity, Substeps: 3}, map[string]float64{"lag": -0.7e-3}, nil,
			false},
		{"open loop, spring and decay", Spec{Terms: []string{"stiffness"}, Drive: Force, Output: Position, Hold: Linear},
			map[string]float64{"k": 300, "lag": 0.1e-3}, nil, false},
		{"stick mode in a controller", Spec{Law: "stribeck-tustin", Terms: []string{"offset"}, Controller: servo},
			map[string]float64{"lag": 0.23e-3}, nil, false},
		{"stick mode by direction, late velocity", Spec{Law: "coulomb", Asymmetric: true, Terms: []string{"viscous"}, Controller: &late,
			Substeps: 2}, map[string]float64{"lag": -1.2e-3}, nil, false},
		{"open loop, led by position", Spec{Terms: []string{"offset"}, Drive: Force, Output: Position, Initial: Free},
			map[string]float64{"lag": 0.3e-3}, nil, true},
		{"open loop, led by velocity", Spec{Asymmetric: true, Drive: Force, Output: Velocity, Hold: Linear}, map[string]float64{"lag": -0.7e-3},
			nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Law, c.spec.Decimate = cmp.Or(c.spec.Law, "lugre"), 2
			if c.spec.Controller != nil {
				c.spec.Drive = Servo
				if c.spec.Output != Position || c.spec.Initial != Free {
					c.spec.Output = Command
				}
			}
			d := made(t, empsContact, sweep(1.25), nil)
			// in motion at the beginning: at rest the derivative with respect to v0 has two sides
			for _, x := range []*[]float64{&d.Position, &d.Force, &d.Reference} {
				*x = (*x)[250:]
			}
			d.Velocity = make([]float64, len(d.Position))
			for k := range d.Velocity {
				d.Velocity[k] = float64(k)
			}
			if c.led {
				d.Velocity, _ = parabolas(d.Position, d.Dt, 5)
			}
			d.Disturbance = c.pulse
			l, err := New(c.spec, []*record.Record{d, d})
			if err != nil {
				t.Fatal(err)
			}
			if c.led {
				l.leading = &leading{noise: 5, sensor: 1e-6}
			}
			ps := l.Params()
			for i := range ps {
				q := &ps[i]
				q.Fixed = q.Name == "vd" || q.Name == "N0" || q.Name == "mu"
				if x, ok := base[q.Name]; ok {
					q.Value = x
				}
				if x, ok := c.set[q.Name]; ok {
					q.Value = x
				}
				q.Lo, q.Hi = min(q.Lo, q.Value-math.Abs(q.Value)/2), max(q.Hi, 2*q.Value)
			}
			p, err := l.Problem(ps)
			if err != nil {
				t.Fatal(err)
			}
			e := p.NewEvaluator()
			n := len(p.Params)
			theta := startOf(p)
			jac, st := jacobianOf(p, e, theta)
			if st != 0 {
				t.Fatal(st)
			}
			if a := testing.AllocsPerRun(5, func() { e.(fit.Differentiable).Columns(theta) }); a != 0 {
				t.Errorf("derivatives allocate %v times", a)
			}
			up, down := make([]float64, p.Rows), make([]float64, p.Rows)
			for j, q := range p.Params {
				size := math.Abs(q.Value)
				if size == 0 || q.Name == "lag" {
					size = 1e-3
				}
				step := 1e-5 * size
				theta[j] = q.Value + step
				e.Residuals(theta, up)
				theta[j] = q.Value - step
				e.Residuals(theta, down)
				theta[j] = q.Value
				if q.Name[0] == 'x' && c.spec.Output == Velocity {
					continue // moves nothing but rounding
				}
				var miss, norm float64
				for k := range up {
					diff := (up[k] - down[k]) / (2 * step)
					miss += (diff - jac[k*n+j]) * (diff - jac[k*n+j])
					norm += diff * diff
				}
				if !(miss <= 1e-5*norm+1e-14) || norm == 0 {
					t.Errorf("%s: off by %.2g of its length %.3g", q.Name, math.Sqrt(miss/norm), math.Sqrt(norm))
				}
			}
		})
	}
}

// plain hides all but residuals and derivatives.
type plain struct{ e fit.Evaluator }

func (p plain) Residuals(theta, r []float64) engine.Status { return p.e.Residuals(theta, r) }
func (p plain) Columns(theta []float64) ([][]float64, engine.Status) {
	return p.e.(fit.Differentiable).Columns(theta)
}

// A descent that gives up trials that have lost makes the same steps, to the last bit, as one that does not, from good starts
// and from bad ones.
func TestTrialsGivenUpChangeNothing(t *testing.T) {
	rec := populationRecord(t, 1500, 2e-4, 2)
	m, err := New(Spec{Law: "lugre", Drive: Force, Output: Velocity}, []*record.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	full, err := m.Problem(populationParams(5, populationOff)[:8])
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range 6 {
		full.Params = slices.Clone(full.Params)
		for j := range full.Params {
			if p := &full.Params[j]; i > 0 {
				p.Value = p.Lo * math.Pow(p.Hi/p.Lo, rng.Float64())
			}
		}
		hidden := *full
		hidden.NewEvaluator = func() fit.Evaluator { return plain{full.NewEvaluator()} }
		a, errA := fit.LM{}.Fit(t.Context(), full, nil)
		b, errB := fit.LM{}.Fit(t.Context(), &hidden, nil)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		for j := range a.Params {
			if a.Params[j].Value != b.Params[j].Value {
				t.Errorf("start %d: %s is %v, in full %v", i, a.Params[j].Name, a.Params[j].Value, b.Params[j].Value)
			}
		}
		if a.Cost != b.Cost || a.Iterations != b.Iterations || a.Evaluations != b.Evaluations || !slices.Equal(a.Jac, b.Jac) {
			t.Errorf("start %d: cost %v in %d steps, in full %v in %d", i, a.Cost, a.Iterations, b.Cost, b.Iterations)
		}
	}
}

// What a little less force does to the residual is what a simulation under so much less says.
func TestYields(t *testing.T) {
	rec := populationRecord(t, 3000, 2e-4, 1)
	for i, spec := range []Spec{{Output: Velocity, Hold: Held}, {Output: Velocity, Hold: Linear}, {Output: Position, Hold: Held, Substeps: 3},
		{Output: Velocity, Hold: Linear, Substeps: 2, Terms: []string{"stiffness"}}} {
		hold, late := spec.Hold, i > 1
		spec.Law, spec.Terms = "lugre", append(spec.Terms, "offset")
		m, err := New(spec, []*record.Record{rec, rec})
		if err != nil {
			t.Fatal(err)
		}
		params := m.Params()
		for i := range params {
			p := &params[i]
			if x, ok := populationTruth[p.Name]; ok {
				p.Value, p.Lo, p.Hi = x, math.Min(p.Lo, x), math.Max(p.Hi, x)
			}
			if p.Name == "lag" && late { // over the end of a sample
				p.Value = 1.3 * rec.Dt
			}
			p.Fixed = true
		}
		simulate := func(m *Model) []float64 {
			p, err := m.Problem(params)
			if err != nil {
				t.Fatal(err)
			}
			y := make([]float64, p.Rows)
			p.NewEvaluator().Residuals(nil, y)
			return y
		}
		courses := []fit.Course{
			{At: func(row int) float64 { return math.Sin(0.01 * float64(row)) }},
			{At: func(row int) float64 { return float64(row%7) - 3 }},
		}
		var third []int // of the second record
		for k := 3000; k < 6000; k += 3 {
			third = append(third, k)
		}
		own, some := m.Yields(params, courses, nil, 1), m.Yields(params, courses, third, 1)
		const size = 1e-5 // N
		for i, course := range courses {
			push := func(by float64) []float64 {
				return simulate(m.WithLessForce(func(row int) float64 { return by * course.At(row) }))
			}
			up, down := push(size), push(-size)
			off, all := 0.0, 0.0
			for k := range up {
				if at := slices.Index(third, k); at >= 0 && some[i][at] != own[i][k] {
					t.Fatalf("row %d of some: %g, of all %g", k, some[i][at], own[i][k])
				}
				want := (up[k] - down[k]) / (2 * size)
				off, all = off+(own[i][k]-want)*(own[i][k]-want), all+want*want
			}
			if off > 1e-6*all || all == 0 {
				t.Errorf("course %d, %s: off by %.2g of its rms", i, hold, math.Sqrt(off/all))
			}
		}
	}
}
