package simulate

import (
	"context"
	"fmt"
	"math"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/plant/brush"
)

// brushBeside are the forces that a row of a brush has, means since the row before.
var brushBeside = []engine.Signal{{Name: "face_force", Unit: "N"}, {Name: "holder_force", Unit: "N"}, {Name: "spring_force", Unit: "N"},
	{Name: "torque", Unit: "N·m"}}

// brushBySteps runs the brush with its own statistics.
func (s *contactRun) brushBySteps(ctx context.Context, b *brush.Brush) error {
	e := s.cfg.Engine
	if err := b.Resolvable(e.Step); err != nil {
		if !e.AveragedContact {
			return fmt.Errorf("%w; %w", err, errUnresolved)
		}
		s.brushByMeans(b, err)
		return nil
	}
	s.beginRows(brushBeside, nil)
	stats, err := b.Run(ctx, brush.RunOptions{
		MoreauOptions: s.moreau(), Time: s.cfg.Duration, Discard: orNone(s.cfg.Discard), TraceInterval: int(math.Round(s.cfg.Rows() / e.Step)),
		Trace: s.keepBrush,
	})
	if err != nil {
		return err
	}
	s.figures(&stats)
	s.warnings = append(s.warnings, b.Warnings(e.Step)...)
	s.solver = append(s.solver, Metric{"steps", "", float64(stats.Steps)}, Metric{"unverified_steps", "", float64(stats.Unverified)},
		Metric{"eased_steps", "", float64(stats.Eased)}, Metric{"warm_share", "", stats.WarmStartShare})
	s.solver = append(s.solver, byMethod("solved_by_", stats.Methods)...)
	s.solver = append(s.solver, byMethod("unverified_by_", stats.Unproven)...)
	if added := s.addedRestitution(); added > 0 {
		s.solver = append(s.solver, Metric{"restitution_added", "", added})
		s.meaning["restitution_added"] = "by which impacts act as if every eps_n were larger; engine.positions: true adds none"
	}
	return nil
}

// keepBrush appends a row with the forces of brushBeside.
func (s *contactRun) keepBrush(now *brush.Snapshot) {
	copy(s.q, now.Q)
	copy(s.u, now.U)
	s.addRow(now.T, now.ContactForces, now.Face, now.Holder, now.Spring, now.Torque)
}

// brushByEvents is brushBySteps with the event-driven engine; forces of a row hold the impulses of impacts.
func (s *contactRun) brushByEvents(ctx context.Context, b *brush.Brush) error {
	e := s.cfg.Engine
	p := b.Params()
	if !p.Commutator.SmoothOutline {
		s.warnings = append(s.warnings, fmt.Sprintf("event-driven on an outline of straight edges of %s: every point that touches meets %.2g "+
			"corners per second; commutator.smooth: true is a contour without corners",
			report.WithUnit(p.Commutator.Spacing, "m"), math.Abs(p.Commutator.Speed)*p.Commutator.Radius/p.Commutator.Spacing))
	}
	s.beginRows(brushBeside, nil)
	stats, counts, err := b.RunEvents(ctx, brush.EventRunOptions{
		EventOptions: contact.EventOptions{RTol: e.Tolerance, VTh: e.RestitutionSpeed, MaxEvents: e.MaxEvents, Law: s.cfg.Engine.Impact},
		Time:         s.cfg.Duration, Discard: orNone(s.cfg.Discard), TraceInterval: s.cfg.Rows(), Event: s.happened,
		Trace: s.keepBrush,
	})
	if err != nil {
		return err
	}
	s.figures(&stats)
	s.warnings = append(s.warnings, b.Warnings(0)...)
	s.solver = eventCounts(&counts)
	return nil
}

// figures takes the numbers of a run and what they mean.
func (s *contactRun) figures(stats *brush.Stats) {
	s.meaning = map[string]string{}
	for _, f := range stats.Figures() {
		s.metrics, s.meaning[f.Name] = append(s.metrics, Metric{f.Name, f.Unit, f.Value}), f.Doc
	}
}

// brushByMeans is the averaged contact in place of a run: what the statics of the spring and the fits of the model say. There is no
// motion to keep.
func (s *contactRun) brushByMeans(b *brush.Brush, why error) {
	s.warnings = append(s.warnings, fmt.Sprintf("averaged contact: %v", why))
	p := b.Params()
	a := brush.NewAveraged(&p)
	v := math.Abs(p.Commutator.Speed) * p.Commutator.Radius
	fit := a.At(v)
	friction := p.Commutator.Radius * p.FaceMu(p.Material.Temperature, p.Material.CurrentDensity, v) * a.Force
	s.metrics = []Metric{
		{"averaged", "", 1}, {"face_force", "N", a.Force}, {"torque", "N·m", friction * fit.Rise}, {"friction_torque", "N·m", friction},
		{"loss", "", fit.Loss},
	}
	s.addRow(0, nil)
	s.addRow(s.cfg.Duration, nil)
}

// brushFigure has the phase portrait of the tilt, the tilt over time, and the forces.
func (s *contactRun) brushFigure() *plot.Figure {
	t := s.column(func(r *instant) float64 { return r.t })
	over := func(name, unit string, of func(*instant) float64) plot.Panel {
		return plot.Panel{X: plot.Axis{Name: "time", Unit: "s", Max: s.cfg.Duration}, Y: plot.Axis{Name: name, Unit: unit},
			Series: []plot.Series{{Label: name, X: t, Y: s.column(of)}}}
	}
	settled := func(of func(*instant) float64) []float64 {
		return s.column(func(r *instant) float64 {
			if r.t < s.cfg.Discard {
				return math.NaN()
			}
			return of(r)
		})
	}
	phase := plot.Panel{
		X: plot.Axis{Name: "tilt", Unit: "rad"}, Y: plot.Axis{Name: "angular velocity", Unit: "rad/s"},
		Series: []plot.Series{{Label: "tilt", X: settled(func(r *instant) float64 { return r.q[2] }),
			Y: settled(func(r *instant) float64 { return r.u[2] }), Style: plot.Points}},
	}
	left := []plot.Panel{phase, over("tilt", "rad", func(r *instant) float64 { return r.q[2] })}
	right := make([]plot.Panel, 3)
	for i, c := range brushBeside[:3] {
		right[i] = over(map[int]string{0: "face", 1: "holder", 2: "spring"}[i], c.Unit, func(r *instant) float64 { return r.extras[i] })
		right[i].Y.Name += " force"
	}
	return &plot.Figure{Title: s.title(), Note: s.engineText() + "; forces are means between rows",
		Columns: []plot.Column{{Panels: left}, {Panels: right}}}
}

// brushPicture draws the brush in its holder on the commutator, and the gap under its face.
func brushPicture(b *brush.Brush) *picture {
	p := b.Params()
	w, half, hs, r := p.Brush.Width/2, (p.Brush.Length-p.Segment.Height)/2, p.Segment.Height, p.Commutator.Radius
	slope := w * math.Tan(p.Brush.TopSlope)
	third := 2 * w / 3
	main := drawnBody{Name: "brush", Kind: "brush", Closed: true,
		Points: [][2]float64{{-w, -half}, {w, -half}, {w, half + slope}, {-w, half - slope}}}

	// each segment with the arc of the face below
	rf := p.Face.RadiusRatio * r
	segment := func(at float64) drawnBody {
		s := drawnBody{Name: "segment", Kind: "segment", Closed: true, Points: [][2]float64{{third / 2, hs / 2}, {-third / 2, hs / 2}}}
		for k := range 9 {
			x := third * (float64(k)/8 - 0.5)
			s.Points = append(s.Points, [2]float64{x, -hs/2 - (rf - math.Sqrt(rf*rf-(at+x)*(at+x)))})
		}
		return s
	}
	// the walls, in the frame of the holder
	top, low := p.Holder.Length/2-p.Holder.Offset, -p.Holder.Length/2-p.Holder.Offset
	wall := func(sign float64) drawnBody {
		in := sign*(w+p.Holder.Clearance/2) - p.Holder.X
		out := in + sign*1e-3
		return drawnBody{Name: "holder", Kind: "holder", Closed: true, Points: [][2]float64{{in, low}, {out, low}, {out, top}, {in, top}}}
	}
	arm := drawnBody{Name: "arm", Kind: "spring", Points: [][2]float64{{0, 0}, {p.Spring.Arm, 0}}}
	tip := drawnBody{Name: "tip", Kind: "spring", Radius: p.Spring.TipRadius, Closed: true}

	// the commutator with its bars
	wheel := drawnBody{Name: "commutator", Kind: "turning", Closed: true, Unscaled: true}
	const around = 720
	var hint int32
	for k := range around {
		a := 2 * math.Pi * float64(k) / around
		rad, _ := b.Commutator().Radius(a, &hint)
		wheel.Points = append(wheel.Points, [2]float64{rad * math.Cos(a), rad * math.Sin(a)})
	}
	bars := drawnBody{Name: "slots", Kind: "ground", Unscaled: true}
	for k := range int(p.Commutator.Bars) {
		s, c := math.Sincos(2 * math.Pi * float64(k) / p.Commutator.Bars)
		bars.Points = append(bars.Points, [2]float64{0.8 * r * c, 0.8 * r * s}, [2]float64{r * c, r * s}, [2]float64{0.8 * r * c, 0.8 * r * s})
	}

	pivotX, pivotY := b.Pivot()
	holdX, holdY := b.HolderCentre()
	pic := &picture{
		bodies:  []drawnBody{wheel, bars, wall(-1), wall(1), main, segment(-third), segment(0), segment(third), arm, tip},
		view:    [4]float64{0, r + p.Brush.Length/2 - 2e-3, 0.05, p.Brush.Length + 1.3*r},
		enlarge: 10, caption: "the brush in its holder on the commutator; arrows are contact forces", traces: []string{"x", "y", "phi", "phi_s"},
	}
	pic.pose = func(t float64, q, out []float64) {
		angle := b.Angle(t)
		out[2], out[5] = angle, angle
		for i := 2; i < 4; i++ {
			out[3*i], out[3*i+1], out[3*i+2] = holdX, holdY, p.Holder.Rake+q[9]
		}
		copy(out[12:15], q[:3])
		s, c := math.Sincos(q[2])
		for i := range 3 {
			xi, eta := third*float64(i-1)+q[4+2*i], -p.Brush.Length/2+q[3+2*i]
			out[15+3*i], out[16+3*i], out[17+3*i] = q[0]+c*xi-s*eta, q[1]+s*xi+c*eta, q[2]
		}
		s, c = math.Sincos(q[10])
		out[24], out[25], out[26] = pivotX, pivotY, q[10]
		out[27], out[28] = pivotX+p.Spring.Arm*c, pivotY+p.Spring.Arm*s
	}
	pic.addGap(b)
	return pic
}

// addGap adds the gap: both surfaces as heights over a circle of the commutator's radius, along the face.
func (pic *picture) addGap(b *brush.Brush) {
	r := b.Params().Commutator.Radius
	const places = 2400
	f := &facePicture{radius: r, width: b.Params().Brush.Width}
	var hint int32
	for k := range places {
		rad, _ := b.Commutator().Radius(2*math.Pi*float64(k)/places, &hint)
		f.profile = append(f.profile, rad-r)
	}
	f.points = func(q []float64, forces []contact.ContactForce) [][3]float64 {
		var out [][3]float64
		for i := range b.FacePoints() {
			x, y := b.FacePoint(i, q)
			force := 0.0
			for _, c := range forces {
				if math.Hypot(c.X-x, c.Y-y) < 5e-5 {
					force = c.N
				}
			}
			out = append(out, [3]float64{r * math.Atan2(x, y), math.Hypot(x, y) - r, force})
		}
		return out
	}
	pic.face = f
}
