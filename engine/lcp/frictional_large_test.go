package lcp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Strong friction lets impulses grow to millions of times what the velocities ask for, and scales that differ from row to row make
// D all but unreadable: what is called verified is so in exact arithmetic, and the residual is the one reported.
func TestFrictionVerifiedIsTrueOfLargeImpulses(t *testing.T) {
	for _, c := range []struct {
		name   string
		decade float64 // of the scales
		far    float64 // impulses that have to occur, in σ/√D
	}{{"friction up to 500", 0, 1e6}, {"rows six decades apart", 3, 1e3}, {"rows twelve decades apart", 6, 1e3}} {
		verified, far := 0, 0.0
		for i := range 6000 {
			r := rand.New(rand.NewPCG(uint64(i), 77))
			n := 1 + r.IntN(10)
			q := rods(r, n, 1+r.IntN(8))
			strong, push := 480.0, 0.0
			if i%2 == 0 {
				strong = math.Pow(500, r.Float64())
			}
			if i%3 < 2 {
				push = math.Copysign(math.Pow(10, 4*r.Float64()-3), float64(i%3)-0.5)
			}
			for k := range q.mu {
				q.mu[k] *= strong
				q.b[2*k] += push
			}
			for k := range q.b {
				s := math.Pow(10, c.decade*(2*r.Float64()-1))
				q.b[k] *= s
				for j := range q.b {
					q.d[k*2*n+j] *= s
					q.d[j*2*n+k] *= s
				}
			}
			st, p := make([]State, n), make([]float64, 2*n)
			res := q.solved(t, NewFrictional(n), st, p)
			if res.Status != Verified {
				continue
			}
			verified++
			if e := q.misfit(p); math.Abs(e-res.Residual) > 1e-12 {
				t.Errorf("problem %d: residual %g, exactly %g", i, res.Residual, e)
			}
			sigma, most := 0.0, 0.0
			for k, b := range q.b {
				d := math.Sqrt(q.d[k*2*n+k])
				sigma, most = max(sigma, math.Abs(b)/d), max(most, math.Abs(p[k])*d)
			}
			far = max(far, most/sigma)
		}
		t.Logf("%s: %d of 6000 verified, impulses up to %.1g", c.name, verified, far)
		if verified < 3000 || far < c.far {
			t.Errorf("%s: %d verified, impulses up to %g: shows nothing", c.name, verified, far)
		}
	}
}
