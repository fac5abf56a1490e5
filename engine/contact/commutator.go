package contact

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// CommutatorSpec describes the rough surface of a commutator (all lengths in m). Its contour in its own frame, counter-clockwise from
// α = 0, is
//
//	r(α) = Radius + rough(α) + step(bar) + Eccentricity·cos(α − EccentricityPhase) − dip(α)
//
// Slot j is centred at α = 2π·j/Bars, and bar j lies between slots j and j + 1. Each bar stands higher by a Gaussian value of its own
// (BarStep is the standard deviation), which changes at the slot centre. With x the arc from the nearest slot centre, the dip is
// either what a face follows that bridges the slot,
//
//	dip = DipDepth/2·(1 + cos(π·x/(SlotWidth/2 + EdgeLength)))      |x| < SlotWidth/2 + EdgeLength
//
// or, with TrueSlots, the slot itself: SlotDepth deep over SlotWidth, with edges rounded by DipDepth·(1 − y/EdgeLength)² at the
// distance y from the wall. The roughness has the autocorrelation exp(−(x/Corr)²) and the mean roughness depth Rz, see RoughRing.
//
// A measured Profile stands in place of the sum, slots and eccentricity included.
//
// The source names the quantities but gives no law for the surface [SNB06]: the laws are ours.
type CommutatorSpec struct {
	Radius            float64
	Eccentricity      float64
	EccentricityPhase float64 // rad
	Bars              int     // 0: a slip ring
	Rz, Corr          float64
	SlotWidth         float64
	SlotDepth         float64 // of true slots
	DipDepth          float64
	EdgeLength        float64
	BarStep           float64
	TrueSlots         bool
	Spacing           float64 // largest distance of vertices; 0: the smaller of 25 µm and Corr/20
	Seed              uint64
	Profile           *Profile // measured, in place of everything above but Radius, Bars, SlotWidth and Spacing; nil: none
}

// Validate reports every problem at once.
func (s *CommutatorSpec) Validate() error {
	var p problems
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"eccentricity", s.Eccentricity}, {"rz", s.Rz}, {"corr", s.Corr}, {"slot_width", s.SlotWidth}, {"slot_depth", s.SlotDepth},
		{"dip_depth", s.DipDepth}, {"edge_length", s.EdgeLength}, {"bar_step", s.BarStep}, {"spacing", s.Spacing},
	} {
		p.addIf(!(f.v >= 0) || math.IsInf(f.v, 0), "commutator.%s: %g m, want ≥ 0", f.name, f.v)
	}
	p.addIf(!(s.Radius > 0) || math.IsInf(s.Radius, 0), "commutator.radius: %g m, want > 0", s.Radius)
	p.addIf(!numeric.IsFinite(s.EccentricityPhase), "commutator.eccentricity_phase: %g rad, want a number", s.EccentricityPhase)
	p.addIf(s.Bars < 0, "commutator.bars: %d, want ≥ 0", s.Bars)
	if len(p) > 0 {
		return p.err()
	}
	low := s.Eccentricity + 2*s.Rz + 6*s.BarStep + max(s.DipDepth, s.SlotDepth)
	p.addIf(low > s.Radius/2, "commutator.radius: %g m leaves no core under eccentricity, roughness, bar steps and slots of %g m together",
		s.Radius, low)
	if s.Bars > 0 {
		w, pitch := s.SlotWidth+2*s.EdgeLength, 2*math.Pi*s.Radius/float64(s.Bars)
		p.addIf(w > pitch, "commutator.slot_width: slot and its two edges take %g m, a bar has only %g m", w, pitch)
		p.addIf(s.DipDepth > 0 && s.SlotWidth+s.EdgeLength == 0, "commutator.slot_width: a dip of %g m has no width", s.DipDepth)
	}
	p.addIf(s.Profile != nil && (s.TrueSlots || !(slices.Min(s.Profile.Y) > s.Radius/2)),
		"commutator.profile: a measured outline has no true slots, and no point within half of radius, %g m", s.Radius)
	p.addIf(s.Rz > 0 && s.Corr == 0, "commutator.corr: 0 m, a rough surface needs a correlation length")
	p.addIf(s.Rz > 0 && s.Corr > 0 && s.Spacing > s.Corr/20*(1+1e-9), "commutator.spacing: %g m is coarser than a twentieth of corr = %g m",
		s.Spacing, s.Corr)
	n := 2 * math.Pi * s.Radius / s.spacing()
	p.addIf(n > maxPoints, "commutator.spacing: %g m makes %.3g vertices, at most %d", s.spacing(), n, maxPoints)
	return p.err()
}

func (s *CommutatorSpec) spacing() float64 {
	if s.Spacing > 0 {
		return s.Spacing
	}
	if s.Rz > 0 {
		return defaultSpacing(s.Corr)
	}
	return defaultSpacing(0)
}

// Commutator is a closed rough contour as a polyline whose vertices are spaced evenly in angle, apart from the walls of true slots.
// Points are located by walking from the edge they were over last time. It is constant once made: one copy serves any number of goroutines.
type Commutator struct {
	spec      CommutatorSpec
	n         int       // edges; edge k joins vertices k and k+1
	roughness []float64 // m, the roughness alone
	x, y      []float64 // m, n + 1 vertices, the last is the first
	angle     []float64 // rad, n + 1, rising from 0 to 2π
	r         []float64 // m, n + 1
	edge      []sector  // n + 1, for the search
	perR2     float64   // edges per (r²·angle), for the first guess
	perA      float64   // edges per rad
}

// sector is a vertex with the outward normal of the edge that starts there: all that a look at one edge needs, in half a cache line.
type sector struct{ x, y, nx, ny float64 }

// NewCommutator builds the contour. The number of vertices is a multiple of the number of bars, so that all slots look alike.
func NewCommutator(spec CommutatorSpec) (*Commutator, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	n := int(math.Ceil(2*math.Pi*spec.Radius/spec.spacing() - 1e-9))
	n = max(n, 8)
	if b := spec.Bars; b > 0 {
		n = (n + b - 1) / b * b
	}
	c := &Commutator{spec: spec, n: n}
	var err error
	if c.roughness, err = RoughRing(n, 2*math.Pi*spec.Radius/float64(n), spec.Corr, spec.Rz, spec.Seed); err != nil {
		return nil, err
	}
	steps := make([]float64, max(spec.Bars, 1))
	if spec.Bars > 0 && spec.BarStep > 0 {
		for j, g := range whiteNoise(spec.Bars, streamBars, spec.Seed) {
			steps[j] = spec.BarStep * g
		}
	}
	f := func() []float64 { return make([]float64, n+1) }
	c.x, c.y, c.angle, c.r, c.edge = f(), f(), f(), f(), make([]sector, n+1)
	c.angles()
	for k := range n {
		bar := 0
		if spec.Bars > 0 {
			bar = min(int(c.angle[k]*float64(spec.Bars)/(2*math.Pi)+1e-9), spec.Bars-1)
		}
		dip, _, _ := spec.dip(c.angle[k])
		c.r[k] = spec.Radius + c.roughness[k] + steps[bar] + spec.Eccentricity*math.Cos(c.angle[k]-spec.EccentricityPhase) - dip
		if spec.Profile != nil {
			c.r[k] = spec.Profile.At(c.angle[k])
		}
		sin, cos := math.Sincos(c.angle[k])
		c.x[k], c.y[k] = c.r[k]*cos, c.r[k]*sin
	}
	c.r[n], c.x[n], c.y[n] = c.r[0], c.x[0], c.y[0]
	for k := range n {
		dx, dy := c.x[k+1]-c.x[k], c.y[k+1]-c.y[k]
		l := math.Hypot(dx, dy)
		c.edge[k] = sector{c.x[k], c.y[k], dy / l, -dx / l}
	}
	c.edge[n] = c.edge[0]
	c.perA = float64(n) / (2 * math.Pi)
	c.perR2 = c.perA / (spec.Radius * spec.Radius)
	return c, nil
}

// angles spaces the vertices evenly. A true slot then takes the vertex nearest to each of its edges and the next one inwards, and sets
// them on the edge and on the foot of the wall, which leans by a fiftieth of the spacing so that every ray from the axis meets it once.
func (c *Commutator) angles() {
	n, s := c.n, &c.spec
	d := 2 * math.Pi / float64(n)
	for k := range c.angle {
		c.angle[k] = d * float64(k)
	}
	if !s.TrueSlots || s.Bars == 0 || s.SlotDepth == 0 || s.SlotWidth == 0 {
		return
	}
	half, lean := s.SlotWidth/2/s.Radius, d/50
	near := int(math.Round(half / d)) // vertices from the centre to the edge
	if near < 2 {
		return
	}
	for j := range s.Bars {
		k, a := j*(n/s.Bars), 2*math.Pi*float64(j)/float64(s.Bars)
		c.angle[k+near], c.angle[k+near-1] = a+half, a+half-lean
		left := (k - near + n) % n
		if left < k {
			a -= 2 * math.Pi
		}
		c.angle[left], c.angle[left+1] = a+2*math.Pi-half, a+2*math.Pi-half+lean
	}
}

// dip is the depth (m) of the slot profile at alpha in [0, 2π), with its first two derivatives by alpha. Walls of true slots have none.
func (s *CommutatorSpec) dip(alpha float64) (d, d1, d2 float64) {
	if s.Bars == 0 {
		return 0, 0, 0
	}
	pitch := 2 * math.Pi / float64(s.Bars)
	x := (alpha - pitch*math.Round(alpha/pitch)) * s.Radius
	if !s.TrueSlots {
		half := s.SlotWidth/2 + s.EdgeLength
		if math.Abs(x) >= half {
			return 0, 0, 0
		}
		k := math.Pi / half
		sin, cos := math.Sincos(k * x)
		k *= s.Radius
		return s.DipDepth / 2 * (1 + cos), -s.DipDepth / 2 * k * sin, -s.DipDepth / 2 * k * k * cos
	}
	y := math.Abs(x) - s.SlotWidth/2
	switch {
	case y < -1e-9*s.SlotWidth:
		return s.SlotDepth, 0, 0
	case y >= s.EdgeLength:
		return 0, 0, 0
	}
	u := 1 - max(y, 0)/s.EdgeLength
	k := s.Radius / s.EdgeLength
	return s.DipDepth * u * u, -math.Copysign(2*s.DipDepth*u*k, x), 2 * s.DipDepth * k * k
}

// Vertices are the corners of the contour (m) in the commutator's frame, counter-clockwise. They are not to be changed.
func (c *Commutator) Vertices() (x, y []float64) { return c.x[:c.n], c.y[:c.n] }

// Radius is the distance r (m) from the axis to the contour at alpha (rad, any number of turns), with its slope dr/dα on that chord:
//
//	r = r_i·r_j·sin D/(r_i·sin(α − α_i) + r_j·sin(α_j − α))      j = i + 1,  D = α_j − α_i
//
// hint takes and gives the edge; its value does not change the result.
func (c *Commutator) Radius(alpha float64, hint *int32) (r, slope float64) {
	alpha -= 2 * math.Pi * math.Floor(alpha/(2*math.Pi))
	if math.IsNaN(alpha) {
		return alpha, alpha
	}
	alpha = min(max(alpha, 0), 2*math.Pi) // rounding of many turns
	k := int(*hint)
	if uint(k) >= uint(c.n) || alpha < c.angle[k] || alpha >= c.angle[k+1] {
		k = min(int(alpha*c.perA), c.n-1)
		for k > 0 && alpha < c.angle[k] {
			k--
		}
		for k < c.n-1 && alpha >= c.angle[k+1] {
			k++
		}
		*hint = int32(k)
	}
	ri, rj := c.r[k], c.r[k+1]
	s0, c0 := math.Sincos(alpha - c.angle[k])
	s1, c1 := math.Sincos(c.angle[k+1] - alpha)
	// sin D from the same two angles, so that r is exact at both ends
	area := ri * rj * (s0*c1 + c0*s1)
	r = area / (ri*s0 + rj*s1)
	return r, -r * r * (ri*c0 - rj*c1) / area
}

// Edge finds the edge whose sector, seen from the axis, holds the point (x, y) of the commutator's frame: gap is the distance (m) from
// the line of that edge, positive outside, n its outward normal. Each ray from the axis belongs to one edge, the one that begins on it.
// hint takes the edge of the last call for this point and gives the new one; any value is allowed.
func (c *Commutator) Edge(x, y float64, hint *int32) (gap, nx, ny float64, edge int32) {
	k, n := int(*hint), c.n
	if uint(k) >= uint(n) {
		k = 0
	}
	e := &c.edge[k]
	cross := e.x*y - e.y*x
	// a guess by the angle to the old edge; wrong by less than an edge when the point has moved by a few
	if jump := cross * c.perR2; jump >= 1 || jump < 0 {
		k = c.guessEdge(x, y, k, jump, e.x*x+e.y*y)
	}
	// then the sector: counter-clockwise of vertex k and clockwise of vertex k+1
	for range n {
		e = &c.edge[k]
		if e.x*y-e.y*x < 0 {
			if k--; k < 0 {
				k = n - 1
			}
			continue
		}
		if f := &c.edge[k+1]; f.x*y-f.y*x < 0 {
			break
		}
		if k++; k == n {
			k = 0
		}
	}
	*hint = int32(k)
	return (x-e.x)*e.nx + (y-e.y)*e.ny, e.nx, e.ny, int32(k)
}

// guessEdge guesses the edge over which (x, y) is: jump edges further, or by the angle when that is far.
func (c *Commutator) guessEdge(x, y float64, k int, jump, dot float64) int {
	n := c.n
	if dot > 0 && math.Abs(jump) < float64(n)/64 {
		k += int(math.Floor(jump))
		if k < 0 {
			k += n
		} else if k >= n {
			k -= n
		}
		return k
	}
	a := math.Atan2(y, x)
	if a < 0 {
		a += 2 * math.Pi
	}
	if a >= 0 { // not NaN
		return min(int(a*c.perA), n-1)
	}
	return k
}
