package axis

import (
	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// gap knows whether what has been seen of the axis since the last long gap is enough to judge by. Behind one nobody knows what command the
// drive had meanwhile, whether its watchdog took the energy away, or what of the samples that come now is old: for a while nothing counts,
// and then all checks begin anew.
type gap struct {
	unseen  float64 // s  since the newest position
	holdoff float64 // s  so long nothing counts
}

const (
	gapTime    = 50e-3 // s  without a position, or of its age: longer than a late frame or a lost one …
	gapSamples = 5     // … and so many samples
	settleTime = 0.1   // s  behind it: what the drive, its watchdog and the queue of the port need
)

// longGap (s) is how long no position may come of samples every so many s.
func longGap(every float64) float64 { return max(gapTime, gapSamples*every) }

// step takes a tick, dt (s) after the one before, and tells whether nothing counts.
func (g *gap) step(dt float64, p *estimator.Sample, every float64) bool {
	long := longGap(every)
	g.holdoff = max(0, g.holdoff-dt)
	if g.unseen += dt; p.Updated && numeric.IsFinite(p.Value) {
		if g.unseen > long*(1+1e-9) || p.Age > long {
			g.holdoff = max(settleTime, gapSamples*every)
		}
		g.unseen = 0
	}
	return g.holdoff > 0 || g.unseen > long*(1+1e-9)
}
