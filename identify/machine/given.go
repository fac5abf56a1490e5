package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/identify/fit"
)

// Uncertain is the standard uncertainty of what a file gives and no record of torques tells for sure [JCGM 100, 4.3]: each of these
// numbers is wrong by chance of its own. 0: taken for exact.
type Uncertain struct {
	Gain   float64 `yaml:"gain" unit:"%" want:">=0 <=50" json:"gain_percent" doc:"of the gain of each torque"`
	Length float64 `yaml:"length" unit:"m" want:">=0" json:"length_m" doc:"of each coordinate of the place of a joint on the body before it"`
	Axis   float64 `yaml:"axis" unit:"rad" want:">=0 <=1" json:"axis_rad" doc:"of the axis of a joint, about each of two lines across it; of the first one it is the direction of gravity"`
	Zero   float64 `yaml:"zero" unit:"rad|m" want:">=0" json:"zero" doc:"of the zero of each position"`
}

// GivenNumbers are the numbers that a machine of so many joints rests on, and how well they are known.
func (u *Uncertain) GivenNumbers(joints int) []fit.GivenNumber {
	list := []fit.GivenNumber{
		{Name: fit.TorqueGains, Uncertainty: u.Gain, Unit: "%"},
		{Name: "gains of the positions"},
		{Name: fit.Clock},
		{Name: "lengths", Uncertainty: u.Length, Unit: "m"},
		{Name: "axes of the joints", Uncertainty: u.Axis, Unit: "rad"},
		{Name: "zeros of the positions", Uncertainty: u.Zero, Unit: "rad or m"},
	}
	if joints == 1 {
		return slices.Delete(list, 3, 4)
	}
	return list
}

// givenColumn is what an error of a number of the file makes of the torques, for every unit of it.
type givenColumn struct {
	name        string // of a gain and of the clock, of which a unit is the whole
	uncertainty float64
	column      []float64
}

// rowsOnGrid tells at which rows the columns of lengths, axes and zeros are: those of the times of grid.
func (l *lack) rowsOnGrid(grid []gridRow) []bool {
	place := map[[2]int]bool{}
	for _, g := range grid {
		place[[2]int{g.rec, g.sample}] = true
	}
	out := make([]bool, l.rows)
	for i := range l.r.sys.blocks {
		b := &l.r.sys.blocks[i]
		for k, at := range b.gridPlaces {
			out[l.firstRow[i]+k] = place[[2]int{b.rec, at}]
		}
	}
	return out
}

// uncertain are the standard uncertainties of the free parameters by all that was given, and what 1 % of each gain and of the clock makes of
// them that are taken for exact: least squares takes of each column as much as the parameters explain of it.
func (l *lack) uncertain() (errs []float64, exact []fit.ScaleMove) {
	p := len(l.r.FreeParams)
	errs = make([]float64, p)
	var used []givenColumn
	for _, g := range l.givenColumns {
		if g.uncertainty > 0 || g.name != "" {
			used = append(used, g)
		}
	}
	var rows []int
	for k := range l.rows {
		if l.knownRows == nil || l.knownRows[k] {
			rows = append(rows, k)
		}
	}
	if used == nil || p == 0 || len(rows) < p {
		return errs, nil
	}
	x, y := mat.NewDense(len(rows), p, nil), mat.NewDense(len(rows), len(used), nil)
	scale := make([]float64, p)
	for j := range scale {
		for _, k := range rows {
			scale[j] = math.Hypot(scale[j], l.r.Solution.Jac[k*p+j])
		}
		if scale[j] == 0 {
			scale[j] = 1
		}
	}
	for i, k := range rows {
		for j := range p {
			x.Set(i, j, l.r.Solution.Jac[k*p+j]/scale[j])
		}
		for j, g := range used {
			y.Set(i, j, g.column[k])
		}
	}
	var qr mat.QR
	var moves mat.Dense
	qr.Factorize(x)
	if qr.SolveTo(&moves, false, y) != nil {
		return errs, nil
	}
	for i, g := range used {
		by := map[string]float64{}
		for j, k := range l.r.FreeParams {
			move := moves.At(j, i) / scale[j]
			errs[j] = math.Hypot(errs[j], g.uncertainty*move)
			by[l.r.Base.Name(k)] = move / 100
		}
		if g.uncertainty == 0 {
			exact = append(exact, fit.ScaleMove{Name: g.name, ParamMoves: by})
		}
	}
	return errs, exact
}
