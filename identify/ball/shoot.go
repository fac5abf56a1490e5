package ball

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/identify/fit"
)

// A shooting compares a recording with the motion that the model makes from a start: one for the whole, or one for each segment.
//
// Rows are series: the coordinates of each marker in the frames that show it, or the vertical in the body, γ, of each frame.
type shooting struct {
	rec        *Recording
	poses      *poses
	base       setup
	freeParams []parameter
	segments   []segment
	gamma      bool // compare γ instead of the markers
	stride     int  // frames from one that is compared to the next

	rows      int
	pieces    []int   // where the series begin
	count     []int   // frames that are compared, by marker
	rowPlaces [][]int // by frame and marker: place in its series, −1: not seen
	dt        float64
}

// segment is a part of the recording with a start of its own; they follow each other from the first frame to the last.
type segment struct {
	firstFrame, endFrame int // frames
	start                ball.State
}

// newShooting shoots at a recording with its labels put right.
func newShooting(p *poses, base setup, free []parameter, segments []segment) *shooting {
	return &shooting{rec: p.cleanRecording, poses: p, base: base.clone(), freeParams: free, segments: segments}
}

// oneSegment is all of a recording from one start.
func (p *poses) oneSegment(start ball.State) []segment { return []segment{{0, len(p.times), start}} }

// stateNames are the parameters of a start: place, small turn about the axes of the plane, angular velocity in axes of the body.
var stateNames = [...]struct{ of, axis, unit string }{
	{"x0", "x", "m"}, {"x0", "y", "m"}, {"x0", "turn_x", "rad"}, {"x0", "turn_y", "rad"}, {"x0", "turn_z", "rad"},
	{"v0", "wx", "rad/s"}, {"v0", "wy", "rad/s"}, {"v0", "wz", "rad/s"},
}

const nState = len(stateNames)

// gammaStates are those that γ depends on.
var gammaStates = []int{2, 3, 5, 6, 7}

func (s *shooting) states() []int {
	if s.gamma {
		return gammaStates
	}
	return []int{0, 1, 2, 3, 4, 5, 6, 7}
}

// prepare lays out the rows.
func (s *shooting) prepare() {
	s.stride = max(1, s.stride)
	n := len(s.base.markers)
	if s.gamma {
		n = 1
	}
	s.count, s.rowPlaces = make([]int, n), make([][]int, len(s.rec.Times))
	for f := range s.rowPlaces {
		s.rowPlaces[f] = slices.Repeat([]int{-1}, n)
		for j := range n {
			if f%s.stride == 0 && (s.gamma && s.poses.hasPose(f) || !s.gamma && s.rec.Visible[f][j]) {
				s.rowPlaces[f][j] = s.count[j]
				s.count[j]++
			}
		}
	}
	s.rows, s.pieces = 0, nil
	first := make([]int, n)
	for j, c := range s.count {
		first[j] = s.rows
		for range 3 {
			if c > 0 {
				s.pieces = append(s.pieces, s.rows)
			}
			s.rows += c
		}
	}
	for f := range s.rowPlaces {
		for j := range n {
			if s.rowPlaces[f][j] >= 0 {
				s.rowPlaces[f][j] += first[j]
			}
		}
	}
	s.dt = s.rec.step() * float64(s.stride)
}

// eachMarker calls do for every marker that is compared in the frames from to to (not included), with the rows of its coordinates.
func (s *shooting) eachMarker(from, to int, do func(f, j int, rows [3]int)) {
	for f := from; f < to; f++ {
		for j, row := range s.rowPlaces[f] {
			if row >= 0 {
				do(f, j, s.rowsOf(f, j))
			}
		}
	}
}

// rowsOf are the rows of the coordinates of marker j in frame f, where it is compared.
func (s *shooting) rowsOf(f, j int) [3]int {
	row, n := s.rowPlaces[f][j], s.count[j]
	return [3]int{row, row + n, row + 2*n}
}

// series is one coordinate of one marker, number k, among rows.
func (s *shooting) series(k int, rows []float64) []float64 {
	if k+1 < len(s.pieces) {
		return rows[s.pieces[k]:s.pieces[k+1]]
	}
	return rows[s.pieces[k]:s.rows]
}

// measured is what was recorded of marker j in frame f, or γ.
func (s *shooting) measured(f, j int) r3.Vec {
	if s.gamma {
		return ball.FrameOf(s.poses.q[f]).C
	}
	return s.rec.Points[f][j]
}

// vectorAt are three rows as a vector.
func vectorAt(r []float64, rows [3]int) r3.Vec {
	return r3.Vec{X: r[rows[0]], Y: r[rows[1]], Z: r[rows[2]]}
}

// setVector writes a vector to three rows.
func setVector(r []float64, rows [3]int, v r3.Vec) {
	r[rows[0]], r[rows[1]], r[rows[2]] = v.X, v.Y, v.Z
}

// params are those of the fit: the free ones of the setup, then the starts.
func (s *shooting) params() (ps []fit.Param, scale map[string]float64) {
	scale = map[string]float64{}
	for i := range s.freeParams {
		p := s.freeParams[i].fitParam(&s.base)
		scale[p.Name] = s.freeParams[i].scale(&s.base.body)
		ps = append(ps, p)
	}
	for k := range s.segments {
		v := s.segments[k].start
		for _, i := range s.states() {
			n := stateNames[i]
			p := fit.Param{Param: engine.Param{Name: fmt.Sprintf("%s[%d].%s", n.of, k, n.axis), Unit: n.unit, Lo: math.Inf(-1), Hi: math.Inf(1)}}
			p.Value = [nState]float64{v.X, v.Y, 0, 0, 0, v.W.X, v.W.Y, v.W.Z}[i]
			scale[p.Name] = [nState]float64{0.1 * s.base.body.Radius, 0.1 * s.base.body.Radius, 0.1, 0.1, 0.1, 1, 1, 1}[i]
			ps = append(ps, p)
		}
	}
	return ps, scale
}

// apply gives setup and starts for the values of the parameters.
func (s *shooting) apply(theta []float64, to *setup, starts []ball.State) {
	markers := to.markers
	*to = s.base
	to.markers = markers
	copy(to.markers, s.base.markers)
	for i := range s.freeParams {
		*s.freeParams[i].field(to) = theta[i]
	}
	states := s.states()
	for k := range starts {
		own := theta[len(s.freeParams)+k*len(states):][:len(states)]
		st := s.segments[k].start
		var turn r3.Vec
		fields := [nState]*float64{&st.X, &st.Y, &turn.X, &turn.Y, &turn.Z, &st.W.X, &st.W.Y, &st.W.Z}
		for i, v := range own {
			*fields[states[i]] = v
		}
		st.Q = quat.Mul(rotation.Exp(turn), st.Q)
		starts[k] = st
	}
}

// pose is where the ball stands in a frame.
type pose struct {
	q    quat.Number
	x, y float64
}

// shootTolerance of a step between frames: well below the noise of any marker.
const shootTolerance = 1e-9

// run follows the motion of a segment; false: it came to no number.
func (s *shooting) run(m *ball.Model, seg *segment, start ball.State, out []pose) bool {
	if !numeric.AllFinite(start.W.X, start.W.Y, start.W.Z, start.Q.Real) {
		return false
	}
	m.Place(&start)
	for f := seg.firstFrame; ; f++ {
		out[f] = pose{start.Q, start.X, start.Y}
		if f+1 >= seg.endFrame {
			return true
		}
		if _, st := m.Step(s.rec.Times[f+1]-s.rec.Times[f], &start); st == engine.NonFinite || st == engine.NotConverged {
			return false
		}
	}
}

// fill writes the rows of frames from to to (not included): model, less what was measured if less is set.
func (s *shooting) fill(from, to int, u *setup, at []pose, r []float64, less bool) {
	lean := u.leaning()
	s.eachMarker(from, to, func(f, j int, rows [3]int) {
		var v r3.Vec
		if s.gamma {
			v = ball.FrameOf(at[f].q).C
		} else {
			v = u.point(lean, at[f].q, at[f].x, at[f].y, u.markers[j])
		}
		if less {
			v = r3.Sub(v, s.measured(f, j))
		}
		setVector(r, rows, v)
	})
}
