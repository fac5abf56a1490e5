package bristle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// rigid is what the fast part of a motion says of inertia and friction without bristles: u ≈ M·a + Fc·sgn v + σ2·v + offset.
type rigid struct {
	mass, fc, offset float64
	vmax             float64 // m/s, but for a thousandth of the samples
}

// regress fits the samples above 30 % of the largest speed.
func (s *search) regress() (*rigid, error) {
	mo := s.mo
	speeds := mo.at(mo.v)
	for i, v := range speeds {
		speeds[i] = math.Abs(v)
	}
	r := &rigid{vmax: numeric.QuantileInPlace(speeds, 0.999)}
	f := numeric.NewFactor(4)
	for _, k := range mo.rows {
		if math.Abs(mo.v[k]) >= 0.3*r.vmax {
			f.Add([]float64{mo.a[k], math.Copysign(1, mo.v[k]), mo.v[k], 1}, mo.u[k])
		}
	}
	var b [4]float64
	if err := f.Solve(b[:]); err != nil || !numeric.AllFinite(b[:]...) {
		return nil, fmt.Errorf("inertia, friction and offset cannot be told apart in the fast part of the motion")
	}
	r.mass, r.fc, r.offset = b[0], b[1], b[3]
	return r, nil
}

// dissipates refuses a record in which friction would drive the axis: its power (u − M·a − offset)·v, summed over twenty
// stretches, is negative in nearly all of them. The bounds of the parameters would hide that.
func (s *search) dissipates(rec *record.Record, f *rigid) error {
	const stretches = 20
	var work [stretches]float64
	mo := s.mo
	mass := max(f.mass, 0)
	for i, k := range mo.rows {
		work[i*stretches/len(mo.rows)] += (mo.u[k] - mass*mo.a[k] - f.offset) * mo.v[k]
	}
	sum, size := 0.0, 0.0
	for _, w := range work {
		sum += w
		size += math.Abs(w)
	}
	if sum >= -0.8*size || size == 0 {
		return nil
	}
	if f.mass < 0 {
		return rec.Fail(0, "Turn the sign of the force or of the position in data.columns.",
			"the force has the wrong sign: inertia and friction come out negative (%.3g %s, %.3g %s)", f.mass, s.m.params[s.m.places[inertia]].Unit,
			f.fc, s.m.unit[1])
	}
	return rec.Fail(0, "Is this the force of the drive on the axis, positive in the direction of positive position? A command that a "+
		"compensation of friction is added to later is not.",
		"friction comes out negative (%.3g %s): under this force the contact would drive the axis", f.fc, s.m.unit[1])
}

// guess is the cold start: Coulomb and viscous friction from the fast part of the motion, the break-away level from the
// largest friction seen, and a grid of stiffness and Stribeck velocity in which every point is solved for the linear
// parameters. It returns the best points first.
func (s *search) guess(ctx context.Context, fast *rigid) ([]theta, error) {
	mo := s.mo
	mass, fc, off, vmax := fast.mass, fast.fc, fast.offset, fast.vmax
	friction := make([]float64, len(mo.rows))
	for i, k := range mo.rows {
		friction[i] = math.Abs(mo.u[k] - mass*mo.a[k] - off)
	}
	fs := numeric.QuantileInPlace(friction, 0.995)
	if !(fc > 0.02*fs) { // a viscous axis, or one that hardly slides
		fc = 0.3 * fs
	}
	fs = max(fs, 1.05*fc)

	// deflections at break-away from what the encoder resolves to a part of the range
	var points []theta
	for z := 10 * s.d.noise; len(points) < 128 && z < s.farthest(); z *= 4 {
		for _, share := range []float64{0.02, 0.06, 0.2, 0.6} {
			for _, level := range []float64{fs, 0.6 * fc} { // weaker in motion, or stronger
				t := s.m.start
				for i, v := range map[int]float64{inertia: max(mass, 0), sigma0: fs / z, coulomb: fc, breakout: level, stribeck: share * vmax,
					offset: off} {
					if s.m.isFree[i] {
						t[i] = v
					}
				}
				if level == fs && s.m.isFree[coulomb] && t[coulomb] >= t[breakout] {
					t[coulomb] = 0.7 * t[breakout]
				}
				s.m.clip(&t)
				if t[breakout] < t[coulomb] && !s.m.isFree[breakout] {
					continue
				}
				points = append(points, t)
			}
		}
	}
	p := newProjector(mo, s.m)
	cost := make([]float64, len(points))
	order := make([]int, len(points))
	for i := range points {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost[i], order[i] = p.solve(&points[i]), i
	}
	s.trials += len(points)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	best := make([]theta, len(points))
	for i, k := range order {
		best[i] = points[k]
	}
	return best, nil
}

// farthest is the largest deflection at break-away that is looked at: an eighth of the motion, or more than all of it where
// the contact is not to slide.
func (s *search) farthest() float64 {
	if s.m.presliding {
		return 20 * s.d.reach
	}
	return s.d.reach / 8
}
