package ball

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
	"hilrig/identify/record"
)

// Exchange is a frame in which markers have each other's labels. They were put right.
type Exchange struct {
	Frame   int     `json:"frame"` // from 0
	Time    float64 `json:"time"`  // s
	Markers []int   `json:"-"`     // each is seen under the label of the next one, the last under that of the first
	Names   string  `json:"markers"`
}

// Stray is a marker that is not where the others say, in one frame: a reflection, or another label. It was left out.
type Stray struct {
	Frame  int     `json:"frame"`
	Time   float64 `json:"time"` // s
	Marker int     `json:"-"`
	Name   string  `json:"marker"`
}

// perCoordinate is the root mean square of a coordinate about the body, with the degrees of freedom of a rigid body taken off.
func perCoordinate(f *rotation.Fit) float64 {
	return f.Rms * math.Sqrt(float64(f.Count)/float64(3*f.Count-6))
}

// putRight looks at the frames whose markers do not fit the body: labels that are plainly exchanged are put right, one marker that is
// plainly elsewhere is left out, and of the others nothing is used. rms is that of a coordinate, by frame.
func (p *poses) putRight(r *Recording, markers []r3.Vec, rms []float64) {
	p.cleanRecording = &Recording{Times: r.Times, Points: slices.Clone(r.Points), Visible: slices.Clone(r.Visible)}
	for k := range rms {
		if !(rms[k] > oddFrame*p.sigma) {
			continue
		}
		e := p.explain(r.Points[k], r.Visible[k], markers)
		p.cleanRecording.Points[k], p.cleanRecording.Visible[k] = e.points, e.visible
		switch {
		case e.cycle != nil:
			p.exchanges = append(p.exchanges, Exchange{Frame: k, Time: r.Times[k], Markers: e.cycle})
		case e.stray >= 0:
			p.strays = append(p.strays, Stray{Frame: k, Time: r.Times[k], Marker: e.stray})
		default:
			p.leaveOut(k)
			continue
		}
		if f, err := alignSeen(e.points, e.visible, markers); err == nil {
			p.q[k], p.center[k] = f.R, f.P
		}
	}
}

// leaveOut takes a frame out.
func (p *poses) leaveOut(k int) {
	p.q[k], p.center[k] = quat.NaN(), r3.Vec{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}
	p.cleanRecording.Visible[k] = make([]bool, len(p.cleanRecording.Visible[k]))
	p.odd++
}

// leaveOutJumps takes out the frames in which all markers together are off the way of the ball through the frames before and after: no
// ball leaves its way and is back on it at once.
func (p *poses) leaveOutJumps() {
	var frames []int
	var way [3][]float64
	for k, c := range p.center {
		if p.hasPose(k) {
			frames = append(frames, k)
			for i, x := range [3]float64{c.X, c.Y, c.Z} {
				way[i] = append(way[i], x)
			}
		}
	}
	for _, x := range way {
		_, at := record.Despike(x)
		for _, i := range at {
			if p.hasPose(frames[i]) {
				p.leaveOut(frames[i])
			}
		}
	}
}

// alignSeen aligns the body with the markers that are visible.
func alignSeen(points []r3.Vec, visible []bool, markers []r3.Vec) (rotation.Fit, error) {
	var body, world []r3.Vec
	for j := range markers {
		if visible[j] {
			body, world = append(body, markers[j]), append(world, points[j])
		}
	}
	return rotation.Align(body, world, nil)
}

// explanation is what makes a frame fit the body: labels that are exchanged, or a marker that is left out.
type explanation struct {
	points  []r3.Vec
	visible []bool
	cycle   []int // see Exchange; nil: none
	stray   int   // −1: none
}

// explain looks for the one exchange of two or three labels, or the one marker left out, that makes a frame fit the body. Where several do,
// none is plain.
func (p *poses) explain(points []r3.Vec, visible []bool, markers []r3.Vec) explanation {
	var at []int
	for j, v := range visible {
		if v {
			at = append(at, j)
		}
	}
	var found []explanation
	try := func(e explanation) {
		if f, err := alignSeen(e.points, e.visible, markers); err == nil && perCoordinate(&f) <= oddFrame*p.sigma {
			found = append(found, e)
		}
	}
	exchange := func(labels ...int) {
		other := slices.Clone(points)
		for i, j := range labels {
			other[j] = points[labels[(i+1)%len(labels)]]
		}
		try(explanation{other, visible, labels, -1})
	}
	for i, a := range at {
		for _, b := range at[i+1:] {
			exchange(a, b)
		}
	}
	if found == nil && len(at) > 3 {
		for i, a := range at {
			for k, b := range at[i+1:] {
				for _, c := range at[i+k+2:] {
					exchange(a, b, c)
					exchange(a, c, b)
				}
			}
		}
	}
	if found == nil && len(at) > 3 {
		for _, j := range at {
			without := slices.Clone(visible)
			without[j] = false
			try(explanation{points, without, nil, j})
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return explanation{points, visible, nil, -1}
}

// name gives exchanged and stray markers their names.
func (r *Result) name(names []string, n int) {
	of := func(j int) string {
		if len(names) == n {
			return names[j]
		}
		return fmt.Sprintf("marker %d", j+1)
	}
	for i := range r.Exchanges {
		var list []string
		for _, j := range r.Exchanges[i].Markers {
			list = append(list, of(j))
		}
		r.Exchanges[i].Names = strings.Join(list, ", ")
	}
	for i := range r.Strays {
		r.Strays[i].Name = of(r.Strays[i].Marker)
	}
}

// fewFrames are as many as are named one by one.
const fewFrames = 4

// labels says which labels were exchanged and which markers strayed.
func (r *Result) labels() (said []string) {
	several := func(n int, each func(i int) string, what string) {
		if n == 0 {
			return
		}
		var list []string
		for i := range min(n, fewFrames) {
			list = append(list, each(i))
		}
		text := strings.Join(list, "; ")
		if n > fewFrames {
			text += fmt.Sprintf("; and %d more frames, in the JSON", n-fewFrames)
		}
		said = append(said, text+": "+what)
	}
	several(len(r.Exchanges), func(i int) string {
		e := &r.Exchanges[i]
		return fmt.Sprintf("%s have each other's labels in frame %d (%.3f s)", e.Names, e.Frame, e.Time)
	}, "put right")
	several(len(r.Strays), func(i int) string {
		s := &r.Strays[i]
		return fmt.Sprintf("%s is not where the others say in frame %d (%.3f s)", s.Name, s.Frame, s.Time)
	}, "left out there")
	return said
}
