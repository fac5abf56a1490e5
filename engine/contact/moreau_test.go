package contact_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/lcp"
	"hilrig/engine/plant/toys"
)

// stepper makes an engine for a toy by its name in the registry and with its parameters, at its start.
func stepper(t testing.TB, name string, values map[string]float64, opt contact.MoreauOptions) (m *contact.Moreau, sys toys.Toy, q,
	u []float64) {
	t.Helper()
	info, err := toys.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if sys, err = info.Make(values); err != nil {
		t.Fatal(err)
	}
	if m, err = contact.NewMoreau(sys, opt); err != nil {
		t.Fatal(err)
	}
	q, u = make([]float64, sys.DOF()), make([]float64, sys.DOF())
	sys.Start(q, u)
	return m, sys, q, u
}

// run steps from 0 to end (s) and wants every step to be verified.
func run(t testing.TB, m *contact.Moreau, q, u []float64, end float64) {
	t.Helper()
	h := m.StepLength()
	for k := range int(math.Round(end / h)) {
		if r := m.Step(float64(k)*h, q, u); r.Status != engine.OK {
			t.Fatalf("step %d: %v %v", k, r.Status, r.Solve)
		}
	}
}

// near wants got within tol of want.
func near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, tol)
	}
}

// kinetic is ½uᵀMu.
func kinetic(sys contact.System, q, u []float64) float64 {
	f := len(q)
	m, e := make([]float64, f*f), 0.0
	sys.Mass(0, q, m)
	for i := range f {
		for j := range f {
			e += 0.5 * u[i] * m[i*f+j] * u[j]
		}
	}
	return e
}

func TestMoreauOptionsOutOfRangeAreAllNamed(t *testing.T) {
	sys, _ := toys.NewBall(toys.DefaultBall())
	_, err := contact.NewMoreau(sys, contact.MoreauOptions{Step: math.NaN(), Theta: 0.3, Beta: 2, VTh: math.NaN(), MaxContacts: -1, Reach: -1,
		Impact: contact.Sequential, Positions: true, EndOfStep: true})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"step: NaN", "theta: 0.3", "beta: 2", "vth: NaN", "max contacts: -1", "reach: -1", "impact: sequential",
		"positions:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if _, err := contact.NewMoreau(sys, contact.MoreauOptions{Step: 1e-3, Impact: contact.Poisson, EndOfStep: true}); err == nil {
		t.Error("Poisson's law at the end of the step accepted")
	}
}

// Every option, every toy: no allocation.
func TestStepAllocatesNothing(t *testing.T) {
	for _, info := range toys.Registry {
		for _, opt := range []contact.MoreauOptions{{Step: 1e-3}, {Step: 1e-3, EndOfStep: true}, {Step: 1e-3, Positions: true},
			{Step: 1e-3, Impact: contact.Poisson}} {
			m, _, q, u := stepper(t, info.Name, nil, opt)
			k := 0
			if n := testing.AllocsPerRun(500, func() {
				m.Step(float64(k)*1e-3, q, u)
				k++
			}); n != 0 {
				t.Errorf("%s %+v: %v allocations per step", info.Name, opt, n)
			}
			if m.Degraded+m.NonFiniteSteps+m.DroppedContacts != 0 {
				t.Errorf("%s %+v: %+v", info.Name, opt, m.MoreauCounts)
			}
		}
	}
}

func TestWhatIsNotFiniteIsRefusedAndLeavesTheStateAlone(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for at := range 6 {
			m, _, q, u := stepper(t, "rod", map[string]float64{"start.gap": 0}, contact.MoreauOptions{Step: 1e-3})
			m.Step(0, q, u)
			x := append(slices.Clone(q), u...)
			x[at] = bad
			copy(q, x)
			copy(u, x[3:])
			if r := m.Step(1e-3, q, u); r.Status != engine.NonFinite {
				t.Errorf("%v in %d: %v", bad, at, r.Status)
			}
			for i, v := range append(slices.Clone(q), u...) {
				if v != x[i] && !(v != v && x[i] != x[i]) {
					t.Errorf("%v in %d: coordinate %d moved", bad, at, i)
				}
			}
			if m.NonFiniteSteps != 1 || len(m.ClosedPlaces) != 0 || len(m.Impulse) != 0 {
				t.Errorf("counters %+v", m.MoreauCounts)
			}
		}
		m, _, q, u := stepper(t, "ball", nil, contact.MoreauOptions{Step: 1e-3})
		if r := m.Step(bad, q, u); r.Status != engine.NonFinite {
			t.Errorf("time %v: %v", bad, r.Status)
		}
	}
	// finite at the start, not at the end
	m, _, q, u := stepper(t, "ball", nil, contact.MoreauOptions{Step: 10})
	q[0], u[0] = 1e308, 1e308
	if r := m.Step(0, q, u); r.Status != engine.NonFinite || q[0] != 1e308 || u[0] != 1e308 {
		t.Errorf("overflow: %v, q = %v", r, q)
	}
}

// upside has a mass matrix that is not positive definite.
type upside struct{ toys.Toy }

func (s upside) Mass(t float64, q, m []float64) {
	s.Toy.Mass(t, q, m)
	m[0] = -1
}

func TestMassThatIsNotPositiveIsRefused(t *testing.T) {
	_, sys, q, u := stepper(t, "ball", nil, contact.MoreauOptions{Step: 1e-3})
	m, _ := contact.NewMoreau(upside{sys}, contact.MoreauOptions{Step: 1e-3})
	if r := m.Step(0, q, u); r.Status != engine.NonFinite || m.NonFiniteSteps != 1 {
		t.Errorf("%v", r)
	}
}

// A block with room for one of its two corners: the shallower one is left out, wherever it is listed, which is said and counted.
func TestContactsWithoutRoomAreCounted(t *testing.T) {
	m, _, q, u := stepper(t, "block", map[string]float64{"slope": 0}, contact.MoreauOptions{Step: 1e-3, MaxContacts: 1})
	for k, tilt := range []float64{1e-6, -1e-6} {
		q[0], q[1], q[2] = 0, 0.05-1e-6, tilt
		clear(u)
		if r := m.Step(0, q, u); r.Status != engine.Limited || m.DroppedContacts != int64(k+1) || r.ClosedCount != 1 {
			t.Errorf("%v, left out %d", r, m.DroppedContacts)
		}
		if id := m.Set.ID[m.ClosedPlaces[0]]; id != uint32(k) {
			t.Errorf("tilt %g rad: corner %d was kept", tilt, id)
		}
	}
}

// Two halves of a step length: the impulse expected is half of the last one, and the states hold from the first on.
func TestWarmStartFollowsTheContact(t *testing.T) {
	m, _, q, u := stepper(t, "block", map[string]float64{"slope": 0.2}, contact.MoreauOptions{Step: 1e-3})
	run(t, m, q, u, 0.1)
	before := m.Updates
	m.SetStep(5e-4)
	run(t, m, q, u, 0.1)
	if m.Updates != before {
		t.Errorf("%d updates while nothing changes", m.Updates-before)
	}
	for k := range m.ClosedPlaces {
		if m.State[k] == lcp.Open || m.Impulse[2*k] < 0 {
			t.Errorf("contact %d: %v %v", k, m.State[k], m.Impulse)
		}
	}
	m.Reset()
	if m.Steps != 0 || len(m.ClosedPlaces) != 0 {
		t.Error("Reset leaves something behind")
	}
}

// The engine against one step worked out by hand: a disc with spin that hits the ground, theory's order of a step.
func TestOneStepByHand(t *testing.T) {
	const h, g, r, mass, mu, eps = 1e-3, 9.81, 0.02, 0.1, 0.3, 0.5
	m, _, q, u := stepper(t, "ball", map[string]float64{"start.height": 0, "start.vy": -2, "start.vx": 1, "start.spin": 3},
		contact.MoreauOptions{Step: h})
	m.Step(0, q, u)
	// mid-point gap −0.001: closed; row: ġ_N(u_free) + ε·ġ_N⁻ + β·g/h
	vn, vt := -2-h*g, 1+3*r
	b := vn - eps*2 + 0.2*(-0.5*h*2)/h
	pn := -b * mass
	pt := -mu * pn // slides: mass at the contact is m/(1+1/κ) = m/3
	if stick := -vt * mass / 3; stick > pt {
		pt = stick
	}
	un, ut, spin := vn+pn/mass, 1+pt/mass, 3+pt*r/(0.5*mass*r*r)
	near(t, "P_N", m.Impulse[0], pn, 1e-15)
	near(t, "P_T", m.Impulse[1], pt, 1e-15)
	near(t, "normal velocity", u[1], un, 1e-14)
	near(t, "tangential velocity", u[0], ut, 1e-14)
	near(t, "spin", u[2], spin, 1e-12)
	near(t, "y", q[1], r+h*(0.55*un-0.45*2), 1e-15)
}

// A spring far too stiff for the step rings with −(1−θ)/θ per step and does not grow.
func TestUnresolvedSpringRingsAsThetaSays(t *testing.T) {
	for _, theta := range []float64{0.5, 0.55, 0.75, 1} {
		m, _, q, u := stepper(t, "oscillator", map[string]float64{"stiffness": 1e14, "start.x": 0, "start.v": 1, "contact.mu": 0},
			contact.MoreauOptions{Step: 1e-3, Theta: theta})
		for k := range 6 {
			before := u[0]
			m.Step(float64(k)*1e-3, q, u)
			near(t, "amplification", u[0]/before, -(1-theta)/theta, 1e-4)
			if theta == 1 {
				break
			}
		}
	}
}

// The energy counted is that which the impulses take from the bodies: T(u⁺) − T(u_free), here for rods with u_free = u − h·g. With ε = 0
// and no β it is never positive.
func TestEnergyCountedIsThatOfTheBodies(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	for k := range 30 {
		const h = 1e-3
		opt := contact.MoreauOptions{Step: h}
		eps := 0.8 * r.Float64()
		if k%2 == 0 {
			opt.Beta, eps = -1, 0
		}
		if k%3 == 0 {
			opt.Impact = contact.Poisson
		}
		m, sys, q, u := stepper(t, "rod", map[string]float64{"start.angle": 6*r.Float64() - 3, "start.gap": 0.1 * r.Float64(),
			"start.vx": r.NormFloat64(), "start.spin": 5 * r.NormFloat64(), "ground.mu": r.Float64(), "ground.eps_n": eps}, opt)
		for i := range 1500 {
			free := slices.Clone(u)
			free[1] -= h * 9.81
			before := m.Gained - m.Dissipated
			m.Step(float64(i)*h, q, u)
			if e := kinetic(sys, q, u) - kinetic(sys, q, free); math.Abs(e-(m.Gained-m.Dissipated-before)) > 1e-12 {
				t.Fatalf("run %d, step %d: %g J counted, %g J taken", k, i, m.Gained-m.Dissipated-before, e)
			}
		}
		if opt.Beta < 0 && m.EnergyGains > 0 {
			t.Errorf("run %d: %d gains", k, m.EnergyGains)
		}
	}
}
