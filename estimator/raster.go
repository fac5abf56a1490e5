package estimator

import "math"

// raster gives the intervals between samples. The device's own is even, the times at which samples are known to have been
// taken are not: exact to microseconds where the device has a clock, noisy where it has none. So it follows them
// slowly, in phase and in period.
type raster struct {
	t      float64 // ns  time of the newest sample on the device's raster
	period float64 // ns  of the raster; 0: no sample yet
	off2   float64 // ns² slow mean of the squared distance of a sample from the raster
	fitted float64 // samples so far of a raster that is a straight line through all of them at first; 0: one that is slow from the start
}

// advance takes the time of a new sample (ns) and the nominal period (s). It returns the interval (s) since the sample before, a
// whole number of periods of the raster, and whether samples in between were lost. A sample is at least one period younger than
// the one before, and a late one is not yet a lost one. After a clock that jumped back the interval is negative.
func (s *raster) advance(at int64, nominal float64) (dt float64, lost bool) {
	const pull, drift = 0.02, 0.02 * 0.02 / 2
	t := float64(at)
	if s.period == 0 {
		s.t, s.period = t, nominal*1e9
		return 0, false
	}
	n := max(1, math.Round((t-s.t)/s.period-0.25))
	dt = n * s.period
	s.t += dt
	d := t - s.t
	s.off2 += (min(d*d, 25*s.period*s.period) - s.off2) * pull / 2
	switch {
	case math.Abs(d) > 5*s.period:
		s.t, dt, s.fitted = t, dt+d, min(s.fitted, 1)
	default:
		phase, rate := pull, drift
		if k := s.fitted + 1; s.fitted > 0 {
			// the growing least squares of a line through k points, until they are as slow
			s.fitted = k
			phase, rate = max(pull, 2*(2*k-1)/(k*(k+1))), max(drift, 6/(k*(k+1)))
		}
		s.t += phase * d
		s.period += rate * d / n
		s.period = max(0.95*nominal*1e9, min(1.05*nominal*1e9, s.period)) // a bad oscillator is 3 % off
	}
	return dt * 1e-9, n > 1
}
