package brush

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hilrig/engine/contact"
	"hilrig/engine/numeric"
)

// Properties are what may depend on a cause by a measured table, and Causes what they may depend on, by the names of their keys. [SNB06]
// names them and prints no numbers.
var (
	Properties = [3]string{"eps", "stiffness", "damping"}
	Causes     = [3]string{"temperature", "current", "length"}
)

const (
	ofEps       = iota // normal restitution of all three contacts
	ofStiffness        // k_a and k_s
	ofDamping          // c_a and c_s
)

// Curve is a factor Y over a cause X (K, A/m² or m), straight between its rows. Beyond them it keeps the nearest row.
type Curve struct{ X, Y []float64 }

// at is the factor at x; 1 without a table.
func (c *Curve) at(x float64) float64 {
	if c == nil {
		return 1
	}
	return numeric.Interpolate(c.X, c.Y, x)
}

// causes are the values of Causes.
func (p *Params) causes(temperature, density float64) [len(Causes)]float64 {
	return [len(Causes)]float64{temperature, math.Abs(density), p.Brush.Length}
}

// factor is what the tables say of a property.
func (p *Params) factor(property int, temperature, density float64) float64 {
	f := 1.0
	for j, x := range p.causes(temperature, density) {
		f *= p.Material.Factors[property][j].at(x)
	}
	return f
}

// outOfRange tells whether the cause x lies beyond the rows.
func (c *Curve) outOfRange(x float64) bool { return c != nil && !(x >= c.X[0] && x <= c.X[len(c.X)-1]) }

// outOfRange tells whether any table does not reach what causes there are.
func (p *Params) outOfRange(temperature, density float64) bool {
	for j, x := range p.causes(temperature, density) {
		for i := range Properties {
			if p.Material.Factors[i][j].outOfRange(x) {
				return true
			}
		}
	}
	return false
}

// measured checks measured surfaces and tables against the rest.
func (p *Params) measured(bad func(path, format string, a ...any)) {
	c, half := &p.Commutator, p.Brush.Width/2
	if s := c.Profile; s != nil {
		if mean := stat.Mean(s.Y, nil); math.Abs(mean/c.Radius-1) > 0.01 {
			bad("commutator.profile", "mean radius %.5g m, but commutator.radius is %g m; want them within 1 %%", mean, c.Radius)
		} else if c.Spacing > s.Correlation/5 {
			bad("commutator.spacing", "%g m, want at most a fifth of the correlation length of commutator.profile, %.3g m", c.Spacing,
				s.Correlation/5)
		}
		if c.SmoothOutline || c.TrueSlots {
			bad("commutator.profile", "a measured outline is neither smooth nor has it true slots; leave both out")
		}
	}
	if s := p.Face.Profile; s != nil {
		if from, to := s.X[0], s.X[len(s.X)-1]; from > -half*(1-1e-6) || to < half*(1-1e-6) {
			bad("face.profile", "reaches from %.4g to %.4g m, want the whole width of the brush, %.4g to %.4g m: x counts from the middle", from,
				to, -half, half)
		}
	}
	now, units := p.causes(p.Material.Temperature, p.Material.CurrentDensity), [len(Causes)]string{"K", "A/m²", "m"}
	for i, property := range Properties {
		for j, cause := range Causes {
			t := p.Material.Factors[i][j]
			if t == nil {
				continue
			}
			key := "material." + property + "_by_" + cause
			if len(t.X) == 0 || len(t.X) != len(t.Y) {
				bad(key, "%d causes and %d factors, want as many of each", len(t.X), len(t.Y))
				return
			}
			rising := true
			for k := range t.X {
				switch {
				case k > 0 && !(t.X[k] > t.X[k-1]):
					rising = false
					bad(key, "row %d: %g %s after %g %s, want rising ones", k+1, t.X[k], units[j], t.X[k-1], units[j])
				case !(t.Y[k] >= 0) || math.IsInf(t.Y[k], 0) || t.Y[k] == 0 && i == ofStiffness:
					bad(key, "row %d: factor %g, want a finite one > 0, for restitution and damping ≥ 0", k+1, t.Y[k])
				}
			}
			if rising && t.outOfRange(now[j]) {
				bad(key, "the %s is %g %s, outside the table, which goes from %g to %g %s: add rows, or change the %s", cause, now[j], units[j],
					t.X[0], t.X[len(t.X)-1], units[j], cause)
			}
		}
	}
	m := &p.Material
	most := 1.0
	for _, t := range m.Factors[ofEps] {
		if t != nil {
			most *= slices.Max(t.Y)
		}
	}
	for _, law := range []contact.Law{p.Contact.Face, p.Contact.Holder, p.Contact.Spring} {
		if law.EpsN*most > 1 {
			bad("material.eps_by_…", "the tables raise a restitution of %g to %.4g, want at most 1", law.EpsN, law.EpsN*most)
			break
		}
	}
}
