package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/contact"
)

// buildScene makes the scene of a file and its picture.
func buildScene(c *configs.Scene) (*contact.Scene, *picture, error) {
	spec := contact.SceneSpec{Gravity: c.Gravity}
	pic := &picture{}
	for i := range c.Bodies {
		b, drawn, err := sceneBody(&c.Bodies[i])
		if err != nil {
			return nil, nil, fmt.Errorf("scene.bodies[%d] %q: %w", i, c.Bodies[i].Name, err)
		}
		spec.Bodies, pic.bodies = append(spec.Bodies, b), append(pic.bodies, drawn)
	}
	ground := func(name string) string {
		if name == "ground" {
			return ""
		}
		return name
	}
	for _, p := range c.ContactPairs(c.Pairs) {
		spec.Pairs = append(spec.Pairs, contact.PairSpec{A: p.A, B: p.B, Law: contact.Law{Mu: p.Mu, EpsN: p.EpsN, EpsT: p.EpsT, Nu: p.Nu}})
	}
	for _, p := range c.Springs {
		spec.Springs = append(spec.Springs, contact.SpringSpec{
			A: ground(p.A), B: ground(p.B), PA: contact.Point{X: p.AtA[0], Y: p.AtA[1]}, PB: contact.Point{X: p.AtB[0], Y: p.AtB[1]},
			Stiffness: p.Stiffness, Damping: p.Damping, Tension: p.Tension, Linearized: p.Linearized,
		})
	}
	for _, m := range c.Mounts {
		spec.Mounts = append(spec.Mounts, contact.MountSpec{
			Body: m.Body, Stiffness: [3]float64{m.Stiffness[0], m.Stiffness[1], m.Turn}, Damping: [3]float64{m.Damping[0], m.Damping[1], m.TurnDamp},
		})
	}
	for _, f := range c.Forces {
		spec.Forces = append(spec.Forces, contact.ForceSpec{
			Body: f.Body, Point: contact.Point{X: f.Point[0], Y: f.Point[1]}, Constant: [3]float64{f.Constant[0], f.Constant[1], f.Torque},
			Amplitude: [3]float64{f.Amplitude[0], f.Amplitude[1], 0}, Omega: 2 * math.Pi * f.Frequency, Phase: f.Phase,
		})
	}
	s, err := contact.NewScene(spec)
	if err != nil {
		return nil, nil, err
	}
	pic.pose = func(t float64, q, out []float64) {
		for i := range spec.Bodies {
			out[3*i], out[3*i+1], out[3*i+2] = s.Pose(t, q, i)
		}
	}
	pic.view = sceneView(c, pic)
	return s, pic, nil
}

// sceneBody is a body of the file with what is drawn of it.
func sceneBody(c *configs.SceneBody) (contact.BodySpec, drawnBody, error) {
	b := contact.BodySpec{Name: c.Name, Mass: c.Mass, Inertia: c.Inertia, Pose: [3]float64{c.Position[0], c.Position[1], c.Angle}}
	d := drawnBody{Name: c.Name, Kind: "body"}
	speed := [3]float64{c.Velocity[0], c.Velocity[1], c.Spin}
	for j, axis := range []string{"x", "y", "angle"} {
		b.Locked[j] = slices.Contains(c.Locked, axis)
	}
	if c.Kinematic {
		d.Kind = "ground"
		for j := range speed {
			drive := contact.Drive{Rate: speed[j]}
			if j < 2 {
				drive.Amplitude, drive.Omega, drive.Phase = c.Shake.Amplitude[j], 2*math.Pi*c.Shake.Frequency, c.Shake.Phase
			}
			if drive != (contact.Drive{}) && (drive.Rate != 0 || drive.Amplitude != 0) {
				b.Drive[j] = &drive
			} else {
				b.Locked[j] = true
			}
		}
	} else {
		b.Speed = speed
	}
	var outline *contact.Outline
	var err error
	switch c.Shape {
	case "none":
		return b, d, nil
	case "half-plane":
		b.Shape.HalfPlane = true
		d.Points = [][2]float64{{-100, 0}, {100, 0}}
		return b, d, nil
	case "disc":
		b.Shape.Radius = c.Radius
		if c.Radius == 0 {
			return b, d, fmt.Errorf("radius is missing")
		}
		b.Inertia = cmp.Or(b.Inertia, c.Mass*c.Radius*c.Radius/2)
		d.Radius, d.Closed = c.Radius, true
		return b, d, nil
	case "box":
		outline, err = contact.Rectangle(c.Size[0], c.Size[1], c.Chamfer)
	case "polygon", "cavity":
		var points []contact.Point
		for _, p := range c.Points {
			points = append(points, contact.Point{X: p[0], Y: p[1]})
		}
		if c.File != "" {
			if len(points) > 0 {
				return b, d, fmt.Errorf("points and file exclude each other")
			}
			if points, err = contact.LoadPoints(c.File); err != nil {
				return b, d, err
			}
		}
		if c.Shape == "cavity" {
			outline, err = contact.NewCavity(points)
		} else if outline, err = contact.NewOutline(points); err == nil && !c.Kinematic {
			_, centre, _ := outline.Section()
			for i := range points {
				points[i].X, points[i].Y = points[i].X-centre.X, points[i].Y-centre.Y
			}
			outline, err = contact.NewOutline(points)
		}
	case "commutator":
		s := c.Surface
		var wheel *contact.Commutator
		spec := contact.CommutatorSpec{Radius: c.Radius, Eccentricity: s.Eccentricity, Bars: s.Bars, Rz: s.Rz, Corr: s.Correlation,
			Spacing: s.Spacing, Seed: s.Seed}
		if s.Bars > 0 {
			spec.SlotWidth, spec.EdgeLength, spec.DipDepth = 5e-4, 3e-4, 1e-5
		}
		if wheel, err = contact.NewCommutator(spec); err == nil {
			outline, err = wheel.Outline()
		}
	}
	if err != nil {
		return b, d, err
	}
	if s := c.Surface; s.Rz > 0 && c.Shape != "commutator" {
		if outline, err = contact.Roughen(outline, cmp.Or(s.Spacing, min(25e-6, s.Correlation/20)), s.Correlation, s.Rz, s.Seed); err != nil {
			return b, d, err
		}
	}
	if area, _, moment := outline.Section(); b.Inertia == 0 && area > 0 {
		b.Inertia = c.Mass * moment / area
	}
	b.Shape.Outline = outline
	every := max(1, outline.Vertices()/1000)
	for k := 0; k < outline.Vertices(); k += every {
		p := outline.Vertex(k)
		d.Points = append(d.Points, [2]float64{p.X, p.Y})
	}
	d.Closed = c.Shape != "cavity"
	if c.Shape == "cavity" {
		d.Points = append(d.Points, d.Points[0])
	}
	return b, d, nil
}

// sceneView holds all bodies of some size where they are at the start.
func sceneView(c *configs.Scene, pic *picture) [4]float64 {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, b := range c.Bodies {
		if b.Shape == "half-plane" {
			lo[1], hi[1] = min(lo[1], b.Position[1]), max(hi[1], b.Position[1])
			continue
		}
		sin, cos := math.Sincos(b.Angle)
		reach := func(x, y float64) {
			px, py := b.Position[0]+cos*x-sin*y, b.Position[1]+sin*x+cos*y
			lo[0], hi[0], lo[1], hi[1] = min(lo[0], px), max(hi[0], px), min(lo[1], py), max(hi[1], py)
		}
		r := pic.bodies[i].Radius
		reach(-r, -r)
		reach(r, r)
		for _, p := range pic.bodies[i].Points {
			reach(p[0], p[1])
		}
	}
	w, h := max(hi[0]-lo[0], 1e-3), max(hi[1]-lo[1], 1e-3)
	return [4]float64{(lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, 1.2 * w, 1.2*h + 0.1*w}
}

// sceneCoords names the coordinates of a scene: body.x and so on.
func sceneCoords(s *contact.Scene) []engine.Signal {
	var out []engine.Signal
	for _, c := range s.Coordinates() {
		out = append(out, engine.Signal{Name: c.Body + "." + c.Axis, Unit: map[bool]string{true: "rad", false: "m"}[c.Axis == "angle"]})
	}
	return out
}
