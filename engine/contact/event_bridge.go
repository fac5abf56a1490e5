package contact

import (
	"errors"
	"math"
	"slices"

	"hilrig/engine"
)

const (
	bridgeWider = 128 // times Bridge that one bridge is long at most
	bridgeTries = 12
	bridgeClean = 1e-12 // s  step that takes depth back alone
)

// bridge leads over what cannot be settled, err, with fixed steps of opt.Bridge, whose contacts are verified: bodies that come to rest on
// each other by ever smaller blows, or stick and slip by turns. It becomes longer where one follows another. Impulses of its contacts are
// those of an event at its end. err stays where it cannot.
func (e *EventDriven) bridge(err error, end float64) error {
	if e.opt.Bridge <= 0 || e.opt.Law == Sequential || !slices.ContainsFunc(bridged, func(cause error) bool { return errors.Is(err, cause) }) {
		return err
	}
	if e.T-e.bridgedTo > 10*e.bridgeTime {
		e.bridgeTime = e.opt.Bridge / 2
	}
	t, q, u := e.T, make([]float64, e.f), make([]float64, e.f)
	e.State(q, u)
	var impulses []ContactForce
	for range bridgeTries {
		e.bridgeTime = min(2*e.bridgeTime, bridgeWider*e.opt.Bridge)
		h := min(e.bridgeTime, end-t)
		n := max(1, int(math.Round(h/e.opt.Bridge)))
		m, bad := NewMoreau(e.sys, MoreauOptions{Step: h / float64(n), Positions: true, Impact: e.opt.Law, Beta: 1})
		if bad != nil || !(h > 0) {
			return err
		}
		for k := range n {
			r := m.Step(t+float64(k)*h/float64(n), q, u)
			if r.Status != engine.OK || m.Overruns > 0 { // nor deeper than a step leaves them
				return err
			}
			impulses = m.Forces(impulses, 1)
		}
		t += h
		m.SetStep(bridgeClean)
		for range bridgeTries {
			m.Step(t, q, u)
		}
		count := e.EventStats
		count.Bridges++
		count.Bridged += h
		failed := e.Start(t, q, u)
		e.EventStats, e.bridgedTo = count, t
		if failed == nil {
			e.event.Impulses, e.event.HasImpulses = append(e.event.Impulses, impulses...), true
			return nil
		}
		if t >= end {
			return failed
		}
	}
	return err
}

// bridged are the causes that another engine may lead over.
var bridged = []error{ErrStorm, ErrNoForces, ErrNoImpulses, ErrPenetration}
