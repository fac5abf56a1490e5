package fit

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/peer"
)

func TestLossesBySeries(t *testing.T) {
	for _, l := range []Loss{{}, {SoftL1, 2}, {Huber, 2}, {Cauchy, 2}} {
		w := make([]float64, 1)
		for _, r := range []float64{0, 1e-9, 0.3, -1.9, 2.1, -40, 1e8} {
			// small residuals count as squares, and the weight is the slope of the cost: d cost/dr = ρ'·r
			if c := l.Cost([]float64{r}); math.Abs(r) < 1e-3 && math.Abs(c-r*r/2) > 1e-12*r*r {
				t.Errorf("%s: cost of %g is %g, want %g", l.Kind, r, c, r*r/2)
			}
			h := 1e-5 * max(1, math.Abs(r))
			slope := (l.Cost([]float64{r + h}) - l.Cost([]float64{r - h})) / (2 * h)
			if l.Roots([]float64{r}, w); math.Abs(w[0]*w[0]*r-slope) > 1e-6*max(1e-3, math.Abs(slope)) {
				t.Errorf("%s at %g: weight·r %g, slope %g", l.Kind, r, w[0]*w[0]*r, slope)
			}
		}
		if c := l.Cost([]float64{1, math.NaN()}); !math.IsInf(c, 1) {
			t.Errorf("%s: the cost of NaN is %g", l.Kind, c)
		}
	}
	if err := (Loss{Kind: Huber}).Check(); err == nil || !strings.Contains(err.Error(), "scale 0") {
		t.Error(err)
	}
	if err := (Loss{Kind: Cauchy + 1, Scale: 1}).Check(); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Error(err)
	}
	if err := (Loss{}).Check(); err != nil {
		t.Error(err)
	}
}

// peerCase is a case for testdata/least_squares.py.
type peerCase struct {
	Model string     `json:"model"`
	T     []float64  `json:"t"`
	Y     []float64  `json:"y"`
	Start []float64  `json:"start"`
	Lo    []*float64 `json:"lo"`
	Hi    []*float64 `json:"hi"`
	Loss  string     `json:"loss"`
	Scale float64    `json:"scale"`
	kind  LossKind
}

func decay(t float64, q []float64) float64 { return q[0]*math.Exp(-t*q[1]) + q[2] }

func stribeck(v float64, q []float64) float64 {
	return (q[0]+q[1]*math.Exp(-v/q[2]*v/q[2]))*numeric.Sign(v) + q[3]*v
}

var peerModels = map[string]func(float64, []float64) float64{"decay": decay, "stribeck": stribeck}

func peers() (cases []*peerCase) {
	rng := rand.New(rand.NewPCG(11, 4))
	at := func(v float64) *float64 { return &v }
	for kind, loss := range []string{"linear", "soft_l1", "huber", "cauchy"} {
		for _, bounded := range []bool{false, true} {
			// a decay with one row in ten far off
			c := &peerCase{Model: "decay", Start: []float64{1, 0.5, 0.1}, Loss: loss, Scale: 0.1, kind: LossKind(kind), Lo: make([]*float64, 3),
				Hi: make([]*float64, 3)}
			for k := range 60 {
				t := 0.1 * float64(k)
				y := decay(t, []float64{3, 1.3, 0.5}) + 0.05*rng.NormFloat64()
				if k%10 == 3 {
					y += 2 * rng.Float64()
				}
				c.T, c.Y = append(c.T, t), append(c.Y, y)
			}
			if bounded { // the estimate of the rate is above its bound, the others are free
				c.Lo[0], c.Lo[1], c.Lo[2] = at(0.1), at(0.1), at(0.01)
				c.Hi[0], c.Hi[1], c.Hi[2] = at(10), at(1.1), at(10)
			}
			cases = append(cases, c)

			// friction over velocity, both directions
			c = &peerCase{Model: "stribeck", Start: []float64{5, 5, 0.02, 10}, Loss: loss, Scale: 0.5, kind: LossKind(kind),
				Lo: make([]*float64, 4), Hi: make([]*float64, 4)}
			for k := range 80 {
				v := numeric.Sign(float64(k%2)-0.5) * 0.001 * math.Pow(1.08, float64(k))
				c.T = append(c.T, v)
				c.Y = append(c.Y, stribeck(v, []float64{12, 4, 0.01, 25})+0.3*rng.NormFloat64())
			}
			if bounded { // the excess is above its bound
				for j, q := range c.Start {
					c.Lo[j], c.Hi[j] = at(q/100), at(q*100)
				}
				c.Hi[1], c.Start[1] = at(3), 2
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// Estimates, costs and covariances against those of SciPy, for every loss, with and without bounds, in logarithms and not.
func TestAgreesWithSciPy(t *testing.T) {
	python := peer.Python(t, "scipy")
	cases := peers()
	in, _ := json.Marshal(cases)
	cmd := exec.Command(python, "testdata/least_squares.py")
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, string(err.(*exec.ExitError).Stderr))
	}
	var want []struct {
		Theta []float64
		Cost  float64
		Cov   [][]float64
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}

	for i, c := range cases {
		model := peerModels[c.Model]
		for _, log := range []bool{false, true} {
			params := unbounded(c.Start...)
			for j := range params {
				if c.Lo[j] != nil {
					params[j].Lo, params[j].Hi = *c.Lo[j], *c.Hi[j]
				} else if log {
					params[j].Lo = 1e-12
				}
				params[j].Log = log
			}
			p := problem(len(c.T), func(q, r []float64) {
				for k, u := range c.T {
					r[k] = model(u, q) - c.Y[k]
				}
			}, params...)
			s, err := LM{Loss: Loss{c.kind, c.Scale}}.Fit(context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			cov := covarianceByQR(s)
			bounded := c.Lo[0] != nil
			worst, worstCov := 0.0, 0.0
			n := len(params)
			for j := range n {
				sd := math.Sqrt(want[i].Cov[j][j])
				worst = max(worst, math.Abs(s.Params[j].Value-want[i].Theta[j])/sd)
				for k := range n {
					scale := sd * math.Sqrt(want[i].Cov[k][k])
					worstCov = max(worstCov, math.Abs(cov[j*n+k]-want[i].Cov[j][k])/scale)
				}
			}
			t.Logf("%-8s %-7s bounded %-5v log %-5v: %2d steps, off by %.1e deviations, covariance by %.1e, cost by %.1e, on a bound %v; %s",
				c.Model, c.kind, bounded, log,
				s.Iterations, worst, worstCov, s.Cost/want[i].Cost-1, s.Extra["on_bound"], s.Reason)
			if worst > 2e-3 || worstCov > 1e-3 || math.Abs(s.Cost/want[i].Cost-1) > 1e-6 || !s.Converged {
				t.Errorf("%s %s: %.8g cost %.9g, SciPy %.8g cost %.9g", c.Model, c.kind, Values(s.Params), s.Cost, want[i].Theta, want[i].Cost)
			}
			if on := s.Extra["on_bound"].([]string); bounded != (len(on) == 1 && on[0] == "b") {
				t.Errorf("%s %s: on a bound %v", c.Model, c.kind, on)
			}
		}
	}
}
