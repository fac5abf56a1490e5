package bristle

import (
	"fmt"
	"math"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// fineness is how many counts of the encoder, or deviations of its noise times √12, the break-away deflection Fs/σ0 must
// have for the stiffness and damping of the bristles to be seen.
const fineness = 3

// resolved refuses σ0 and σ1 where the encoder does not resolve presliding.
func resolved(m *model, d *data, t *theta, s *fit.Solution) {
	if !m.isFree[sigma0] && !m.isFree[sigma1] {
		return
	}
	count := math.Max(d.quantum, math.Sqrt(12)*d.noise)
	reach := t[breakout] / t[sigma0]
	if reach >= fineness*count {
		return
	}
	why := fmt.Sprintf("presliding is not represented: the contact breaks away after about %.2g %s, the position is known to %.2g %s", reach, m.unit[0], count, m.unit[0])
	for _, i := range []int{sigma0, sigma1} {
		if m.isFree[i] {
			s.Refused = append(s.Refused, fit.Indistinct{Names: []string{m.name(i)}, Why: why,
				Advice: fmt.Sprintf("use a sensor with a count below %.2g %s, or fix the parameter: levels and inertia need it only roughly", reach/10, m.unit[0])})
		}
	}
}

// slides refuses a record in which the contact hardly slides under the parameters that were found.
func (f *smoothed) slides(rec *record.Record, m *model) error {
	p := newProjector(f.mo, m)
	p.bristleForce(&f.theta, p.zeta, p.rate)
	sliding := 0
	for _, k := range p.rows {
		r := p.v[k] / f.theta[stribeck]
		g := f.theta[coulomb] + (f.theta[breakout]-f.theta[coulomb])*math.Exp(-r*r)
		if math.Abs(p.zeta[k]) > 0.9*g {
			sliding++
		}
	}
	if share := float64(sliding) / float64(len(p.rows)); share < 0.02 {
		return rec.Fail(0, "Fit it with the presliding-linear method, or drive the axis until it slides.",
			"the contact slides in %.1f %% of the samples only: its levels cannot be told", 100*share)
	}
	return nil
}
