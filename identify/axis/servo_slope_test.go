package axis

import (
	"math"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// made is the record that a contact of known numbers gives in a controller which follows ref (m), with an added force where
// pulse is not nil.
func made(t testing.TB, spec Spec, values map[string]float64, ref, pulse []float64) *record.Record {
	t.Helper()
	const h = 1e-3
	n := len(ref)
	d := &record.Record{Dt: h, Reference: ref, Position: ref, Force: make([]float64, n)}
	spec.Drive, spec.Output, spec.Decimate, spec.Initial = Servo, Command, 1, Rest
	l := &Loop{spec: spec, pieces: []*record.Record{d}, starts: []start{{x: ref[0]}}, pulses: []pulses{{drive: d.Force, asked: d.Force, force: pulse}}}
	var all []fit.Param
	for _, p := range l.Params() {
		if x, ok := values[p.Name]; ok {
			p.Value = x
		}
		p.Fixed = true
		all = append(all, p)
	}
	e := l.evaluator(all, 1)
	if st := e.Residuals(nil, make([]float64, n)); st != 0 {
		t.Fatal(st)
	}
	k := &e.tracks[0]
	return &record.Record{Dt: h, Reference: ref, Position: k.x[k.pad : k.pad+n], Force: k.u}
}

// sweep is a path that reverses often, m. It begins gently.
func sweep(seconds float64) []float64 {
	ref := make([]float64, int(seconds*1000))
	for k := range ref {
		at := float64(k) * 1e-3
		grow := 1 - math.Exp(-at*at/0.02)
		ref[k] = grow * (0.02*math.Sin(2*math.Pi*0.9*at) + 0.004*math.Sin(2*math.Pi*3.1*at))
	}
	return ref
}

// Sensitivities agree with central differences of the plain simulation, in every variant of the loop.
func TestSensitivities(t *testing.T) {
	servo := empsController()
	late := *servo
	late.Delay, late.Mean = 2, 3
	tight := *servo
	tight.Limit = 2.5
	pulse := make([]float64, 1000)
	for k := 300; k < 400; k++ {
		pulse[k] = 40
	}
	base := map[string]float64{"M": 95, "Fc": 20, "Fs": 24, "Fc+": 20, "Fc-": 22, "dFs": 4, "vs": 0.01, "sigma0": 1e6, "sigma1": 3000, "zeta": 0.15,
		"sigma2": 200, "sigma2+": 170, "sigma2-": 240, "offset": -3}
	for _, c := range []struct {
		name string
		spec Spec
		set  map[string]float64
		zeta bool

		pulse []float64
	}{
		{"both directions alike", Spec{Terms: []string{"offset"}, Controller: servo}, map[string]float64{"lag": 0.2e-3}, false, nil},
		{"by direction", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.2e-3}, false, nil},
		{"before its stamp", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.8e-3}, false, nil},
		{"far before its stamp, linear hold", Spec{Asymmetric: true, Controller: servo, LinearHold: true}, map[string]float64{"lag": -0.7e-3}, true, nil},
		{"pulses", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.8e-3}, false, pulse},
		{"late velocity", Spec{Asymmetric: true, Controller: &late}, map[string]float64{"lag": -1.2e-3}, false, nil},
		{"parts", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"lag": -0.83e-3, "sigma0": 5e8}, true, nil},
		{"saturated", Spec{Asymmetric: true, Controller: &tight}, map[string]float64{"lag": -0.8e-3}, false, nil},
		{"break-away at its lower bound", Spec{Asymmetric: true, Controller: servo}, map[string]float64{"dFs": -21}, false, nil},
		{"free start", Spec{Asymmetric: true, Controller: servo, Initial: Free, Output: Position}, nil, false, nil},
		{"open loop", Spec{Terms: []string{"offset"}, Drive: Force, Output: Position, Initial: Free}, map[string]float64{"lag": 0.3e-3}, true, nil},
		{"open loop, velocity", Spec{Asymmetric: true, Drive: Force, Output: Velocity}, map[string]float64{"lag": -0.7e-3}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Law, c.spec.Decimate = "lugre", 2
			if c.spec.Controller != nil {
				c.spec.Drive = Servo
				if c.spec.Output != Position || c.spec.Initial != Free {
					c.spec.Output = Command
				}
			}
			d := made(t, Spec{Law: "lugre", Asymmetric: true, Controller: servo}, base, sweep(1.25), nil)
			// in motion at the beginning: at rest the derivative with respect to v0 has two sides
			for _, x := range []*[]float64{&d.Position, &d.Force, &d.Reference} {
				*x = (*x)[250:]
			}
			d.Velocity = make([]float64, len(d.Position))
			d.Disturbance = c.pulse
			l, err := NewLoop(c.spec, []*record.Record{d, d})
			if err != nil {
				t.Fatal(err)
			}
			ps := l.Params()
			for i := range ps {
				q := &ps[i]
				if q.Name == "sigma1" && c.zeta {
					q.Name = "zeta"
				}
				q.Fixed = false
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
			e := p.New()
			n := len(p.Params)
			theta := make([]float64, n)
			for j, q := range p.Params {
				theta[j] = q.Value
			}
			r, jac := make([]float64, p.Rows), make([]float64, p.Rows*n)
			if st := e.(fit.Differentiable).Jacobian(theta, r, jac); st != 0 {
				t.Fatal(st)
			}
			up, down := make([]float64, p.Rows), make([]float64, p.Rows)
			for j, q := range p.Params {
				size := math.Abs(q.Value)
				if size == 0 || q.Name == "lag" {
					size = 1e-3
				}
				step := 1e-6 * size
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
				if !(miss <= 1e-6*norm+1e-14) || norm == 0 && q.Name != "dFs" {
					t.Errorf("%s: off by %.2g of its length %.3g", q.Name, math.Sqrt(miss/norm), math.Sqrt(norm))
				}
			}
		})
	}
}
