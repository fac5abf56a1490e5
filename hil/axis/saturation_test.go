package axis

import "testing"

// The two limits of the finding, each on both sides, for a command that begins at either limit: so much of the time at a limit, so many
// cycles a second.
func TestSaturation(t *testing.T) {
	for _, c := range []struct {
		name       string
		ticks, at  int // of a half period of 1 ms ticks, and how many of them the command is at its limit
		reference  int // ticks of a half period of the wanted acceleration; 0: none is wanted
		most       float64
		off, found bool
		of         ReferenceOf
	}{
		{name: "25 turns a second, always at a limit", ticks: 40, at: 40, most: 10, found: true},
		{name: "16 turns", ticks: 60, at: 60, most: 10},
		{name: "16 turns, and fewer are borne", ticks: 60, at: 60, most: 5, found: true},
		{name: "at a limit for 0.4 of the time", ticks: 10, at: 4, most: 10},
		{name: "… for 0.7 of it", ticks: 10, at: 7, most: 10, found: true},
		{name: "as often as the reference", ticks: 20, at: 20, reference: 20, most: 10},
		{name: "twice as often", ticks: 10, at: 10, reference: 20, most: 10},
		{name: "four times", ticks: 5, at: 5, reference: 20, most: 10, found: true},
		{name: "not watched", ticks: 10, at: 10, most: 0},
		{name: "not energised", ticks: 10, at: 10, most: 10, off: true},
		{name: "an effort without feedback", ticks: 10, at: 10, most: 10, of: OfEffort},
	} {
		for _, sign := range []float64{1, -1} {
			a := &Axis{dt: 1e-3, s: Spec{RefKind: c.of}}
			a.saturated.maxCycle = c.most
			found, last := false, Finding{}
			for k := range 3000 {
				side := sign * float64(1-2*(k/c.ticks%2))
				wanted := 0.0
				if k%c.ticks < c.at {
					wanted = 5 * side
				}
				if c.reference > 0 {
					a.desiredMotion[2] = float64(1 - 2*(k/c.reference%2))
				}
				var m State
				a.Saturation(Tick{Energised: !c.off}, wanted, -5, 5, &m)
				if m.Finding.Fault != Fine {
					found, last = true, m.Finding
				}
			}
			if found != c.found || found && (last.Fault != Saturated || last.Limit != c.most || last.Value <= c.most) {
				t.Errorf("%s, sign %g: found %v %+v, want %v", c.name, sign, found, last, c.found)
			}
		}
	}

	// one limit alone is no cycle, whichever; the limit of the controller counts like that of the command
	a := &Axis{dt: 1e-3}
	a.saturated.maxCycle = 10
	for _, u := range []float64{7, -7} {
		for k := range 2000 {
			var m State
			a.limited = 0
			if a.Saturation(Tick{Energised: true}, u*float64(k%2), -5, 5, &m); m.Finding.Fault != Fine {
				t.Fatalf("at one limit: %+v", m.Finding)
			}
		}
	}
	for k := range 1000 {
		var m State
		a.limited = int8(1 - 2*(k/5%2))
		if a.Saturation(Tick{Energised: true}, float64(a.limited), -5, 5, &m); m.Finding.Fault == Saturated {
			return
		}
	}
	t.Error("the limit of the controller is not counted")
}
