package identify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/identify/fit"
)

// A record is as good as its gains and its clock. Where the same motion with another gain, or in another time, is that of the same model
// with other parameters, nothing in the record tells: a value is known times the gain, and no interval of chance knows how well.

// Scaled says how a value goes with a number that is taken for exact.
type Scaled struct {
	Name    string  `json:"name"`    // of the number
	Percent float64 `json:"percent"` // by which 1 % of the number moves the value
}

// minScalePercent is the percentage of a value, by 1 % of a number, below which the value is not said to go with the number.
const minScalePercent = 0.05

// scaledBy takes in by how much 1 % of a number that is taken for exact moves the parameters, in their units.
func (r *Result) scaledBy(name string, moves map[string]float64) {
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if by := math.Abs(100 * moves[p.Name] / p.Value); by > minScalePercent && !math.IsInf(by, 0) && !p.Fixed && !p.State() && !fit.MayBeZero(p.Name) {
			p.ScalesWith = append(p.ScalesWith, Scaled{name, by})
		}
	}
}

// scaledByUnits takes in what numbers that are taken for exact do to the parameters of an axis, by the powers of force, motion and time in
// their units. Where no force was recorded, a known inertia or spring stands for it.
func (r *Result) scaledByUnits(rotary, velocity bool, setBy string) {
	for _, g := range r.givenNumbers {
		moves := map[string]float64{}
		for i := range r.Parameters {
			p := &r.Parameters[i]
			force, motion, time := powers(p.Unit, rotary)
			switch setBy {
			case "M", "J":
				motion, time = motion+force, time-2*force
			case "kd":
				motion += force
			}
			if velocity { // was recorded itself
				time += motion
			}
			power := 0.0
			switch {
			case g.Uncertainty != 0:
			case g.Name == setBy || setBy == "" && (g.Name == fit.ForceGain || g.Name == fit.TorqueGains):
				power = force
			case strings.HasPrefix(g.Name, "gain") && g.Name != controllerGains:
				power = motion
			case g.Name == fit.Clock:
				power = time
			}
			moves[p.Name] = power * p.Value / 100
		}
		r.scaledBy(g.Name, moves)
	}
}

// controllerGains are given beside records of a servo.
const controllerGains = "gains of the controller"

// powers are those of force (or torque), motion and time in a unit.
func powers(unit string, rotary bool) (force, motion, time float64) {
	if unit == "kg·m" { // of a joint: the weight over the acceleration of free fall
		return 1, 0, 0
	}
	top, bottom, _ := strings.Cut(unit, "/")
	for sign, part := range map[float64]string{1: top, -1: bottom} {
		for _, factor := range strings.Split(part, "·") {
			base, n := strings.TrimSuffix(factor, "²"), sign
			if base != factor {
				n *= 2
			}
			switch {
			case base == "N":
				force += n
			case base == "kg":
				force, motion, time = force+n, motion-n, time+2*n
			case base == "rad" || base == "m" && !rotary:
				motion += n
			case base == "s":
				time += n
			}
		}
	}
	return force, motion, time
}

// takenFor are the numbers that are taken for exact and of which 1 % moves a parameter by half of its interval or more, to its narrower
// side: an error of 2 %, either way, is in the interval, or is spoken of.
func (p *Parameter) takenFor() (list []Scaled) {
	for _, s := range p.ScalesWith {
		if p.CI != nil && s.Percent/100*math.Abs(p.Value) > math.Min(p.CI[1]-p.Value, p.Value-p.CI[0])/2 {
			list = append(list, s)
		}
	}
	return list
}

// ExactMoves says what 1 % of each number that is taken for exact makes, where that is much beside the intervals.
func (r *Result) ExactMoves() (texts []string) {
	var numbers []string
	moves := map[string][]Scaled{} // of each number, with the names of parameters
	for i := range r.Parameters {
		p := &r.Parameters[i]
		for _, s := range p.takenFor() {
			if moves[s.Name] == nil {
				numbers = append(numbers, s.Name)
			}
			moves[s.Name] = append(moves[s.Name], Scaled{p.Name, math.Round(10*s.Percent) / 10})
		}
	}
	for _, number := range numbers {
		slices.SortStableFunc(moves[number], func(a, b Scaled) int { return cmp.Compare(b.Percent, a.Percent) })
		var parts []string
		for _, m := range moves[number] {
			parts = append(parts, fmt.Sprintf("%g %% of %s", m.Percent, m.Name))
		}
		texts = append(texts, fmt.Sprintf("1 %% of the %s is %s", number, firstOf(parts, shownMoves)))
	}
	return texts
}

// shownMoves is to how many parameters it is said what a number does, those that it moves most.
const shownMoves = 5
