package hil

import (
	"flag"
	"fmt"
	"hilrig/hil/axis"
	"image/color"
	"os"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

var figures = flag.Bool("figures", false, "redraw the figures of docs/img")

// The figure of the README: the same PD controller on the same rig, without and with friction compensation.
func TestFigureCompensation(t *testing.T) {
	if !*figures {
		t.Skip("draws only with -figures (make figures)")
	}
	trace := func(comp axis.CompSpec) (pos, err plotter.XYs, ref plotter.XYs, rms float64) {
		b := newBench(t, benchOptions{seed: 3, comp: comp, ref: slowSine, fade: 0.5})
		rows := b.run(t, 10000)
		s := b.controller.Schema()
		iE, iR, iP := s.Index("shaft.ctl.error"), s.Index("shaft.ref.position"), s.Index("drive.motor.angle")
		for i := 2000; i < len(rows); i += 5 {
			x := float64(i-2000) * 1e-3
			r := &rows[i]
			err = append(err, plotter.XY{X: x, Y: 1e3 * r.X[iE]})
			pos = append(pos, plotter.XY{X: x, Y: r.X[iP]})
			ref = append(ref, plotter.XY{X: x, Y: r.X[iR]})
		}
		return pos, err, ref, b.rms(rows[2000:], "shaft.ctl.error")
	}
	posOff, errOff, ref, rmsOff := trace(axis.CompSpec{Inertia: true})
	posOn, errOn, _, rmsOn := trace(observer)

	red, blue, grey := color.RGBA{200, 60, 40, 255}, color.RGBA{30, 90, 180, 255}, color.RGBA{120, 120, 120, 255}
	line := func(p *plot.Plot, xy plotter.XYs, c color.Color, w float64, name string) {
		l, err := plotter.NewLine(xy)
		if err != nil {
			t.Fatal(err)
		}
		l.Color, l.Width = c, vg.Points(w)
		p.Add(l)
		if name != "" {
			p.Legend.Add(name, l)
		}
	}
	top := plot.New()
	top.Y.Label.Text = "angle (rad)"
	top.Legend.Top = true
	line(top, ref, grey, 3, "reference")
	line(top, posOff, red, 1, "PD alone")
	line(top, posOn, blue, 1, "PD with LuGre observer")
	bottom := plot.New()
	bottom.X.Label.Text, bottom.Y.Label.Text = "time (s)", "tracking error (mrad)"
	bottom.Legend.Top = true
	line(bottom, errOff, red, 1, fmt.Sprintf("PD alone: rms %.1f mrad", 1e3*rmsOff))
	line(bottom, errOn, blue, 1, fmt.Sprintf("with compensation: rms %.1f mrad, %.0f times less", 1e3*rmsOn, rmsOff/rmsOn))
	top.Y.Min, top.Y.Max, bottom.Y.Min, bottom.Y.Max = -1.1, 2, -110, 160
	top.Y.Tick.Marker = plot.ConstantTicks{{Value: -1, Label: "−1"}, {Value: 0, Label: "0"}, {Value: 1, Label: "1"}}
	bottom.Y.Tick.Marker = plot.ConstantTicks{{Value: -100, Label: "−100"}, {Value: -50, Label: "−50"}, {Value: 0, Label: "0"},
		{Value: 50, Label: "50"}, {Value: 100, Label: "100"}}
	for _, p := range []*plot.Plot{top, bottom} {
		p.Add(plotter.NewGrid())
		p.X.Min, p.X.Max = 0, 8
		p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 2, Label: "2"}, {Value: 4, Label: "4"}, {Value: 6, Label: "6"},
			{Value: 8, Label: "8"}}
		p.Legend.Padding, p.Legend.XOffs = vg.Points(2), -vg.Points(4)
	}

	img := vgimg.NewWith(vgimg.UseWH(18*vg.Centimeter, 12*vg.Centimeter), vgimg.UseDPI(130))
	dc := draw.New(img)
	canvases := plot.Align([][]*plot.Plot{{top}, {bottom}}, draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(8)}, dc)
	top.Draw(canvases[0][0])
	bottom.Draw(canvases[1][0])
	writePNG(t, "../docs/img/compensation.png", img)
}

func writePNG(t *testing.T, path string, img *vgimg.Canvas) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
