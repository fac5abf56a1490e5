package machine

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
)

// block are the rows of a joint in a recording: torque and columns of the base parameters, at the rows that are kept.
type block struct {
	rec, joint  int
	y, q, v     []float64
	w           [][]float64 // a slice per base parameter; nil: the joint does not feel it
	j           [][]float64 // of the Jacobian, where that is another than w
	gridPlaces  []int       // place of each row on the grid of the recording
	knownTorque []float64   // what is known of the torque, at the rows; nil: nothing
	model       []float64   // torque of the model at all samples of the recording; nil: not asked for
	speed       []float64   // at all samples of the recording, until it is known which rows count
}

// decimationEdge is the edge of the decimation filter, as a share of half the new sampling rate; that of package linear.
const decimationEdge = 0.8

const (
	calmTop = 0.005 // of the top speed, below which a position shows the direction of motion in the whole band
	// of the band tells it where noise turns signs of velocity: noise falls with the 1.5th power of the band
	calmShare = 0.5
)

// filters are the low-passes at one sampling rate.
type filters struct {
	dt                            float64
	positionLowpass, sidesLowpass filter.Lowpass
	halfBandLowpass               filter.Lowpass // of half the band
	rowStep, skip                 int
}

func (s Spec) filters(dt float64) filters {
	fs := 1 / dt
	f := filters{dt: dt, positionLowpass: filter.Butterworth(s.Order, s.Cutoff, fs),
		halfBandLowpass: filter.Butterworth(s.Order, calmShare*s.Cutoff, fs), rowStep: s.Decimate}
	if s.Decimate > 1 {
		f.sidesLowpass = filter.Chebyshev(8, 0.05, decimationEdge*fs/2/float64(s.Decimate), fs)
	}
	f.skip = s.Decimate * int(math.Ceil(s.Trim/dt/float64(s.Decimate)))
	return f
}

// side is a side of the equation after the low-pass, decimated.
func (f *filters) side(x []float64) []float64 {
	if f.sidesLowpass != nil {
		x = f.sidesLowpass.ZeroPhase(x)
	}
	return f.rows(x)
}

func (f *filters) rows(x []float64) []float64 {
	var out []float64
	for k := f.skip; k < len(x)-f.skip; k += f.rowStep {
		out = append(out, x[k])
	}
	return out
}

// count is the number of rows of n samples, 0 if they are too few for the filters.
func (f *filters) count(n int) int {
	if n <= max(f.positionLowpass.Padding(), f.sidesLowpass.Padding()) {
		return 0
	}
	return max((n-2*f.skip+f.rowStep-1)/f.rowStep, 0)
}

// sampled are the same low-passes for a recording of nearly the same rate: both sides of its equation pass them alike, and what is
// derived from its samples has its own interval dt (s).
func (f *filters) sampled(dt float64) *filters {
	own := *f
	own.dt = dt
	return &own
}

// motion is a position behind the low-pass with its derivatives.
func (f *filters) motion(position []float64) (q, v, a []float64) {
	return f.positionLowpass.Motion(position, f.dt)
}

// directionVelocity is the velocity that tells the direction of motion; calm: in half the band.
func (f *filters) directionVelocity(position, v []float64, calm bool) []float64 {
	if calm {
		_, v, _ = f.halfBandLowpass.Motion(position, f.dt)
	}
	return v
}

// restSpeed is, by joint, the speed that the position cannot tell from rest, and whether the direction of motion is taken from half the
// band.
func (s Spec) restSpeed(m *multibody.Model, recs []Recording, f *filters) (limit []float64, calm []bool) {
	limit, calm = make([]float64, m.NV()), make([]bool, m.NV())
	for i := range limit {
		var x [][]float64
		top := 0.0
		for _, r := range recs {
			if f.count(r[i].Len()) > 0 {
				x = append(x, r[i].Position)
				_, v, _ := f.sampled(r[i].Dt).motion(r[i].Position)
				top = math.Max(top, math.Abs(floats.Max(f.rows(v))))
				top = math.Max(top, math.Abs(floats.Min(f.rows(v))))
			}
		}
		noise, step := numeric.Noise(x...), numeric.EncoderStep(x...)
		rest := func(low filter.Lowpass) float64 { return linear.RestSpeed(low, s.Cutoff, f.dt, noise, step, top) }
		own := rest(f.positionLowpass)
		if calm[i] = own > calmTop*top; calm[i] {
			own = rest(f.halfBandLowpass)
		}
		if limit[i] = s.MinVelocity[i]; limit[i] == FromRecord {
			limit[i] = own
		}
	}
	return limit, calm
}

// prepared are the rows of recordings.
type prepared struct {
	blocks            []block
	omittedRecordings []string // recordings that were left out, and why
	slowRows          []int    // rows that were left out, by joint
	total             []int    // of so many
	blur              int      // place among blurs
}

// prepare makes the rows of all recordings. limit is the least speed of each joint; where no column depends on the direction of motion,
// rows at rest count too. blur is the place among blurs of the rows beside slow ones that do not count, or findBlur.
func (b *Base) prepare(m *multibody.Model, s Spec, recs []Recording, limit []float64, blur int) (*prepared, error) {
	f := s.filters(recs[0][0].Dt)
	p := &prepared{slowRows: make([]int, m.NV()), total: make([]int, m.NV()), blur: blur}
	rough := false
	for _, c := range b.Pivot {
		rough = rough || b.Columns[c].jumpsAtReversal()
	}
	var list []int
	for i, r := range recs {
		if n := f.count(r[0].Len()); n < 2 {
			p.omittedRecordings = append(p.omittedRecordings,
				fmt.Sprintf("%s is left out: %d samples are too few for the filters and the trimming of %.3g s at each end", r[0].Name(), r[0].Len(),
					s.Trim))
			continue
		}
		list = append(list, i)
	}
	per := make([][]block, len(list))
	fit.Parallel(len(list), func(k int) { per[k] = b.rows(m, s, &f, recs[list[k]], b.knownColumns) })
	var keep [][][]bool
	for k := range per {
		for i := range per[k] {
			bl := &per[k][i]
			bl.rec = list[k]
			p.total[i] += len(bl.y)
			var own [][]bool
			if limit[i] > 0 && rough {
				own = f.keptByBlur(bl.speed, limit[i], s.Cutoff)
			}
			bl.speed = nil
			keep = append(keep, own)
		}
		p.blocks = append(p.blocks, per[k]...)
	}
	if p.blur == findBlur {
		p.blur = b.chooseBlur(m, p.blocks, keep)
	}
	for k := range p.blocks {
		if keep[k] != nil {
			p.blocks[k].keepRows(keep[k][p.blur])
		}
	}
	for i := range p.slowRows {
		n := 0
		for k := range p.blocks {
			if p.blocks[k].joint == i {
				n += len(p.blocks[k].y)
			}
		}
		p.slowRows[i] = p.total[i] - n
	}
	for _, bl := range p.blocks {
		for k, w := range bl.w {
			if !numeric.AllFinite(w...) || !numeric.AllFinite(bl.y...) {
				return nil, recs[bl.rec][bl.joint].Fail(0, "Check the scale of the data.", "the column of %s overflows", b.Name(k))
			}
		}
	}
	return p, nil
}

// keepRows leaves the rows that are kept.
func (b *block) keepRows(keep []bool) {
	pick := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		out := x[:0]
		for k, yes := range keep {
			if yes {
				out = append(out, x[k])
			}
		}
		return out
	}
	b.y, b.q, b.v, b.knownTorque = pick(b.y), pick(b.q), pick(b.v), pick(b.knownTorque)
	for k := range b.w {
		b.w[k] = pick(b.w[k])
	}
	var at []int
	for k, yes := range keep {
		if yes {
			at = append(at, b.gridPlaces[k])
		}
	}
	b.gridPlaces = at
}

// rows are those of a recording, a block for each joint; what is known is taken off the torque.
func (b *Base) rows(m *multibody.Model, s Spec, f *filters, r Recording, given []Column) []block {
	nv, n := m.NV(), r[0].Len()
	q, v, a, way := make([][]float64, nv), make([][]float64, nv), make([][]float64, nv), make([][]float64, nv)
	for i := range nv {
		q[i], v[i], a[i] = f.sampled(r[i].Dt).motion(r[i].Position)
		way[i] = f.sampled(r[i].Dt).directionVelocity(r[i].Position, v[i], s.halfBandDirection[i])
	}
	w := make([][]float64, nv*len(b.Pivot)) // joint by joint
	off, jump := make([][]float64, nv), make([][]float64, nv)
	for i := range off {
		off[i], jump[i] = make([]float64, n), make([]float64, n)
	}
	d := m.NewData()
	qk, vk, ak := make([]float64, nv), make([]float64, nv), make([]float64, nv)
	wide := multibody.BodyParams * m.Bodies()
	y := make([]float64, nv*wide)
	for t := range n {
		for i := range nv {
			qk[i], vk[i], ak[i] = q[i][t], v[i][t], a[i][t]
		}
		multibody.Regressor(m, d, qk, vk, ak, y)
		for i := range nv {
			row := y[i*wide : i*wide+wide]
			for k, c := range b.Pivot {
				if b.Columns[c].Term == Lag {
					continue
				}
				x := b.Columns[c].value(i, row, way[i][t])
				to := &w[i*len(b.Pivot)+k]
				if x != 0 && *to == nil {
					*to = make([]float64, n)
				}
				if *to != nil {
					(*to)[t] = x
				}
			}
			for k := range given {
				to := off[i]
				if given[k].jumpsAtReversal() {
					to = jump[i]
				}
				to[t] += given[k].Value * given[k].value(i, row, way[i][t])
			}
		}
	}
	out := make([]block, nv)
	for i := range out {
		bl := block{joint: i, speed: way[i], y: f.side(f.positionLowpass.ZeroPhase(b.timing.shifted(i, r[i]))), q: f.rows(q[i]), v: f.rows(v[i]),
			w: make([][]float64, len(b.Pivot))}
		for k, c := range b.Pivot {
			x := w[i*len(b.Pivot)+k]
			if x == nil {
				continue
			}
			if b.Columns[c].jumpsAtReversal() && !s.RawSigns {
				x = f.positionLowpass.ZeroPhase(x)
			}
			bl.w[k] = f.side(x)
		}
		if len(given) > 0 {
			x := f.positionLowpass.ZeroPhase(jump[i])
			floats.Add(x, off[i])
			bl.knownTorque = f.side(x)
			floats.Sub(bl.y, bl.knownTorque)
		}
		b.timing.lagged(b, f, &bl, w[i*len(b.Pivot):(i+1)*len(b.Pivot)])
		for k := range bl.y {
			bl.gridPlaces = append(bl.gridPlaces, k)
		}
		out[i] = bl
	}
	return out
}
