package curve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// wildSeeds is how many damaged records every method gets; HIL_WILD asks for more.
func wildSeeds() uint64 {
	if n, err := strconv.Atoi(os.Getenv("HIL_WILD")); err == nil {
		return uint64(n)
	}
	return 25
}

// experiments are healthy records, one for every method, in which a damage hides best.
var experiments = map[string]func(r *rand.Rand) *record.Record{
	"static": func(r *rand.Rand) *record.Record { // speeds up and down, 0.3 s each
		d := &record.Record{Dt: 1e-3}
		x := 0.0
		for i := range 16 {
			v := 1e-3 * math.Pow(300, float64(i/2)/7)
			if i%2 == 1 {
				v = -v
			}
			for range 300 {
				f := math.Copysign(3+2*math.Exp(-v*v/1e-4), v) + 12*v + 0.4
				d.Velocity, d.Position, d.Force = append(d.Velocity, v), append(d.Position, x), append(d.Force, f+0.02*r.NormFloat64())
				x += v * d.Dt
			}
		}
		return d
	},
	"presliding": func(r *rand.Rand) *record.Record { // Dahl's curve between ±0.8 of break-away
		d := &record.Record{Dt: 0.01}
		const fs, sigma0, n = 5.0, 1e5, 1500
		x, z, last := 0.0, 0.0, 0.0
		for k := range n {
			u := 0.8 * fs * math.Sin(4*math.Pi*float64(k)/n)
			if s := math.Copysign(1, u-last); u != last {
				x -= s * fs / sigma0 * math.Log((fs-s*u)/(fs-s*z))
				z = u
			}
			last = u
			d.Position, d.Force = append(d.Position, x+1e-7*r.NormFloat64()), append(d.Force, u+0.3+0.01*r.NormFloat64())
		}
		return d
	},
	"velocity-step": func(r *rand.Rand) *record.Record {
		d := &record.Record{Dt: 0.01}
		const a, b, l, mu = 0.01, 0.015, 1e-5, 0.5
		x, theta, x0 := 0.0, 0.0, 0.0
		for i, v := range []float64{1e-5, 1e-4, 2e-5, 5e-5, 1e-5, 2e-4, 1e-4} {
			for k := range int(8 * l / v / d.Dt) {
				if i == 0 && k == 0 {
					theta = -b * math.Log(v/1e-5)
				}
				if k == 0 {
					x0 = x
				}
				end := -b * math.Log(v/1e-5)
				now := end + (theta-end)*math.Exp(-(x-x0)/l)
				d.Velocity, d.Position, d.Load = append(d.Velocity, v), append(d.Position, x), append(d.Load, 10)
				d.Force = append(d.Force, 10*(mu+a*math.Log(v/1e-5)+now+2e-4*r.NormFloat64()))
				x += v * d.Dt
			}
			theta = -b*math.Log(v/1e-5) + (theta+b*math.Log(v/1e-5))*math.Exp(-8)
		}
		return d
	},
}

// damage does something to a record that happens in a laboratory, or that nobody has thought of.
func damage(d *record.Record, r *rand.Rand) (what string) {
	channels := []*[]float64{&d.Force, &d.Position, &d.Velocity, &d.Load}
	c := channels[r.IntN(len(channels))]
	for len(*c) == 0 {
		c = channels[r.IntN(len(channels))]
	}
	x := *c
	each := func(f func(float64) float64) {
		for k := range x {
			x[k] = f(x[k])
		}
	}
	all := func(f func(x []float64) []float64) {
		for _, c := range channels {
			if len(*c) > 0 {
				*c = f(*c)
			}
		}
	}
	n := len(d.Force)
	switch i := r.IntN(16); i {
	case 0:
		m := min(n, 2+r.IntN(40))
		all(func(x []float64) []float64 { return x[:m] })
		return fmt.Sprintf("%d rows", m)
	case 1:
		each(func(float64) float64 { return x[0] })
		return "constant"
	case 2:
		each(func(float64) float64 { return 0 })
		return "zero"
	case 3:
		s := math.Pow(10, 40*r.Float64()-20)
		each(func(a float64) float64 { return a * s })
		return fmt.Sprintf("times %g", s)
	case 4:
		each(func(a float64) float64 { return -a })
		return "sign"
	case 5:
		each(math.Abs)
		return "one direction"
	case 6:
		s := 1e3 * r.NormFloat64()
		each(func(a float64) float64 { return a + s })
		return fmt.Sprintf("plus %g", s)
	case 7:
		for range 1 + r.IntN(5) {
			x[r.IntN(n)] = 1e12 * r.NormFloat64()
		}
		return "wild samples"
	case 8:
		for k := range x {
			x[k] = r.NormFloat64()
		}
		return "noise"
	case 9:
		step := 0.0
		for _, a := range x {
			step = max(step, math.Abs(a)/3)
		}
		if step > 0 {
			each(func(a float64) float64 { return step * math.Round(a/step) })
		}
		return "coarse"
	case 10:
		from, m := r.IntN(n), 1+r.IntN(n)
		all(func(x []float64) []float64 { return x[from:min(n, from+m)] })
		return fmt.Sprintf("rows %d to %d", from, min(n, from+m))
	case 11:
		all(func(x []float64) []float64 { return append(append([]float64(nil), x[n/2:]...), x[:n/2]...) })
		return "halves exchanged"
	case 12:
		d.Dt *= math.Pow(10, 12*r.Float64()-6)
		return "clock"
	case 13:
		hi := 0.0
		for _, a := range x {
			hi = max(hi, a)
		}
		each(func(a float64) float64 { return min(a, 0.3*hi) })
		return "clipped"
	case 14:
		*c = nil
		return "missing"
	case 15:
		for k := range x {
			x[k] = 1e300 * r.NormFloat64()
		}
		return "enormous"
	}
	return "nothing"
}

// Whatever becomes of a record, the methods end with a result whose numbers are finite or with a refusal in words: never with a
// panic, an error without an explanation, or a value that is no number. A record that is damaged twice is no exception.
func TestWildRecords(t *testing.T) {
	results, refusals := 0, 0
	for _, method := range []string{"static", "presliding", "joint", "velocity-step"} {
		for seed := range wildSeeds() {
			r := rand.New(rand.NewPCG(seed, 77))
			recs := identify.Records{}
			made := func(name string) *record.Record {
				d := experiments[name](r)
				d.File = name
				return d
			}
			switch method {
			case "joint":
				recs.Fit, recs.Loop = []*record.Record{made("static")}, []*record.Record{made("presliding")}
			default:
				recs.Fit = []*record.Record{made(method)}
			}
			what := ""
			for range 1 + r.IntN(2) {
				d := recs.Fit[0]
				if recs.Loop != nil && r.IntN(2) == 0 {
					d = recs.Loop[0]
				}
				if len(d.Force) == 0 {
					continue
				}
				what += damage(d, r) + ", "
			}
			plan := identify.Plan{Methods: identify.Chain{identify.Method(method)}, Static: identify.Static{Weights: identify.Weights(r.IntN(3))},
				Model: axis.Spec{Law: []string{"", "lugre", "stribeck-tustin", "stribeck-bo-pavelescu", "coulomb"}[r.IntN(5)],
					Asymmetric: r.IntN(4) == 0 && identify.FindMethod(identify.Method(method)).Sided}}
			plan.Loop.Relaxed = r.IntN(3) == 0
			name := fmt.Sprintf("%s %d (%sweights %d)", method, seed, what, plan.Static.Weights)
			res, err := func() (res *identify.Result, err error) {
				defer func() {
					if p := recover(); p != nil {
						err = fmt.Errorf("panic: %v", p)
					}
				}()
				return identify.Run(context.Background(), plan, recs, nil, nil)
			}()
			var de *record.Error
			var pe *fit.ParamError
			switch {
			case err == nil:
				results++
				for _, p := range res.Parameters {
					if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
						t.Errorf("%s: %s = %g", name, p.Name, p.Value)
					}
				}
				if _, err := json.Marshal(res); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case errors.As(err, &de):
				refusals++
				if de.Hint == "" {
					t.Errorf("%s: %q says no way on", name, err)
				}
			case errors.As(err, &pe):
				t.Errorf("%s: the user gave no parameter, and reads %q", name, err)
			default:
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	t.Logf("%d results, %d refusals", results, refusals)
}
