package contact_test

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// vice is a body of 1 kg on a line between two walls, width m apart more than the body is wide, which close in with speed.
type vice struct{ width, speed float64 }

func (*vice) DOF() int                           { return 1 }
func (*vice) Mass(_ float64, _, m []float64)     { m[0] = 1 }
func (*vice) Force(_ float64, _, _, f []float64) { f[0] = 0 }

func (v *vice) Contacts(_ float64, q, _ []float64, reach float64, set *contact.Set) {
	set.Clear()
	for k, n := range []float64{1, -1} {
		if gap := v.width/2 + n*q[0]; gap < reach {
			i := set.Add(uint32(k), contact.Law{EpsN: 0.5}, gap)
			set.RowN(i)[0], set.VN[i] = n, -v.speed
		}
	}
}

// A body that is wider than the room between its walls cannot leave both. The step goes without giving penetration back, is
// verified, and says so; nothing of it is an impulse without bound.
func TestContactsThatExcludeEachOtherAreEasedAndCounted(t *testing.T) {
	for _, opt := range []contact.MoreauOptions{{Step: 1e-3}, {Step: 1e-3, EndOfStep: true}, {Step: 1e-3, Impact: contact.Poisson}} {
		m, err := contact.NewMoreau(&vice{width: -1e-4}, opt)
		if err != nil {
			t.Fatal(err)
		}
		q, u := []float64{1e-5}, []float64{-0.02}
		for k := range 10 {
			r := m.Step(float64(k)*1e-3, q, u)
			if r.Status != engine.OK || r.Solve.Eased != 2 || r.Solve.Clash {
				t.Errorf("%+v: %+v", opt, r)
			}
			near(t, "velocity between walls at rest", u[0], 0, 1e-12)
		}
		if m.Eased != 10 || m.Degraded != 0 || m.NoSolution != 0 {
			t.Errorf("%+v: %+v", opt, m.MoreauCounts)
		}
	}
}

// Walls that close in on the body leave no way out: no impulses satisfy both, which is known and counted. The body stays in the middle.
func TestStepsWithoutASolutionAreCountedApart(t *testing.T) {
	for _, opt := range []contact.MoreauOptions{{Step: 1e-3}, {Step: 1e-3, Positions: true}, {Step: 1e-3, Impact: contact.Poisson}} {
		m, err := contact.NewMoreau(&vice{width: -1e-4, speed: 0.1}, opt)
		if err != nil {
			t.Fatal(err)
		}
		q, u := []float64{0}, []float64{0}
		for k := range 10 {
			if r := m.Step(float64(k)*1e-3, q, u); r.Status != engine.NotConverged || !r.Solve.NoSolution || math.Abs(u[0]) > 1e-9 {
				t.Errorf("%+v: %+v, u = %v", opt, r, u)
			}
		}
		if m.Degraded != 10 || m.NoSolution != 10 || m.Eased != 0 {
			t.Errorf("%+v: %+v", opt, m.MoreauCounts)
		}
	}
}
