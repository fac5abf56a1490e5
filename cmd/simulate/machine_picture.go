package simulate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/plot"
	"hilrig/configs"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
)

// sticks draw a machine: a line on each body from its joint to every other joint, loop and frame on it, or to its centre of mass. They
// are looked at with every row.
type sticks struct {
	ends         []stickEnd
	lines        [][2]int  // ends
	names        []string  // of the lines
	trail        int       // the end whose way is drawn
	axes         [3]r3.Vec // of a view in space: the last is up, against gravity
	endPositions [][]r3.Vec
}

// stickEnd is a frame of the model, or a point of a body.
type stickEnd struct {
	frame, body int
	point       r3.Vec
	ground      bool
}

func newSticks(c *configs.MachineRun, m *machine.Machine) (s sticks) {
	model := m.Model
	frame := map[string]int{}
	end := func(name string) int {
		k, err := model.Frame(name)
		if err != nil {
			panic("simulate: " + err.Error()) // a name of the model
		}
		if e, ok := frame[name]; ok {
			return e
		}
		frame[name] = len(s.ends)
		s.ends = append(s.ends, stickEnd{frame: k, ground: model.BodyOf(k) == 0})
		return frame[name]
	}
	drawn := map[string]bool{}
	line := func(body, to string) {
		if to == "" || to == body {
			return
		}
		owner, _, _ := strings.Cut(body, ".") // of a place on a beam
		s.lines, s.names = append(s.lines, [2]int{end(body), end(to)}), append(s.names, owner)
		drawn[owner] = true
	}
	bodies := c.Machine.Bodies
	for i := range bodies {
		b := &bodies[i]
		if onGround := b.Parent == "" || b.Parent == multibody.Ground; !onGround && b.Joint.Kind != "prismatic" && b.Joint.Kind != "free" {
			line(b.Parent, b.Name)
		}
	}
	for _, e := range c.Ends() {
		line(e[0], e[1])
	}
	for i := range bodies {
		b := &bodies[i]
		if drawn[b.Name] || b.Joint.Kind == "fixed" {
			continue
		}
		j, err := model.Joint(b.Name)
		if err != nil {
			continue
		}
		com := model.InertiaOf(j).Com
		s.ends = append(s.ends, stickEnd{frame: -1, body: j, point: com})
		s.lines, s.names = append(s.lines, [2]int{end(b.Name), len(s.ends) - 1}), append(s.names, b.Name)
	}
	for i := range bodies {
		b := &bodies[i]
		if onGround := b.Parent == "" || b.Parent == multibody.Ground; onGround && b.Joint.Kind != "prismatic" && b.Joint.Kind != "free" {
			s.ends[end(b.Name)].ground = true // its joint stays where it is
		}
	}
	s.axes = upright(r3.Vec{X: c.Machine.Gravity[0], Y: c.Machine.Gravity[1], Z: c.Machine.Gravity[2]})
	s.trail = -1
	if n := len(s.lines); n > 0 {
		s.trail = s.lines[n-1][1]
	}
	if len(c.Outputs.Frames) > 0 {
		s.trail = end(c.Outputs.Frames[0])
	}
	return s
}

// upright are three axes at right angles along those of the world, the last against gravity, or along z.
func upright(gravity r3.Vec) (axes [3]r3.Vec) {
	x, y, z := r3.Vec{X: 1}, r3.Vec{Y: 1}, r3.Vec{Z: 1}
	axes = [3]r3.Vec{x, y, z}
	down := -gravity.Z
	switch a, b, c := math.Abs(gravity.X), math.Abs(gravity.Y), math.Abs(gravity.Z); {
	case b > a && b > c:
		axes, down = [3]r3.Vec{x, r3.Scale(-1, z), y}, -gravity.Y
	case a > c:
		axes, down = [3]r3.Vec{y, z, x}, -gravity.X
	}
	if down < 0 { // half a turn about the first
		axes[1], axes[2] = r3.Scale(-1, axes[1]), r3.Scale(-1, axes[2])
	}
	return axes
}

// addRow notes where the ends are.
func (s *sticks) addRow(m *machine.Machine) {
	row := make([]r3.Vec, len(s.ends))
	for i, e := range s.ends {
		if e.frame >= 0 {
			_, row[i] = m.Model.FramePose(m.Data, e.frame)
			continue
		}
		turn, at := m.Data.Pose(e.body)
		row[i] = r3.Add(at, turn.Vec(e.point))
	}
	s.endPositions = append(s.endPositions, row)
}

// extent is what numbers cover.
type extent struct{ lo, hi float64 }

func (e extent) size() float64   { return e.hi - e.lo }
func (e extent) middle() float64 { return (e.lo + e.hi) / 2 }

// extent is what the ends cover along a direction.
func (s *sticks) extent(along r3.Vec) extent {
	e := extent{math.Inf(1), math.Inf(-1)}
	for _, row := range s.endPositions {
		for _, p := range row {
			x := r3.Dot(along, p)
			e = extent{min(e.lo, x), max(e.hi, x)}
		}
	}
	return e
}

// view chooses what is to the right and what is up: the plane in which all moves, or a view from above and aside.
func (s *sticks) view() (right, up r3.Vec, flat bool, names [2]string) {
	x, y, z := r3.Vec{X: 1}, r3.Vec{Y: 1}, r3.Vec{Z: 1}
	dx, dy, dz := s.extent(x).size(), s.extent(y).size(), s.extent(z).size()
	switch thin := 1e-6 * max(dx, dy, dz); {
	case dz <= thin:
		return x, y, true, [2]string{"x", "y"}
	case dy <= thin:
		return x, z, true, [2]string{"x", "z"}
	case dx <= thin:
		return y, z, true, [2]string{"y", "z"}
	}
	const turn, rise = 0.6, 0.35 // rad
	sin, cos := math.Sincos(turn)
	high, level := math.Sincos(rise)
	along := func(a, b, c float64) r3.Vec {
		return r3.Add(r3.Add(r3.Scale(a, s.axes[0]), r3.Scale(b, s.axes[1])), r3.Scale(c, s.axes[2]))
	}
	return along(cos, sin, 0), along(-high*sin, high*cos, level), false, [2]string{"aside", "up"}
}

// space is the picture of a machine that does not move in one plane.
func (s *sticks) space() *spacePicture {
	p := &spacePicture{Ground: []int{}, Trail: s.trail}
	index := map[string]int{}
	for i, l := range s.lines {
		name := s.names[i]
		if _, ok := index[name]; !ok {
			index[name] = len(p.Names)
			p.Names = append(p.Names, name)
		}
		p.Lines = append(p.Lines, [3]int{l[0], l[1], index[name]})
	}
	for i, e := range s.ends {
		if e.ground {
			p.Ground = append(p.Ground, i)
		}
	}
	for _, row := range s.endPositions {
		var at []float64
		for _, v := range row {
			for _, axis := range s.axes {
				at = append(at, shown7(r3.Dot(axis, v)))
			}
		}
		p.EndPositions = append(p.EndPositions, at)
	}
	sum := 0.0
	for j, axis := range s.axes {
		e := s.extent(axis)
		p.Centre[j] = e.middle()
		sum += e.size() * e.size()
		p.Axes[0][j], p.Axes[1][j], p.Axes[2][j] = axis.X, axis.Y, axis.Z
	}
	p.Size = 1.1 * math.Sqrt(sum)
	return p
}

// sequence is the machine at some times, with the way of one point up to then.
func (s *machineRun) sequence() (panels []plot.Panel) {
	rows := len(s.sticks.endPositions)
	if rows == 0 || len(s.sticks.lines) == 0 {
		return nil
	}
	right, up, _, names := s.sticks.view()
	project := func(p r3.Vec) (x, y float64) { return r3.Dot(right, p), r3.Dot(up, p) }
	// one range for all pictures
	across, high := s.sticks.extent(right), s.sticks.extent(up)
	pad := 0.08*max(across.size(), high.size()) + 1e-9
	const shown = 4
	for k := range shown {
		at := k * (rows - 1) / (shown - 1)
		p := plot.Panel{Title: fmt.Sprintf("t = %.4g s", s.columns[0].x[at]), Equal: true,
			X: plot.Axis{Name: names[0], Unit: "m", Min: across.lo - pad,
				Max: across.hi + pad}, Y: plot.Axis{Name: names[1], Unit: "m", Min: high.lo - pad, Max: high.hi + pad}}
		row := s.sticks.endPositions[at]
		ground := plot.Series{Label: multibody.Ground, Style: plot.Points}
		var bodies []plot.Series
		index := map[string]int{}
		for i, l := range s.sticks.lines {
			name := s.sticks.names[i]
			j, ok := index[name]
			if !ok {
				j = len(bodies)
				index[name] = j
				bodies = append(bodies, plot.Series{Label: name})
			}
			for _, e := range l {
				x, y := project(row[e])
				bodies[j].X, bodies[j].Y = append(bodies[j].X, x), append(bodies[j].Y, y)
			}
			bodies[j].X, bodies[j].Y = append(bodies[j].X, math.NaN()), append(bodies[j].Y, math.NaN())
		}
		for i, e := range s.sticks.ends {
			if x, y := project(row[i]); e.ground {
				ground.X, ground.Y = append(ground.X, x), append(ground.Y, y)
			}
		}
		if s.sticks.trail >= 0 {
			way := plot.Series{Style: plot.Guide}
			for _, r := range s.sticks.endPositions[:at+1] {
				x, y := project(r[s.sticks.trail])
				way.X, way.Y = append(way.X, x), append(way.Y, y)
			}
			p.Series = append(p.Series, way)
		}
		p.Series = append(p.Series, bodies...)
		for i, l := range s.sticks.lines { // bodies that are a point
			if r3.Norm(r3.Sub(row[l[0]], row[l[1]])) < 1e-3*pad {
				x, y := project(row[l[0]])
				p.Series = append(p.Series, plot.Series{Label: s.sticks.names[i], X: []float64{x}, Y: []float64{y}, Style: plot.Points})
			}
		}
		if len(ground.X) > 0 {
			p.Series = append(p.Series, ground)
		}
		panels = append(panels, p)
	}
	return panels
}

// animate writes a page that shows a machine moving, in its plane or in space.
func (s *machineRun) animate(w io.Writer) error {
	right, up, flat, _ := s.sticks.view()
	d := animationData{Title: cmp.Or(s.cfg.Description, s.cfg.Name), Note: s.text(), Caption: "bodies, from joint to joint", Force: 1}
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for k, row := range s.sticks.endPositions {
		var pose []float64
		for i, l := range s.sticks.lines {
			a, b := row[l[0]], row[l[1]]
			x, y := r3.Dot(right, a), r3.Dot(up, a)
			dx, dy := r3.Dot(right, b)-x, r3.Dot(up, b)-y
			x0, x1, y0, y1 = min(x0, x, x+dx), max(x1, x, x+dx), min(y0, y, y+dy), max(y1, y, y+dy)
			pose = append(pose, shown7(x), shown7(y), shown7(math.Atan2(dy, dx)))
			if k == 0 {
				d.Bodies = append(d.Bodies, drawnBody{Name: s.sticks.names[i], Kind: "body", Points: [][2]float64{{0, 0}, {math.Hypot(dx, dy), 0}},
					Unscaled: true})
			}
		}
		for _, e := range s.sticks.ends {
			if e.ground {
				pose = append(pose, 0, 0, 0)
			}
		}
		d.T, d.Pose, d.Contacts = append(d.T, s.columns[0].x[k]), append(d.Pose, pose), append(d.Contacts, [][4]float64{})
	}
	size := max(x1-x0, y1-y0)
	for i := range s.sticks.lines { // bodies that are a point
		if b := &d.Bodies[i]; b.Points[1][0] < 1e-3*size {
			*b = drawnBody{Name: b.Name, Kind: "holder", Radius: 0.03 * size, Closed: true, Unscaled: true}
		}
	}
	for i, e := range s.sticks.ends {
		if e.ground {
			p := s.sticks.endPositions[0][i]
			x, y, r := r3.Dot(right, p), r3.Dot(up, p), 0.02*size
			d.Bodies = append(d.Bodies, drawnBody{Name: multibody.Ground, Kind: "ground",
				Points: [][2]float64{{x - r, y - r}, {x, y}, {x + r, y - r}}, Closed: true, Unscaled: true})
		}
	}
	if !flat {
		d.Space, d.Caption = s.sticks.space(), "bodies, from joint to joint; drag to look from elsewhere"
		d.Bodies, d.Pose = []drawnBody{}, make([][]float64, len(d.T))
	}
	d.Rest = d.Pose[0]
	d.View = [4]float64{(x0 + x1) / 2, (y0 + y1) / 2, 1.2*(x1-x0) + 0.1*size, 1.2*(y1-y0) + 0.1*size}
	for _, c := range s.columns[1:] {
		if len(d.Traces) < 6 && (c.unit == "rad/s" || c.unit == "m/s" || c.unit == "A") {
			d.Traces = append(d.Traces, trace(c.name, c.unit, c.x))
		}
	}
	return d.write(w)
}
