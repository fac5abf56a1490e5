package pose

// The tracker stands in for the system of cameras in the tests of a Rolling: it makes poses with their covariances of markers.

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// MaxMarkers is the most markers of a body.
const MaxMarkers = 32

// Body is what a body's markers are known to be.
type Body struct {
	Offsets []r3.Vec // m  of the markers, body axes
	Noise   float64  // m  standard deviation of each coordinate of a marker
	// Acceleration (rad/s²) is about the largest of the body: it says how far a frame may lie from the turn of the last two before
	// labels are doubted.
	Acceleration float64
}

// Validate tells what is wrong with the body.
func (b *Body) Validate() error {
	var errs []error
	if n := len(b.Offsets); n < 3 || n > MaxMarkers {
		errs = append(errs, fmt.Errorf("markers: %d, want 3 to %d: three that do not lie on a line fix an orientation", n, MaxMarkers))
	} else if f, err := rotation.Align(b.Offsets, b.Offsets, nil); err != nil || !(f.Spread > 4*b.Noise) {
		errs = append(errs, fmt.Errorf("markers: they lie %.3g m (rms) from one line, with a noise of %.3g m: want more than four times the "+
			"noise, or the turn about the line is not seen", f.Spread, b.Noise))
	}
	if !(b.Noise > 0) || math.IsInf(b.Noise, 0) {
		errs = append(errs, fmt.Errorf("marker noise: %g m, want > 0", b.Noise))
	}
	if !(b.Acceleration > 0) {
		errs = append(errs, fmt.Errorf("largest angular acceleration: %g rad/s², want > 0", b.Acceleration))
	}
	return errors.Join(errs...)
}

// Verdict is what became of a frame.
type Verdict uint8

const (
	Good      Verdict = iota // R and P are the pose
	TooFew                   // fewer than three markers are seen
	Collinear                // those seen lie on a line, or so near one that the noise turns the body about it
	Misfit                   // no labelling without outliers fits the body
	Jump                     // it fits, but lies further from the last frames than the body can turn; R and P are the pose
)

var verdicts = [...]string{
	Good:      "good",
	TooFew:    "fewer than three markers are seen",
	Collinear: "the markers seen lie on a line",
	Misfit:    "the markers do not fit the body: wrong labels, another body, or a noise that is larger than stated",
	Jump:      "the pose lies further from the last ones than the body can turn",
}

func (v Verdict) String() string { return verdicts[v] }

// Pose is one frame.
type Pose struct {
	T       float64     // s
	R       quat.Number // body → world, continuous with the frame before
	P       r3.Vec      // m  where the origin of the body lies
	Verdict Verdict

	Seen    int     // markers that are numbers
	Used    uint32  // bit i: marker i was used
	Swapped uint32  // bit i: marker i was seen under another label
	Count   int     // markers used
	Rms     float64 // m  of the distances from the fit
	Chi2    float64 // sum of squared residuals over the noise, of 3·Count − 6 degrees of freedom

	Turn  rotation.Matrix // rad²  covariance of R, body axes
	Place rotation.Matrix // m²    covariance of P, world axes
}

// Counts is what a Tracker has met.
type Counts struct {
	Frames, Good      int
	TooFew, Collinear int
	Misfit, Jump      int
	Outliers, Swaps   int // markers left out, frames with labels mended
	Missing           int // markers not seen, in all frames
}

// Tracker finds the pose of a body frame by frame.
type Tracker struct {
	body   Body
	counts Counts

	last, before   quat.Number
	tLast, tBefore float64 // s
	kept           int     // poses kept: 0, 1, 2
	b, w           [MaxMarkers]r3.Vec
}

// outlier is the χ² of three degrees of freedom that is exceeded in 6.334e-5 of good frames, as 4σ of a normal distribution are: the tail.
const outlier = 22.06

// Prices, in χ², of a labelling that is not the one seen: an exchange of two labels, a marker left out. A marker takes three residuals
// with it, whose χ² is above 20 by chance once in 6000 frames.
const (
	priceSwap = 10
	priceOut  = 20
)

// stale is the time (s) after which the last poses predict nothing.
const stale = 0.1

// NewTracker checks the body.
func NewTracker(b Body) (*Tracker, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return &Tracker{body: b}, nil
}

// Frame finds the pose at a time (s) from the positions (m, world axes) of the markers in the order of the body; those not seen are
// NaN. Labels that were exchanged are mended and outliers left out, if what remains fits.
func (t *Tracker) Frame(at float64, markers []r3.Vec) Pose {
	t.counts.Frames++
	var h [MaxMarkers]int // marker seen under each label, −1: none
	seen := 0
	for i := range t.body.Offsets {
		h[i] = -1
		if i < len(markers) && !math.IsNaN(markers[i].X+markers[i].Y+markers[i].Z) {
			h[i] = i
			seen++
		}
	}
	t.counts.Missing += len(t.body.Offsets) - seen
	return t.decide(at, markers, &h, seen)
}

// decide finds the labelling of least cost.
func (t *Tracker) decide(at float64, markers []r3.Vec, h *[MaxMarkers]int, seen int) Pose {
	p := Pose{T: at, R: t.lastTurn(), Seen: seen, Verdict: TooFew}
	if seen < 3 {
		t.counts.TooFew++
		return p
	}
	n := len(t.body.Offsets)
	best := t.try(at, markers, h)
	if best.ok && !best.jump {
		return t.accept(p, best, h)
	}
	if !best.ok && best.collinear {
		p.Verdict = Collinear
		t.counts.Collinear++
		return p
	}
	// exchange two labels, then leave out one marker, then two
	bestH, cost := *h, best.cost
	consider := func(g *[MaxMarkers]int, price float64) {
		if c := t.try(at, markers, g); c.ok && (!best.ok || c.cost+price < cost) {
			best, bestH, cost = c, *g, c.cost+price
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			g := *h
			g[i], g[j] = g[j], g[i]
			if g != *h {
				consider(&g, priceSwap)
			}
		}
	}
	for i := range n {
		if h[i] < 0 {
			continue
		}
		g := *h
		g[i] = -1
		consider(&g, priceOut)
		for j := i + 1; j < n && seen > 4; j++ {
			if h[j] < 0 {
				continue
			}
			g := *h
			g[i], g[j] = -1, -1
			consider(&g, 2*priceOut)
		}
	}
	if !best.ok {
		p.Verdict = Misfit
		p.Chi2, p.Rms, p.Count = best.chi2, best.fit.Rms, best.fit.Count
		t.counts.Misfit++
		return p
	}
	return t.accept(p, best, &bestH)
}

// lastTurn is the orientation of the last pose.
func (t *Tracker) lastTurn() quat.Number {
	if t.kept == 0 {
		return rotation.Identity
	}
	return t.last
}

// trial is a labelling and its fit.
type trial struct {
	fit       rotation.Fit
	chi2      float64
	cost      float64 // χ² of the residuals and of the distance from the prediction
	ok        bool    // it fits
	collinear bool
	jump      bool // the prediction contradicts it
}

// try fits one labelling: h holds the marker seen behind each label.
func (t *Tracker) try(at float64, markers []r3.Vec, h *[MaxMarkers]int) (c trial) {
	n := 0
	for i, from := range h[:len(t.body.Offsets)] {
		if from >= 0 {
			t.b[n], t.w[n] = t.body.Offsets[i], markers[from]
			n++
		}
	}
	var err error
	c.fit, err = rotation.Align(t.b[:n], t.w[:n], nil)
	s2 := t.body.Noise * t.body.Noise
	c.chi2 = c.fit.Rms * c.fit.Rms * c.fit.Weight / s2
	c.cost = c.chi2
	if err != nil || c.fit.Spread < 4*t.body.Noise {
		c.collinear = true
		return c
	}
	c.ok = c.chi2 < chi2Bound(3*n-6)
	if at-t.tLast > stale || t.kept == 0 || !(at > t.tLast) {
		return c
	}
	// how far the body can be from the turn of the last two frames
	pred, dt := t.last, at-t.tLast
	err2 := t.body.Acceleration * dt * dt
	if t.kept == 2 {
		before := t.tLast - t.tBefore
		turn := rotation.Difference(t.before, t.last)
		pred = quat.Mul(t.last, rotation.Exp(r3.Scale(dt/before, turn)))
		err2 += t.body.Acceleration * dt * before
	} else {
		err2 += 30 * dt // rad/s  any body that is followed at all
	}
	noise := t.body.Noise / c.fit.Spread
	sd2 := err2*err2/4 + 6*noise*noise
	off := rotation.Difference(pred, c.fit.R)
	d2 := r3.Norm2(off) / sd2
	c.cost += d2
	c.jump = d2 > outlier
	return c
}

// accept keeps a pose and reports it.
func (t *Tracker) accept(p Pose, c trial, h *[MaxMarkers]int) Pose {
	p.Verdict = Good
	if c.jump {
		p.Verdict = Jump
		t.counts.Jump++
	} else {
		t.counts.Good++
	}
	p.R, p.P, p.Count, p.Rms, p.Chi2 = c.fit.R, c.fit.P, c.fit.Count, c.fit.Rms, c.chi2
	for i, from := range h[:len(t.body.Offsets)] {
		if from >= 0 {
			p.Used |= 1 << i
			if from != i {
				p.Swapped |= 1 << i
			}
		}
	}
	t.counts.Outliers += p.Seen - p.Count
	if p.Swapped != 0 {
		t.counts.Swaps++
	}

	s2 := t.body.Noise * t.body.Noise
	inv, _ := c.fit.Inertia.InverseSPD()
	world := inv.Scale(s2)
	r := rotation.MatrixOf(p.R)
	p.Turn = r.T().Mul(world).Mul(r)
	// P = centre − R·(centre in the body): the turn moves it by lever × δ
	lever := rotation.Skew(r3.Sub(p.P, c.fit.Centre))
	p.Place = rotation.Eye.Scale(s2/c.fit.Weight).Add(-1, lever.Mul(world).Mul(lever))

	if t.kept > 0 {
		p.R = rotation.NearestSign(p.R, t.last)
	}
	if dt := p.T - t.tLast; t.kept > 0 && dt > 0 && dt <= stale {
		t.before, t.tBefore = t.last, t.tLast
		t.kept = 2
	} else {
		t.kept = 1
	}
	t.last, t.tLast = p.R, p.T
	return p
}

// chi2Bound is the χ² that is exceeded in the tail, by the cube root of Wilson and Hilferty [WH31], up to 4 % above
// it; 0 degrees of freedom leave nothing to test.
func chi2Bound(dof int) float64 {
	if dof <= 0 {
		return math.Inf(1)
	}
	const z = 3.8325 // one-sided normal quantile of that tail
	k := 2 / (9 * float64(dof))
	c := 1 - k + z*math.Sqrt(k)
	return float64(dof) * c * c * c
}
