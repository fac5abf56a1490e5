package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

// driven runs a toy in the event-driven engine to end (s).
func driven(t testing.TB, sys toys.Toy, opt contact.EventOptions, end float64,
	visit func(*contact.EventDriven) bool) (e *contact.EventDriven, q, u []float64) {
	t.Helper()
	e, err := contact.NewEventDriven(sys, opt)
	if err != nil {
		t.Fatal(err)
	}
	q, u = make([]float64, sys.DOF()), make([]float64, sys.DOF())
	sys.Start(q, u)
	if err := e.Start(0, q, u); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(end, visit); err != nil {
		t.Fatal(err)
	}
	e.State(q, u)
	return e, q, u
}

// The same motion in both engines: the difference at the end is of first order in the fixed step.
func TestBothEnginesAgree(t *testing.T) {
	for _, c := range []struct {
		name, toy string
		values    map[string]float64
		end       float64
		tol       float64 // at h = 10 µs, in m, m/s, rad, rad/s
	}{
		{"ball with spin bounces and rolls", "ball", map[string]float64{"start.spin": 60, "start.vx": 0.3, "ground.eps_n": 0.5}, 0.75, 1e-4},
		{"block tips over and falls flat", "block", map[string]float64{"slope": 0.35, "ground.mu": 0.9, "width": 0.03}, 0.35, 3e-4},
		{"block slides", "block", map[string]float64{"slope": 0.5}, 0.3, 1e-6},
		{"oscillator", "oscillator", nil, 1.2, 5e-6},
		{"oscillator on a belt", "oscillator", map[string]float64{"belt": 0.15, "start.x": 0}, 1.5, 2e-5},
		{"rod falls, hits, slides", "rod", map[string]float64{"ground.eps_n": 0}, 0.33, 1e-4},
		{"rod slides down", "rod", map[string]float64{"start.gap": 0, "start.angle": 0.8, "start.spin": 0, "start.vx": 0, "ground.eps_n": 0},
			0.4, 1e-4},
		{"rod rebounds", "rod", map[string]float64{"ground.mu": 0.6}, 0.3, 5e-4},
		{"discs", "discs", nil, 0.3, 1e-3},
		{"chain", "chain", map[string]float64{"balls": 5, "ratio": 0.8, "gap": 0.01, "pair.eps_n": 0.7}, 0.2, 1e-4},
		{"woodpecker", "woodpecker", nil, 0.3, 4e-2},
		{"slider on a smooth wheel", "wheel", map[string]float64{"rz": 0, "spacing": 1e-4, "eccentricity": 2e-5, "speed": 20}, 0.05, 1e-3},
	} {
		var errs [2]float64
		var events contact.EventStats
		for k, h := range []float64{8e-5, 1e-5} {
			m, sys, q, u := stepper(t, c.toy, c.values, contact.MoreauOptions{Step: h, Impact: contact.Poisson, Beta: -1, VTh: 1e-6})
			run(t, m, q, u, c.end)
			e, eq, eu := driven(t, sys, contact.EventOptions{VTh: 1e-6}, c.end, nil)
			events = e.EventStats
			for j := range q {
				errs[k] = max(errs[k], math.Abs(q[j]-eq[j]), math.Abs(u[j]-eu[j]))
			}
		}
		t.Logf("%-33s %.1e at 80 µs, %.1e at 10 µs; events: %d closings %d slips %d stops %d detachments %d kinks", c.name, errs[0], errs[1],
			events.Closings, events.Slips, events.Stops, events.Detachments, events.Kinks)
		if errs[1] > c.tol || errs[1] > 0.6*errs[0] {
			t.Errorf("%s: differences %.2e", c.name, errs)
		}
	}
}

// wheelRun steps a slider on a wheel through whole turns and returns, after the first ones, the means of side force λ_T, of λ_N and y,
// the part of λ_N in phase with cos ωt, the largest gap at the end of a step, and the share of steps without force.
func wheelRun(t *testing.T, values map[string]float64, turns int) (ft, fn, y, wave, gap, open float64) {
	t.Helper()
	const per = 1000 // steps per turn
	speed := 100 * math.Pi
	h := 2 * math.Pi / speed / per
	m, _, q, u := stepper(t, "wheel", values, contact.MoreauOptions{Step: h, Positions: true})
	set, n := contact.NewSet(4, 2), 0.0
	info, _ := toys.Find("wheel")
	probe, err := info.Make(values)
	if err != nil {
		t.Fatal(err)
	}
	for k := range turns * per {
		now := float64(k) * h
		m.Step(now, q, u)
		if k < 20*per {
			continue
		}
		n++
		y += q[1]
		probe.Contacts(now+h, q, u, math.Inf(1), set)
		gap = max(gap, set.Gap[0])
		if len(m.ClosedPlaces) == 0 || m.Impulse[0] == 0 {
			open++
			continue
		}
		fn += m.Impulse[0] / h
		ft += m.Impulse[1] / h
		// the crest is under the slider at ωt = 90°
		wave += 2 * m.Impulse[0] / h * math.Sin(speed*(now+0.5*h))
	}
	if m.Degraded+m.DroppedContacts+m.NonFiniteSteps > 0 {
		t.Errorf("%+v", m.MoreauCounts)
	}
	return ft / n, fn / n, y / n, wave / n, gap, open / n
}

// A smooth eccentric wheel presses with F₀ + (k − mω²)·e·cos and throws the slider off where that would pull; over a rough one
// the means balance, whatever the slider does in between.
func TestSliderOnAWheel(t *testing.T) {
	om := 100 * math.Pi
	base := map[string]float64{"rz": 0, "spacing": 2e-5, "damping": 0, "wheel.mu": 0, "wheel.eps_n": 0}
	with := func(more map[string]float64) map[string]float64 {
		out := map[string]float64{}
		for k, v := range base {
			out[k] = v
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	const e = 5e-5
	_, fn, _, wave, gap, _ := wheelRun(t, with(map[string]float64{"eccentricity": e, "press": 0.05}), 60)
	near(t, "smooth: mean force", fn, 0.05, 2e-4)
	near(t, "smooth: force that goes round", wave, (200-0.004*om*om)*e, 2e-4)
	near(t, "smooth: largest gap", gap, 0, 2e-6) // hops over the vertices
	limit := (0.004*om*om - 200) * e
	for _, c := range []struct {
		press float64
		flies bool
	}{{2 * limit, false}, {0.5 * limit, true}} {
		_, _, _, _, gap, _ := wheelRun(t, with(map[string]float64{"eccentricity": e, "press": c.press}), 60)
		t.Logf("smooth: pressed with %g of the limit: gaps to %.2g m", c.press/limit, gap)
		if flies := gap > 5e-6; flies != c.flies {
			t.Errorf("pressed with %.3g of the limit: gaps to %.2g m", c.press/limit, gap)
		}
	}
	for _, speed := range []float64{om, -om} {
		ft, fn, y, _, _, open := wheelRun(t, map[string]float64{"speed": speed, "corr": 5e-4}, 120)
		t.Logf("rough at %+.0f rad/s: λ_N %.4f N, λ_T %+.4f N, without force %.2f of the steps", speed, fn, ft, open)
		near(t, "rough: mean force against spring", fn, 2.5+200*y, 0.01)
		near(t, "rough: friction", ft, -math.Copysign(0.2*fn, speed), 1e-6)
		if open < 0.02 || open > 0.9 {
			t.Errorf("without force in %g of the steps", open)
		}
	}
}
