package friction

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The derivatives of a Trial are those of its differences, for both schemes, sliding, creeping and turning.
func TestSlopesOfATrial(t *testing.T) {
	bristle := LuGre{Sigma0: 2e5, Sigma1: 400, Sigma2: 3, Fc: 2, Fs: 3, Vs: 0.01, Vd: 0.05, Offset: 0.3, N0: 4}
	slopesOfATrial(t, &bristle, 0)
	for _, zba := range []float64{0.4, 0.9} { // its rate is a difference of deflections over a path: nothing but rounding over the shortest
		slopesOfATrial(t, &ElastoPlastic{Bristle: bristle, Zba: zba}, 1e-5)
	}
}

type slopedModel interface {
	Sloped
	Model
}

func slopesOfATrial(t *testing.T, law slopedModel, shortest float64) {
	rng := rand.New(rand.NewPCG(1, 9))
	at := Bind(law)
	for _, scheme := range []Scheme{Midpoint, Implicit} {
		for range 300 {
			in := Input{Dt: math.Max(1e-3*math.Exp(3*rng.NormFloat64()), shortest), V: 0.02 * rng.NormFloat64() * math.Exp(2*rng.NormFloat64()),
				N: 5}
			z := [1]float64{1.2e-5 * rng.NormFloat64()}
			d := Slopes{Force: make([]float64, len(at)), State: make([]float64, len(at))}
			law.TrialSlopes(scheme, z[0], in, &d)
			check := func(what string, place *float64, force, state float64) {
				t.Helper()
				x := *place
				step := 1e-6 * math.Abs(x)
				var f, zn [2]float64
				for i, sign := range []float64{1, -1} {
					*place = x + sign*step
					var end [1]float64
					f[i], _ = law.Trial(scheme, z[:], end[:], in)
					zn[i] = end[0]
				}
				*place = x
				df, dz := (f[0]-f[1])/(2*step), (zn[0]-zn[1])/(2*step)
				if tol := 1e-4*math.Abs(force) + 1e-8*(math.Abs(f[0])+1)/math.Abs(x); math.Abs(df-force) > tol {
					t.Errorf("%v, v %g, h %g: force by %s %g, by differences %g", scheme, in.V, in.Dt, what, force, df)
				}
				if tol := 1e-4*math.Abs(state) + 1e-8*(math.Abs(zn[0])+1e-5)/math.Abs(x); math.Abs(dz-state) > tol {
					t.Errorf("%v, v %g, h %g: state by %s %g, by differences %g", scheme, in.V, in.Dt, what, state, dz)
				}
			}
			check("z", &z[0], d.ForceZ, d.StateZ)
			check("v", &in.V, d.ForceV, d.StateV)
			for i, p := range law.Params() {
				check(p.Name, at[i], d.Force[i], d.State[i])
			}
		}
	}
}
