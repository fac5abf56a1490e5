package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine/numeric"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/stat"
)

// Point is friction at one constant velocity.
type Point struct {
	V       float64 // m/s  mean velocity, with its sign
	F       float64 // N    mean force
	SE      float64 // N    standard error of F; 0: not known
	Loose   bool    //      SE is known but for a factor that all points share
	Drift   float64 // N    change of the force within the mean that chance does not explain, part of SE; 0: none
	Scatter float64 // m/s  standard deviation of the velocity; 0: not known
	N       int     //      samples in the mean; 0: not known
	Source  string  //      which part of which record
}

// PlateauOptions say how stretches of constant velocity are found and averaged. Bristles settle in a travel of 5·g/σ0 (theory
// §9.2); with Settle and Travel 0 the first tenth of a plateau that was found is left out, and nothing with Whole.
type PlateauOptions struct {
	Settle    float64 `yaml:"settle" unit:"s" want:">=0" doc:"left out at the beginning of every plateau"`
	Travel    float64 `yaml:"travel" unit:"m" want:">=0" doc:"left out at the beginning of every plateau, in which bristles settle"`
	Least     float64 `yaml:"least" unit:"s" want:">=0" doc:"shortest plateau; 0: 64 samples"` // not for Whole
	Tolerance float64 `yaml:"tolerance" want:">=0 <=1" doc:"of the velocity within a plateau, as a share of it; 0: 0.05"`
	Period    float64 `yaml:"period" unit:"m" want:">=0" doc:"travel after which cogging or a screw repeats: means are taken over whole ones; 0: none"`
	Whole     bool    `yaml:"-"` // every record is one plateau, as files grouped by a set point are
}

const minSamples = 16 // in a mean with a standard error

// Plateaus averages friction over every stretch of constant velocity: velocity from the recorded one, else from the
// position, standard errors as the force depends on itself (Geyer's sequence). Speeds too slow to tell from rest are left
// out; their direction, and with it the sign of friction, is not known.
func Plateaus(recs []*record.Record, o PlateauOptions) ([]Point, error) {
	o.Tolerance = cmp.Or(o.Tolerance, 0.05)
	if !(o.Tolerance > 0) || o.Tolerance > 0.5 || o.Least < 0 || o.Travel < 0 || o.Settle < 0 || o.Period < 0 {
		return nil, &record.Error{Msg: fmt.Sprintf("plateaus: tolerance %g, shortest %g s, discarded travel %g and time %g s, period %g: want "+
			"0 to 0.5 for the first and none below 0",
			o.Tolerance, o.Least, o.Travel, o.Settle, o.Period)}
	}
	var points []Point
	for _, d := range recs {
		if d.SteadyLevels {
			if err := sane(d, d.Force, d.Velocity, d.ForceError); err != nil {
				return nil, err
			}
			points = append(points, levels(d)...)
			continue
		}
		if err := sane(d, d.Force, d.Velocity, d.Position); err != nil {
			return nil, err
		}
		if len(d.Force) == 0 {
			return nil, d.Fail(0, "Name its column in data.columns.force.", "a static map needs the force")
		}
		v, err := velocityOf(d)
		if err != nil {
			return nil, err
		}
		parts := []stretch{{0, len(v)}}
		if !o.Whole {
			parts = stretches(v, o.Tolerance, max(int(math.Round(o.Least/d.Dt)), 64))
		}
		for i, s := range parts {
			p, ok := o.plateauMean(d, v, s)
			if !ok {
				continue
			}
			p.Source = d.File
			if d.Piece != "" {
				p.Source += " " + d.Piece
			}
			if !o.Whole {
				p.Source += fmt.Sprintf(" plateau %d", i+1)
			}
			points = append(points, p)
		}
	}
	top := 0.0 // fastest
	for _, p := range points {
		top = max(top, math.Abs(p.V))
	}
	points = slices.DeleteFunc(points, func(p Point) bool { // rest
		return !(math.Abs(p.V) > 1e-6*top && math.Abs(p.V) > 4*p.Scatter/math.Sqrt(float64(max(p.N, 1))))
	})
	if len(points) == 0 {
		e := &record.Error{Msg: "no stretch of constant velocity in the data", Hint: "Record the axis at constant speeds, each for several " +
			"seconds; or widen the tolerance of the plateaus."}
		if len(recs) > 0 {
			e.File = recs[0].File
		}
		return nil, e
	}
	return points, nil
}

// levels are the rows of a table of steady friction.
func levels(d *record.Record) []Point {
	points := make([]Point, len(d.Force))
	for k := range points {
		p := Point{V: d.Velocity[k], F: d.Force[k], Source: fmt.Sprintf("%s level %d", strings.TrimSpace(d.File+" "+d.Piece), k+1)}
		if d.ForceError != nil {
			p.SE, p.Loose = d.ForceError[k], d.Count == nil
		}
		if d.Count != nil {
			p.N = int(d.Count[k])
		}
		points[k] = p
	}
	return points
}

// velocityOf is the recorded velocity, else central differences of the position.
func velocityOf(d *record.Record) ([]float64, error) {
	switch {
	case len(d.Velocity) > 0:
		return d.Velocity, nil
	case len(d.Position) < 3:
		return nil, d.Fail(0, "Name one of the columns in data.columns.", "neither velocity nor position")
	}
	return numeric.Slope(d.Position, 1, d.Dt), nil
}

// plateauMean is the mean over a stretch, after what is to be left out. Too short stretches are not ok.
func (o PlateauOptions) plateauMean(d *record.Record, v []float64, s stretch) (Point, bool) {
	// position, or the integral of the velocity
	x := func(k int) float64 { return d.Position[k] }
	if len(d.Position) == 0 {
		sum := make([]float64, s.to-s.from)
		for k := range sum[1:] {
			sum[k+1] = sum[k] + (v[s.from+k]+v[s.from+k+1])/2*d.Dt
		}
		x = func(k int) float64 { return sum[k-s.from] }
	}
	from, to := s.from, s.to
	if o.Travel == 0 && o.Settle == 0 && !o.Whole {
		from += (s.to - s.from) / 10
	} else {
		from += int(math.Ceil(o.Settle / d.Dt))
		for from < to && math.Abs(x(from)-x(s.from)) < o.Travel {
			from++
		}
	}
	if to-from < minSamples {
		return Point{}, false
	}

	// whole periods: the last crossing of one
	if o.Period > 0 {
		way := math.Abs(x(to-1) - x(from))
		if turns := math.Floor(way / o.Period); turns >= 1 {
			for to-2 > from && math.Abs(x(to-2)-x(from)) >= turns*o.Period {
				to--
			}
		}
	}
	n := to - from
	p := Point{N: n}
	p.F, p.SE = meanError(d.Force[from:to])
	// a force that still settles, or that swings more slowly than the stretch lasts
	first, se1 := meanError(d.Force[from : from+n/3])
	last, se2 := meanError(d.Force[to-n/3 : to])
	if drift := last - first; math.Abs(drift) > 5*math.Hypot(se1, se2)+1e-9*math.Abs(p.F) && n >= 3*minSamples {
		p.Drift, p.SE = drift, math.Hypot(p.SE, drift/2)
	}
	p.V = stat.Mean(v[from:to], nil)
	p.Scatter = math.Sqrt(stat.MomentAbout(2, v[from:to], p.V, nil))
	if len(d.Position) > 0 { // better than the mean of a noisy channel
		p.V = (x(to-1) - x(from)) / (float64(n-1) * d.Dt)
	}
	return p, true
}

// stretch are the samples from ≤ k < to.
type stretch struct{ from, to int }

// stretches finds where v is constant: blocks of samples whose means agree with that of the blocks before, within the
// tolerance and what noise does to them, grown to stretches of at least the given length. The blocks at their ends, where
// the velocity changes, are left out.
func stretches(v []float64, tolerance float64, least int) []stretch {
	size := max(4, least/8)
	blocks := len(v) / size
	if blocks < 3 {
		return nil
	}
	noise := jitter(v) // of one sample
	of := make([]float64, blocks)
	for b := range of {
		of[b] = stat.Mean(v[b*size:(b+1)*size], nil)
	}
	slack := 4 * noise / math.Sqrt(float64(size))
	var found []stretch
	for b := 0; b < blocks; {
		e, sum := b+1, of[b]
		for ; e < blocks; e++ {
			m := sum / float64(e-b)
			if math.Abs(of[e]-m) > tolerance*math.Abs(m)+slack {
				break
			}
			sum += of[e]
		}
		s := stretch{b * size, e * size}
		if b > 0 {
			s.from += size
		}
		if e < blocks {
			s.to -= size
		} else {
			s.to = len(v)
		}
		if s.to-s.from >= least && level(v[s.from:s.to], tolerance, noise) {
			found = append(found, s)
			b = e
			continue
		}
		b++
	}
	return found
}

// level says that a series has no trend: the straight line through it rises by less than the tolerance and than noise can
// do over its length.
func level(v []float64, tolerance, noise float64) bool {
	n := float64(len(v))
	_, slope := line(ramp(0, len(v)), v)
	sxx := n * (n*n - 1) / 12
	return math.Abs(slope*n) <= tolerance*math.Abs(stat.Mean(v, nil))+4*noise*n/math.Sqrt(sxx)
}

// jitter is the noise of a sample of a velocity that is held and changed in turn. A set point that is recorded without any looks
// like a coarse encoder, whose steps would be those between the speeds; so, unlike numeric.Noise, it goes by third differences
// alone, the largest twentieth left out where most are zero.
func jitter(v []float64) float64 {
	var d []float64
	for k := 3; k < len(v); k++ {
		d = append(d, math.Abs(v[k]-3*v[k-1]+3*v[k-2]-v[k-3]))
	}
	if len(d) == 0 {
		return 0
	}
	if m := numeric.Median(d); m > 0 {
		return m / 0.6745 / math.Sqrt(20)
	}
	most := numeric.Quantile(d, 0.95)
	d = slices.DeleteFunc(d, func(a float64) bool { return a > most })
	return numeric.RMS(d) / math.Sqrt(20)
}
