package identify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/rotation"
	"hilrig/engine/spelling"
	"hilrig/identify"
	"hilrig/identify/ball"
	"hilrig/identify/capture"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// runBall identifies a ball from the markers on it.
func runBall(ctx context.Context, path string, f Options, stdout, stderr io.Writer) error {
	if name := f.foreign(); name != "" {
		return report.ExitWith(report.Usage, fmt.Errorf("identify: --%s is not for a ball in front of cameras, which %s describes", name, path))
	}
	cfg, warnings, err := configs.LoadBallFit(path)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	report.PrintWarnings(stderr, warnings)
	if f.data != "" {
		cfg.Data.File = f.data
	}
	return f.answer(ctx, path, stdout, stderr, func(ctx context.Context, bar *report.Progress) (*answer, error) {
		res, found, err := fitBall(ctx, cfg, progressWatch(bar))
		if err != nil {
			return nil, err
		}
		res.Interrupted = ctx.Err() != nil
		return &answer{Identification: Identification{Name: cfg.Name, Result: res, Ball: &found.Evidence},
			printAfter: func(w io.Writer) { printLevels(w, &found.Evidence) },
			nextStep: func() string {
				if res.Verdict != identify.Identified {
					return "see docs/reference/ball.md, What is refused, for what each reason asks for"
				}
				return report.CommandLine() + " --report ball.html      shows fit and residual"
			}}, nil
	})
}

// fitBall is the fit of a file.
func fitBall(ctx context.Context, cfg *configs.BallFit, watch func(fit.Progress)) (*identify.Result, *ball.Result, error) {
	seen, findings, err := readBall(cfg)
	if err != nil {
		return nil, nil, err
	}
	found, err := ball.Fit(ctx, cfg.Spec(), seen.Recording, watch)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cfg.Data.File, err)
	}
	n := len(seen.Times)
	length := seen.Times[n-1] - seen.Times[0]
	info := record.Info{File: cfg.Data.File, SHA256: seen.sum, Samples: n, Start: seen.Times[0], Interval: length / float64(n-1),
		Duration: length}
	res, err := identify.Rolling(found, info, findings)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cfg.Data.File, err)
	}
	return res, found, nil
}

// foreign is the first flag that was given and is for an axis alone, not for a ball or a machine; "": none.
func (f *Options) foreign() string {
	for _, name := range []string{"columns", "rate", "axis", "law", "method", "last", "span", "validate", "validate-span", "terms",
		"asymmetric", "bootstrap", "write-config", "population", "resume", "publish", "seed", "workers"} {
		if f.Changed(name) {
			return name
		}
	}
	return ""
}

// markersSeen are the markers of a file in the order of the configuration.
type markersSeen struct {
	*ball.Recording
	sum string // SHA-256 of the file
}

// readBall reads the recording. What contradicts the body is an error.
func readBall(cfg *configs.BallFit) (*markersSeen, []record.Finding, error) {
	d := &cfg.Data
	c, err := capture.Read(d.File, capture.Options{Rate: d.Rate, Unit: d.Unit})
	if err != nil {
		return nil, nil, err
	}
	known := capture.Known{Radius: cfg.Ball.Radius}
	for i := range cfg.Markers {
		known.Set = append(known.Set, capture.Place{Name: cfg.Markers[i].Name, Position: cfg.Markers[i].Place()})
	}
	if d.Body != "" {
		if err := posesAsMarkers(c, cfg, &known); err != nil {
			return nil, nil, err
		}
	}
	findings := append(slices.Clone(c.Findings), capture.Check(c, known)...)
	var errs []error
	for _, f := range findings {
		if f.Severity == record.Fatal {
			errs = append(errs, &record.Error{File: d.File, Msg: f.Text,
				Hint: strings.ReplaceAll(strings.ReplaceAll(f.Advice, "--unit ", "data.unit: "), "--rate", "data.rate")})
		}
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	if d.Body != "" {
		findings = append(findings, record.Finding{Kind: "poses", Severity: record.Warning, Pieces: 1,
			Text: fmt.Sprintf("three points stand for a pose of %s, whose noise is not independent: true standard errors may be √3 times "+
				"those below", d.Body)})
	}
	if unused := len(c.Markers) - len(known.Set); unused > 0 {
		var names []string
		for _, m := range c.Markers {
			if !slices.ContainsFunc(known.Set, func(k capture.Place) bool { return k.Name == m.Name }) {
				names = append(names, m.Name)
			}
		}
		findings = append(findings, record.Finding{Kind: "unused-markers", Severity: record.Note, Pieces: 1, Value: float64(unused),
			Text: fmt.Sprintf("%d markers of the recording are not named and not used: %s", unused, strings.Join(names, ", "))})
	}

	times, held := c.Time, make([]bool, len(c.Time))
	if d.Body != "" {
		if times, held = sampled(c, d.Body); slices.Contains(held, true) {
			n := capture.VisibleCount(held)
			findings = append(findings, record.Finding{Kind: "held-poses", Severity: record.Note, Channel: d.Body, Pieces: 1, Value: float64(n),
				Text: fmt.Sprintf("%d of %d rows hold the pose of the row before and are left out", n, len(held))})
		}
	}
	out := &markersSeen{&ball.Recording{}, c.SHA256}
	for k, t := range times {
		if s, t := d.Span, t-c.Time[0]; held[k] || s[1] > 0 && (t < s[0] || t > s[1]) {
			continue
		}
		points, visible := make([]r3.Vec, len(known.Set)), make([]bool, len(known.Set))
		for j, m := range known.Set {
			i := slices.IndexFunc(c.Markers, func(o capture.Marker) bool { return o.Name == m.Name })
			points[j], visible[j] = c.Markers[i].Path[k], c.Markers[i].Visible[k]
		}
		out.Times, out.Points, out.Visible = append(out.Times, t), append(out.Points, points), append(out.Visible, visible)
	}
	if len(out.Times) < 2 {
		return nil, nil, &record.Error{File: d.File, Msg: fmt.Sprintf("%d frames between %g and %g s", len(out.Times), d.Span[0], d.Span[1]),
			Hint: fmt.Sprintf("data.span: the recording goes from 0 to %.6g s.", c.Duration())}
	}
	return out, findings, nil
}

// sampled are the times at which the poses of a body were taken, and which rows hold the pose of the row before: a loop that is faster than
// its tracker writes each pose several times, and how old it is in BODY.age (s).
func sampled(c *capture.Capture, body string) (times []float64, held []bool) {
	times, held = slices.Clone(c.Time), make([]bool, len(c.Time))
	for _, a := range c.Analog {
		if a.Name == body+".age" && a.Unit == "s" && len(a.Samples) == len(times) {
			for k, age := range a.Samples {
				times[k] -= age
			}
		}
	}
	at := slices.IndexFunc(c.Bodies, func(b capture.Body) bool { return b.Name == body })
	b := &c.Bodies[at]
	for k := 1; k < len(times); k++ {
		held[k] = b.Visible[k] && b.Position[k] == b.Position[k-1] && b.Rotation[k] == b.Rotation[k-1]
	}
	return times, held
}

// posesAsMarkers puts points of a body in the place of the markers.
func posesAsMarkers(c *capture.Capture, cfg *configs.BallFit, known *capture.Known) error {
	var names []string
	for _, b := range c.Bodies {
		names = append(names, b.Name)
	}
	at := slices.Index(names, cfg.Data.Body)
	if at < 0 {
		return &record.Error{File: c.File, Msg: fmt.Sprintf("there is no body %s in it", cfg.Data.Body),
			Hint: spelling.Hint(cfg.Data.Body, names, "Bodies here: "+strings.Join(names, ", ")+".")}
	}
	body := &c.Bodies[at]
	if body.Position == nil {
		return &record.Error{File: c.File, Msg: fmt.Sprintf("the body %s has rotations and no positions", body.Name),
			Hint: "Record its position too: slip is seen by it."}
	}
	c.Markers = nil
	for k, p := range cfg.BodyPoints() {
		m := capture.Marker{Name: fmt.Sprintf("%s, point %d", body.Name, k+1), Visible: body.Visible}
		for f, q := range body.Rotation {
			m.Path = append(m.Path, r3.Add(body.Position[f], rotation.Rotate(q, p)))
		}
		c.Markers = append(c.Markers, m)
		known.Set = append(known.Set, capture.Place{Name: m.Name, Position: p})
	}
	return nil
}

// printLevels writes what every level says, side by side, and what was looked at for slip.
func printLevels(w io.Writer, b *ball.Evidence) {
	var names []string
	for _, l := range b.Levels {
		for _, v := range l.Values {
			if ball.IsFriction(v.Name) && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprint(t, "level")
	for _, n := range names {
		fmt.Fprintf(t, "\t%s", n)
	}
	fmt.Fprintln(t, "\tleft over\twhat it is not good for")
	for _, l := range b.Levels {
		fmt.Fprint(t, l.Name)
		for _, n := range names {
			v, ok := l.Value(n)
			switch {
			case !ok:
				fmt.Fprint(t, "\t–")
			case v.Err > 0:
				show := report.Digits(v.Value, &v.Err)
				fmt.Fprintf(t, "\t%s ± %s", show(v.Value), show(v.Err))
			default:
				fmt.Fprintf(t, "\t%.5g", report.Number(v.Value))
			}
		}
		fmt.Fprintf(t, "\t%.3g %s\t%s\n", report.Number(l.RMS), l.Unit, l.Warning)
	}
	m := &b.Moduli
	fmt.Fprintf(t, "moduli, linear\t%.5g%s\t%.3g N·m\tbiased upward by noise; to compare with [KKK17] (2.2) only\n", report.Number(m.Linear),
		strings.Repeat("\t", max(0, len(names)-1)), report.Number(m.LinearRMS))
	fmt.Fprintf(t, "moduli, quadratic\t%.5g%s\t%.3g N·m\tin N·m·s²; biased upward by noise, too\n", report.Number(m.Quadratic),
		strings.Repeat("\t", max(0, len(names)-1)),
		report.Number(m.QuadraticRMS))
	t.Flush()
	s := &b.Slip
	fmt.Fprintf(w, "slip         contact velocity %.2f times its noise, at most %.2g m/s and %.1f times over three frames; fit %.2f times "+
		"the noise; T/N up to %.3f\n", s.Contact, report.Number(s.TopSpeed), s.Lasting, s.Residual, s.Ratio)
	fmt.Fprintf(w, "motion       rolls with up to %.2f rad/s, spins with %.2f rad/s rms; noise of a marker %.3g mm; %d frames, %d left out, "+
		"%d odd\n", b.TopRoll, b.SpinRMS, 1e3*b.Noise, b.Frames, b.LeftOut, b.Odd)
}
