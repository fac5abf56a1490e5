package machine

import (
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
)

// Column is a column of the regressor with the parameter that belongs to it.
type Column struct {
	engine.Param      // name, unit and the value of the machine file, where it has one
	Joint        int  // velocity of the joint
	Term         Term //
	Inertial     int  // place among the ten of the body; −1: none of them
	Sense        int  // of friction by direction: +1, −1; 0: of both
	regressor    int  // column of multibody.Regressor; −1: none, made of the velocity
	scale        float64
}

// jumpsAtReversal tells whether the column jumps at a reversal.
func (c *Column) jumpsAtReversal() bool {
	return c.Term == Coulomb || c.Term == Viscous && c.Sense != 0
}

// Where the parameters of a joint stand behind the inertial ones of its body, multibody.Params.
const (
	atArmature = multibody.InertialParams + iota
	atDamping
	atCoulomb
	atStiffness
	atPreload
)

// columns are those of all terms, body by body: what a body can share with the one before comes later and joins it.
func columns(m *multibody.Model, s Spec, coulomb []float64) (list []Column) {
	params := m.Params()
	has := func(t Term) bool { return slices.Contains(s.Terms, t) }
	for j := 1; j <= m.Bodies(); j++ {
		name, kind, _, iv := m.JointOf(j)
		first := multibody.BodyParams * (j - 1)
		add := func(t Term, at int) {
			c := Column{Param: params[first+at], Joint: iv, Term: t, Inertial: -1, regressor: first + at, scale: 1}
			if at < multibody.InertialParams {
				c.Inertial = at
			}
			list = append(list, c)
		}
		if has(Inertia) {
			for k := range multibody.InertialParams {
				add(Inertia, k)
			}
		}
		if has(Armature) {
			add(Armature, atArmature)
		}
		friction := func(t Term, at int, short string) {
			value := params[first+at].Value
			if t == Coulomb && iv < len(coulomb) {
				value = coulomb[iv]
			}
			senses := []int{0}
			if s.ByDirection {
				senses = []int{1, -1}
			}
			for _, sense := range senses {
				c := Column{Param: params[first+at], Joint: iv, Term: t, Inertial: -1, Sense: sense, regressor: first + at, scale: 1}
				c.Name, c.Value = name+"."+short+map[int]string{0: "", 1: "+", -1: "-"}[sense], value
				list = append(list, c)
			}
		}
		if has(Viscous) {
			friction(Viscous, atDamping, "Fv")
		}
		if has(Coulomb) {
			friction(Coulomb, atCoulomb, "Fc")
		}
		if has(Offset) {
			c := Column{Param: params[first+atPreload], Joint: iv, Term: Offset, Inertial: -1, regressor: first + atPreload, scale: -1}
			c.Name, c.Doc, c.Value, c.Lo = name+".offset", "constant torque", 0, math.Inf(-1)
			if kind == multibody.Prismatic {
				c.Doc = "constant force"
			}
			list = append(list, c)
		}
		if has(Stiffness) {
			add(Stiffness, atStiffness)
		}
	}
	return list
}

// knownColumns are the columns of the regressor that are not fitted and have a value: a spring of the file, friction that is not asked for.
// Every one is a column with its value.
func knownColumns(m *multibody.Model, s Spec, coulomb []float64) (list []Column) {
	params := m.Params()
	for j := 1; j <= m.Bodies(); j++ {
		if _, _, _, iv := m.JointOf(j); iv < len(coulomb) {
			params[multibody.BodyParams*(j-1)+atCoulomb].Value = coulomb[iv]
		}
	}
	groups := []struct {
		term    Term
		columns []int
	}{{Inertia, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, {Armature, []int{atArmature}}, {Viscous, []int{atDamping}}, {Coulomb, []int{atCoulomb}},
		{Stiffness, []int{atStiffness}}, {"", []int{atPreload}}}
	for j := 1; j <= m.Bodies(); j++ {
		_, _, _, iv := m.JointOf(j)
		for _, g := range groups {
			for _, at := range g.columns {
				k := multibody.BodyParams*(j-1) + at
				if !slices.Contains(s.Terms, g.term) && params[k].Value != 0 {
					list = append(list, Column{Param: params[k], Joint: iv, Term: g.term, Inertial: -1, regressor: k, scale: 1})
				}
			}
		}
	}
	return list
}

// value is the element of the column in the row of velocity i, from the row of the regressor. The joint moves in the direction in which
// way has its sign.
func (c *Column) value(i int, row []float64, way float64) float64 {
	x := c.scale * row[c.regressor]
	switch {
	case c.Sense != 0 && (i != c.Joint || float64(c.Sense)*way <= 0):
		return 0
	case c.Term == Coulomb && i == c.Joint:
		return numeric.Sign(way)
	}
	return x
}
