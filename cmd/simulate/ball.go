package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant/ball"
	"hilrig/engine/plant/ball/cameras"
	"hilrig/identify/capture"
)

// ballRun is a ball in front of cameras, and its results.
type ballRun struct {
	results // columns: the motion as it is, a number a frame
	cfg     *configs.BallRun
	model   *ball.Model
	rec     *cameras.Recording
}

// shownSpeed is the angular velocity (rad/s) up to which the viscous law was shown [KKK17].
const shownSpeed = 5.0

// RunBall is hil simulate for a ball in front of cameras.
func RunBall(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	format, err := f.check(path)
	if err != nil {
		return err
	}
	if f.Animate != "" || f.Events != "" || len(f.Laws) > 0 || f.Step != 0 {
		return report.Exitf(report.Usage, "simulate: --animate, --events, --law and --step are not for a ball in front of "+
			"cameras, which %s describes; it has -o, --motion and --plot", path)
	}
	cfg, warnings, err := configs.LoadBallRun(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	f.times(new(float64), &cfg.Duration)
	s := &ballRun{results: newResults(path, report.PrintWarnings(stderr, warnings)), cfg: cfg}
	done := underWay(stderr, path)
	err = s.run(ctx)
	done()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return report.Exitf(report.Internal, "simulate: %s: %w", path, err)
	}
	doubt := s.doubts()
	s.printWarnings(stderr)
	if f.OutputPath != "" && len(cfg.Markers) == 0 {
		return report.Exitf(report.Invalid, "simulate: -o writes what cameras see of the markers, and %s has no markers; "+
			"--motion writes the motion itself", path)
	}
	next := "hil simulate " + path + " --plot run.png      draws it"
	if f.Plot != "" {
		next = "hil simulate " + path + " -o markers.csv      keeps what the cameras see"
	}
	if f.OutputPath != "" {
		next = "hil import " + f.OutputPath + "      shows what the recording holds"
	}
	files := []output{{f.OutputPath, func(w io.Writer) error { return capture.WriteCSV(w, s.capture()) }}, {f.Motion, s.writeColumns},
		figureOutput(f.Plot, format, s.figure)}
	return f.finish(ctx, files, func() any { return s.result(f) }, s.print, next, doubt, stdout)
}

// run simulates, and makes columns and metrics of the motion.
func (s *ballRun) run(ctx context.Context) (err error) {
	c := s.cfg
	if s.model, err = ball.New(c.Ball); err != nil {
		return err
	}
	if s.rec, err = cameras.Record(ctx, s.model, c.Ball.Radius, c.State(s.model), c.Duration, c.CameraModel()); err != nil {
		return err
	}
	for n := range strings.FieldsSeq("time:s x:m y:m qw: qx: qy: qz: gamma1: gamma2: gamma3: omega1:rad/s omega2:rad/s omega3:rad/s " +
		"roll:rad/s spin:rad/s energy:J power:W normal_force:N tangential_force:N force_ratio: contact_velocity:m/s") {
		name, unit, _ := strings.Cut(n, ":")
		s.columns = append(s.columns, column{name: name, unit: unit})
	}
	slipping := 0
	for k := range s.rec.States {
		st, a := &s.rec.States[k], &s.rec.Accels[k]
		f := st.Frame()
		spin := r3.Dot(st.W, f.C)
		roll := r3.Norm(r3.Sub(st.W, r3.Scale(spin, f.C)))
		n, t := a.Force.Z, math.Hypot(a.Force.X, a.Force.Y)
		contact := math.Hypot(st.VX-c.Ball.Radius*r3.Dot(f.B, st.W), st.VY+c.Ball.Radius*r3.Dot(f.A, st.W))
		if !st.Mode.Slip {
			contact = 0
		} else {
			slipping++
		}
		for j, x := range [...]float64{
			s.rec.Times[k], st.X, st.Y, st.Q.Real, st.Q.Imag, st.Q.Jmag, st.Q.Kmag, f.C.X, f.C.Y, f.C.Z, st.W.X, st.W.Y, st.W.Z, roll, spin,
			s.model.Energy(st), s.model.Power(st, a), n, t, t / n, contact,
		} {
			s.columns[j].x = append(s.columns[j].x, x)
		}
	}
	e := s.of("energy")
	s.metrics = []Metric{
		{"frames", "", float64(len(s.rec.Times))},
		{"roll_max", "rad/s", slices.Max(s.of("roll"))}, {"spin_max", "rad/s", max(slices.Max(s.of("spin")), -slices.Min(s.of("spin")))},
		{"energy_start", "J", e[0]}, {"energy_end", "J", e[len(e)-1]},
		{"normal_force_min", "N", slices.Min(s.of("normal_force"))}, {"normal_force_max", "N", slices.Max(s.of("normal_force"))},
		{"force_ratio_max", "", slices.Max(s.of("force_ratio"))},
		{"slipping_share", "", float64(slipping) / float64(len(s.rec.Times))},
		{"contact_velocity_max", "m/s", slices.Max(s.of("contact_velocity"))},
		{"frames_pulled", "", float64(s.rec.Pulled)},
	}
	return nil
}

// doubts warns, and refuses a run that the model does not hold for.
func (s *ballRun) doubts() error {
	p := &s.cfg.Ball
	if top := slices.Max(s.of("roll")); p.Roll.Linear > 0 && top > shownSpeed {
		s.warn("extrapolated: the ball rolls with up to %.1f rad/s, the viscous law was shown up to %g rad/s [KKK17]", top, shownSpeed)
	}
	if top := slices.Max(s.of("force_ratio")); !p.Slips && p.Slide > 0 && top > p.Slide {
		s.warn("rolling asks for T/N = %.3f, ball.slide is %.3f: it would slip; ball.slips: true lets it", top, p.Slide)
	}
	if s.rec.Pulled > 0 {
		s.warn("in %d of %d frames the plane would have to pull: the ball would lift off, which this model does not know", s.rec.Pulled,
			len(s.rec.Times))
		return report.Exitf(report.Quality, "simulate: do not trust this result, see the warnings")
	}
	return nil
}

// capture is what the cameras saw.
func (s *ballRun) capture() *capture.Capture {
	c := &capture.Capture{Format: capture.Table, Unit: "m", Rate: s.cfg.Cameras.Rate, Time: s.rec.Times}
	for k := range s.rec.Times {
		c.Frame = append(c.Frame, k+1)
	}
	for j, m := range s.cfg.Markers {
		out := capture.Marker{Name: m.Name}
		for k := range s.rec.Times {
			out.Path, out.Visible = append(out.Path, s.rec.Points[k][j]), append(out.Visible, s.rec.Visible[k][j])
		}
		c.Markers = append(c.Markers, out)
	}
	return c
}

// figure draws path and γ on the left, speeds, energy and contact force on the right.
func (s *ballRun) figure() *plot.Figure {
	t := s.of("time")
	time := plot.Axis{Name: "time", Unit: "s", Max: s.cfg.Duration}
	over := func(name, unit string, labels map[string]string, order ...string) plot.Panel {
		p := plot.Panel{X: time, Y: plot.Axis{Name: name, Unit: unit}}
		for _, c := range order {
			p.Series = append(p.Series, plot.Series{Label: cmp.Or(labels[c], c), X: t, Y: s.of(c)})
		}
		return p
	}
	path := plot.Panel{X: plot.Axis{Name: "x", Unit: "m"}, Y: plot.Axis{Name: "y", Unit: "m"},
		Series: []plot.Series{{Label: "path of the centre", X: s.of("x"), Y: s.of("y")}}}
	left := []plot.Panel{path, over("vertical in the body", "", map[string]string{"gamma1": "γ1", "gamma2": "γ2", "gamma3": "γ3"}, "gamma1",
		"gamma2", "gamma3"), over("angular velocity", "rad/s", nil, "roll", "spin")}
	right := []plot.Panel{over("energy", "J", nil, "energy"), over("contact force", "N", map[string]string{"normal_force": "N",
		"tangential_force": "T"}, "normal_force", "tangential_force"), over("T/N", "", map[string]string{"force_ratio": "T/N"}, "force_ratio")}
	if s.cfg.Ball.Slips {
		right = append(right, over("velocity of the contact", "m/s", map[string]string{"contact_velocity": "contact"}, "contact_velocity"))
	}
	return &plot.Figure{Title: cmp.Or(s.cfg.Description, s.cfg.Name), Note: s.text(), Columns: []plot.Column{{Panels: left}, {Panels: right}}}
}

// text says what was recorded.
func (s *ballRun) text() string {
	k := &s.cfg.Cameras
	return fmt.Sprintf("%s in %s, %d markers at %s with noise of %s", filepath.Base(s.path), report.WithUnit(s.cfg.Duration, "s"),
		len(s.cfg.Markers), report.WithUnit(k.Rate, "Hz"), report.WithUnit(1e3*k.Noise, "mm"))
}

func (s *ballRun) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n\n", report.Titled(s.cfg.Name, s.cfg.Description), s.text())
	s.printMetrics(w)
}

// ballResult is the JSON of a run.
type ballResult struct {
	runHead
	Duration float64     `json:"duration_s"`
	Ball     ball.Params `json:"ball"` // SI
	runNumbers
}

func (s *ballRun) result(f Options) ballResult {
	return ballResult{s.head(s.cfg.Name), s.cfg.Duration, s.cfg.Ball, s.numbers(f)}
}
