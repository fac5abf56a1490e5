package machine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// suspects are what a machine may lack, and what may be wrong with its records, for fit.Unmodelled: of every joint what any axis may lack
// (fit.Motion), and what only a machine shows. Inertia is felt by several joints, so a gain, a zero or a length that is wrong at one of
// them makes these disagree.
func (r *Result) suspects(recs []Recording) []fit.Suspect {
	l := &lack{r: r, recs: recs, f: r.Spec.filters(recs[0][0].Dt)}
	for i := range r.sys.blocks {
		l.firstRow = append(l.firstRow, l.rows)
		l.rows += len(r.sys.blocks[i].y)
	}
	for j := range r.Model.NV() {
		l.gain(j)
		l.joint(j)
	}
	l.geometry()
	r.GivenErr, r.ExactScales = l.uncertain()
	for i := range l.list { // columns pass the low-passes of the torque: they know what these make of a reversal
		l.list[i].Turn = true
	}
	return l.list
}

// lack are the suspects under way.
type lack struct {
	r        *Result
	recs     []Recording
	f        filters
	rows     int   // of the solution
	firstRow []int // first row of each block
	list     []fit.Suspect

	givenColumns []givenColumn // what errors of given numbers make
	knownRows    []bool        // rows at which these are known
}

// joint adds what any axis may lack.
func (l *lack) joint(joint int) {
	r := l.r
	m := fit.Motion{Joint: JointName(r.Model, joint), Rotary: !r.prismatic(joint), Dt: l.f.dt, RowTime: r.rowTime,
		Constant: true, Lag: r.Base.lagOf(joint) >= 0, Spring: slices.Contains(r.Spec.Terms, Stiffness)} // weight is in the inertial parameters
	if within := r.Base.timing.lagWithin; within != nil {
		m.LagWithin = within[joint]
	}
	if k := r.Base.lagOf(joint); k >= 0 {
		m.Delay = r.Values[k]
	}
	var blocks []int
	for i := range r.sys.blocks {
		b := &r.sys.blocks[i]
		if b.joint != joint || len(b.y) == 0 || b.model == nil {
			continue
		}
		blocks = append(blocks, i)
		d := l.recs[b.rec][joint]
		q, v, _ := l.f.sampled(d.Dt).motion(d.Position)
		m.Pieces = append(m.Pieces, len(m.V))
		m.X, m.V, m.Force = append(m.X, q...), append(m.V, v...), append(m.Force, b.model...)
	}
	if blocks == nil || slices.Max(m.X) == slices.Min(m.X) {
		return
	}
	for j, k := range r.FreeParams {
		c := &r.Base.Columns[r.Base.Pivot[k]]
		if c.Joint != joint || c.Term != Viscous && c.Term != Coulomb && c.Term != Offset {
			continue
		}
		m.Terms = append(m.Terms, fit.MotionTerm{FreeIndex: j, Name: r.Base.Name(k), Value: r.Values[k], Offset: c.Term == Offset,
			Friction: c.Term != Offset, Column: func(at int) float64 { return c.friction(m.V[at]) }})
	}
	for _, sp := range m.Suspects() {
		if r.Spec.Passive[joint] && ofDrive[sp.Kind] {
			continue
		}
		var columns []func(k int) float64
		for _, c := range sp.Columns {
			rows := l.atRows(blocks, m.Pieces, c, sp.JumpsAtTurns)
			columns = append(columns, func(k int) float64 { return rows[k] })
		}
		sp.Columns = columns
		l.list = append(l.list, sp)
	}
}

// ofDrive are the kinds of suspects that a joint without a drive does not have.
var ofDrive = map[string]bool{"late force": true, fit.LowPass: true, "saturation": true, "gain by direction": true, "efficiency": true}

// friction is the column of friction or of an offset at a speed.
func (c *Column) friction(v float64) float64 {
	switch {
	case c.Sense != 0 && float64(c.Sense)*v <= 0:
		return 0
	case c.Term == Viscous:
		return v
	case c.Term == Offset:
		return 1
	case v == 0:
		return 0
	}
	return math.Copysign(1, v)
}

// atRows is a column of all samples of a joint at the rows of the solution. What jumps passes the low-passes of the torque; pieces are
// where the samples of each block begin.
func (l *lack) atRows(blocks, pieces []int, c func(k int) float64, rough bool) []float64 {
	out := make([]float64, l.rows)
	for p, i := range blocks {
		b := &l.r.sys.blocks[i]
		row := out[l.firstRow[i] : l.firstRow[i]+len(b.y)]
		scale := 1 / l.r.sys.sigma[b.joint]
		if !rough {
			for k, at := range b.gridPlaces {
				row[k] = scale * c(pieces[p]+l.f.skip+at*l.f.rowStep)
			}
			continue
		}
		x := make([]float64, len(b.model))
		for k := range x {
			x[k] = scale * c(pieces[p]+k)
		}
		for k, y := range b.atRows(l.f.side(l.f.positionLowpass.ZeroPhase(x))) {
			row[k] = y
		}
	}
	return out
}

// gain: a torque that the drive did not give.
func (l *lack) gain(joint int) {
	passive := l.r.Spec.Passive
	if passive[joint] {
		return
	}
	c := make([]float64, l.rows)
	for i := range l.r.sys.blocks { // what the model makes of it: the measured torque holds the residual
		b := &l.r.sys.blocks[i]
		for k, theta := range l.r.Values {
			if w := b.column(k); b.joint == joint && w != nil && l.r.Base.Columns[l.r.Base.Pivot[k]].Term != Lag {
				floats.AddScaled(c[l.firstRow[i]:l.firstRow[i]+len(b.y)], theta/l.r.sys.sigma[joint], w)
			}
		}
	}
	l.givenColumns = append(l.givenColumns, givenColumn{"gain of the torque of " + JointName(l.r.Model, joint),
		l.r.Spec.Uncertain.Gain / 100, c})
	if slices.Index(passive, false) == joint && !slices.Contains(passive[joint+1:], false) {
		return // the gain of the only drive scales all parameters alike
	}
	l.list = append(l.list, fit.Suspect{Kind: "gain", What: "a torque of " + JointName(l.r.Model,
		joint) + " that is larger or smaller than its gain says",
		Advice: "Check the gain of this torque: its unit, the constant of the motor, the ratio of the gear.", Columns: columnsOf([][]float64{c})})
}

func columnsOf(cs [][]float64) (out []func(k int) float64) {
	for _, c := range cs {
		out = append(out, func(k int) float64 { return c[k] })
	}
	return out
}

// displacement of a joint (m, rad) for derivatives.
const displacement = 1e-4

// variant is a machine or a motion that differs a little from that of the file and the record. What it makes of the torques is a column.
type variant struct {
	joint                     int
	kind, description, advice string           // of a suspect; kind "": it is none
	pair                      bool             // the next one belongs to the same suspect
	model                     *multibody.Model // nil: that of the file
	bend                      func(g *gridRow) // nil: the motion is the recorded one
	rubs                      bool             // viscous friction of the joints feels the other velocity too
	size                      float64          // how much it differs
	exactScale                string           // name of a gain or clock that is taken for exact; "": it is none
	uncertainty               float64          // of a number of the file; 0: it is none
}

// variants are what differs from the machine file. Inertia is felt by several joints, so that each shows where the others do not have it.
func (l *lack) variants() (all []variant) {
	r := l.r
	joints := r.Model.NV()
	if joints > 1 { // the torque of a joint has a lag; what the other joints feel of its motion has one too
		for j := range joints {
			all = append(all, variant{joint: j, kind: "late position",
				description: "what a position of %s that is late, filtered or early would make",
				advice:      "Correct the times of this column, or record the positions of all joints behind the same filter.", size: l.f.dt,
				bend: func(g *gridRow) { g.q[j], g.v[j], g.a[j] = g.previous[j][0], g.previous[j][1], g.previous[j][2] }})
		}
	}
	all = append(all, variant{exactScale: fit.Clock, rubs: true, size: displacement, bend: func(g *gridRow) { // all joints are faster
		floats.Scale(1+displacement, g.v)
		floats.Scale((1+displacement)*(1+displacement), g.a)
	}})
	for j := range joints {
		all = append(all, l.miscounted(j)...)
	}
	for j := range joints {
		all = append(all, variant{joint: j, kind: "zero of position",
			description: "what a position of %s that is counted from elsewhere would make",
			advice:      "Compare zero and sign of this position with the machine file.", size: displacement, uncertainty: r.Spec.Uncertain.Zero,
			bend: func(g *gridRow) { g.q[j] += displacement }})
	}
	for j := range joints {
		body := bodyOf(r.Model, j)
		for _, e := range []r3.Vec{{X: displacement}, {Y: displacement}, {Z: displacement}} {
			if r.Model.Parent(body) > 0 {
				all = append(all, variant{joint: j, kind: "length",
					description: "what a joint %s that stands elsewhere than the machine file says would make",
					advice:      "Compare the place of this joint, the length of the link before it, with the machine file.", size: displacement,
					uncertainty: r.Spec.Uncertain.Length, model: r.Model.Displaced(body, e, r3.Vec{})})
			}
			turned := variant{joint: j, kind: "alignment", description: "what a joint %s that is turned against the machine file would make",
				advice: "Compare the axes of this joint with the machine file; of the first one, the direction of gravity.", size: displacement,
				model: r.Model.Displaced(body, r3.Vec{}, e)}
			if e.Z == 0 { // about its own axis it is the zero of its position
				turned.uncertainty = r.Spec.Uncertain.Axis
			}
			all = append(all, turned)
		}
	}
	return all
}

// miscounted: a joint whose position is q + ε·f(q), with the velocity and acceleration that go with it: a wrong ratio of a gear or number
// of counts, f = q, and an encoder off its centre or aslant, f = sin(n·q) and cos(n·q).
func (l *lack) miscounted(joint int) (all []variant) {
	add := func(v variant, f func(q float64) (f, slope, curve float64)) {
		v.joint, v.rubs, v.size = joint, true, displacement
		v.bend = func(g *gridRow) {
			f, slope, curve := f(g.q[joint])
			x, a := g.v[joint], g.a[joint]
			g.q[joint] += displacement * f
			g.v[joint] += displacement * slope * x
			g.a[joint] += displacement * (slope*a + curve*x*x)
		}
		all = append(all, v)
	}
	name := JointName(l.r.Model, joint)
	add(variant{kind: "scale of position", description: "what a position of %s that is larger or smaller than its scale says would make",
		advice: "Check the counts of this encoder and the ratio of its gear.", exactScale: "gain of the position of " + name},
		func(q float64) (f, slope, curve float64) { return q, 1, 0 })
	for _, n := range fit.EccentricTurns {
		if l.r.prismatic(joint) {
			break
		}
		for _, phase := range []float64{0, math.Pi / 2} {
			v := variant{kind: fit.Eccentric, description: fit.EccentricWhat + ", at joint %s", advice: fit.EccentricAdvice, pair: phase == 0}
			add(v, func(q float64) (f, slope, curve float64) {
				sin, cos := math.Sincos(n*q + phase)
				return sin, n * cos, -n * n * sin
			})
		}
	}
	return all
}

// geometry adds what differs from the machine file.
func (l *lack) geometry() {
	r := l.r
	phi := r.inertialParams()
	if phi == nil {
		return
	}
	grid := l.lookedAt()
	was := r.torquesAt(r.Model, phi, grid)
	for i, x := range l.noise(grid, phi, was) {
		r.Joints[i].Noise = numeric.OrNull(x)
	}
	l.knownRows = l.rowsOnGrid(grid)
	all := l.variants()
	columns := make([][]float64, len(all))
	fit.Parallel(len(all), func(i int) { columns[i] = l.differences(grid, l.torques(&all[i], phi, grid), was, all[i].size) })
	for i := 0; i < len(all); i++ {
		v := &all[i]
		l.givenColumns = append(l.givenColumns, givenColumn{v.exactScale, v.uncertainty, columns[i]})
		if v.kind == "" {
			continue
		}
		name, own := JointName(r.Model, v.joint), columns[i:i+1]
		if v.pair {
			own = columns[i : i+2]
			i++
		}
		l.list = append(l.list, fit.Suspect{Kind: v.kind, Joint: name, What: fmt.Sprintf(v.description, name), Advice: v.advice,
			Columns: columnsOf(own)})
	}
}

// torques are those of a variant with the inertial parameters phi, by row and joint.
func (l *lack) torques(v *variant, phi []float64, grid []gridRow) [][]float64 {
	r, moved := l.r, grid
	if v.bend != nil {
		moved = slices.Clone(grid)
		for k := range moved {
			g := &moved[k]
			g.q, g.v, g.a = slices.Clone(g.q), slices.Clone(g.v), slices.Clone(g.a)
			v.bend(g)
		}
	}
	out := r.torquesAt(cmp.Or(v.model, r.Model), phi, moved)
	for _, k := range r.FreeParams {
		c := &r.Base.Columns[r.Base.Pivot[k]]
		if !v.rubs || c.Term != Viscous || c.Sense != 0 {
			continue
		}
		for t := range out {
			out[t][c.Joint] += r.Values[k] * (moved[t].v[c.Joint] - grid[t].v[c.Joint])
		}
	}
	return out
}

// gridRow is the motion of all joints at one time of the rows.
type gridRow struct {
	rec, sample int
	q, v, a     []float64
	previous    [][3]float64 // q, v, a of each joint a sample before
}

// lookedAt are the times of the rows at which structure is looked for.
func (l *lack) lookedAt() (out []gridRow) {
	need := map[[2]int]bool{}
	for _, k := range l.r.Solution.Looked() {
		i := sort.SearchInts(l.firstRow, k+1) - 1
		for len(l.r.sys.blocks[i].y) == 0 {
			i--
		}
		b := &l.r.sys.blocks[i]
		need[[2]int{b.rec, b.gridPlaces[k-l.firstRow[i]]}] = true
	}
	nv := l.r.Model.NV()
	for rec, d := range l.recs {
		var q, v, a [][]float64
		for n, at := 0, 0; at < l.f.count(d[0].Len()); at++ {
			if !need[[2]int{rec, at}] {
				continue
			}
			if n++; n == 1 {
				q, v, a = make([][]float64, nv), make([][]float64, nv), make([][]float64, nv)
				for i := range nv {
					q[i], v[i], a[i] = l.f.sampled(d[i].Dt).motion(d[i].Position)
				}
			}
			row := gridRow{rec, at, make([]float64, nv), make([]float64, nv), make([]float64, nv), make([][3]float64, nv)}
			k := l.f.skip + at*l.f.rowStep
			for i := range nv {
				row.q[i], row.v[i], row.a[i] = q[i][k], v[i][k], a[i][k]
				b := max(k-1, 0)
				row.previous[i] = [3]float64{q[i][b], v[i][b], a[i][b]}
			}
			out = append(out, row)
		}
	}
	return out
}

// differences are a column by the torques of all joints, now and as they were; rows that are not looked at are 0.
func (l *lack) differences(grid []gridRow, now, was [][]float64, by float64) []float64 {
	place := map[[2]int]int{}
	for i, g := range grid {
		place[[2]int{g.rec, g.sample}] = i
	}
	out := make([]float64, l.rows)
	for i := range l.r.sys.blocks {
		b := &l.r.sys.blocks[i]
		for k, at := range b.gridPlaces {
			if g, there := place[[2]int{b.rec, at}]; there {
				out[l.firstRow[i]+k] = (now[g][b.joint] - was[g][b.joint]) / by / l.r.sys.sigma[b.joint]
			}
		}
	}
	return out
}

// inertialParams are the parameters of the bodies nearest to those of the file, in the columns of the regressor; nil: none is fitted or
// known.
func (r *Result) inertialParams() []float64 {
	phi := make([]float64, multibody.BodyParams*r.Model.Bodies())
	theta := r.Base.FullParams(r.Model, r.Values)
	any := false
	for k := range r.Base.Columns {
		if c := &r.Base.Columns[k]; c.Inertial >= 0 {
			phi[c.regressor] += theta[k]
			any = true
		}
	}
	for _, c := range r.Base.knownColumns {
		if c.Term == Inertia {
			phi[c.regressor] += c.Value
			any = true
		}
	}
	if !any {
		return nil
	}
	return phi
}

// torquesAt are the torques of bodies with the parameters phi, by row and joint.
func (r *Result) torquesAt(m *multibody.Model, phi []float64, rows []gridRow) [][]float64 {
	d, nv := m.NewData(), m.NV()
	y := make([]float64, nv*len(phi))
	out := make([][]float64, len(rows))
	for k, g := range rows {
		multibody.Regressor(m, d, g.q, g.v, g.a, y)
		out[k] = make([]float64, nv)
		for i := range nv {
			out[k][i] = floats.Dot(y[i*len(phi):(i+1)*len(phi)], phi)
		}
	}
	return out
}
