package curve

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"testing"

	"hilrig/engine"
	"hilrig/engine/peer"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// The static map agrees with curve_fit, and a virgin curve with orthogonal distance regression of ODRPACK, in values and
// standard errors.
func TestAgreesWithScipy(t *testing.T) {
	python := peer.Python(t, "scipy.odr")
	for _, c := range rigs[:3] {
		c.noiseX = max(c.noiseX, 0.01*c.fs/c.sigma0)
		ps, d := c.points(16, 5), c.closed(900, 0.24, 5)
		l, err := newLoop(d, LoopOptions{NoiseX: c.noiseX, NoiseU: c.noiseU})
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]any{"x": l.x, "u": l.u, "sx": c.noiseX, "su": c.noiseU,
			"start":      []float64{c.fc * 1.1, c.fs * 0.95, c.vs * 1.2, c.fv * 0.9, c.offset},
			"loop_start": []float64{c.sigma0 * 1.1, c.fs * 1.1, c.offset}}
		for name, of := range map[string]func(Point) float64{"v": func(p Point) float64 { return p.V },
			"f": func(p Point) float64 { return p.F }, "se": func(p Point) float64 { return p.SE }} {
			var list []float64
			for _, p := range ps {
				list = append(list, of(p))
			}
			in[name] = list
		}
		// the branch of the reference has no offset
		for k := range l.u {
			l.u[k] -= c.offset
		}
		in["loop_start"].([]float64)[2] = 0
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "testdata/reference.py")
		cmd.Stdin = bytes.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var ref struct {
			Theta, SD, Loop []float64
			LoopSD          []float64 `json:"loop_sd"`
		}
		if err := json.Unmarshal(out, &ref); err != nil {
			t.Fatal(err)
		}
		compare := func(name string, got, gotSE, want, wantSE float64) {
			if math.Abs(got-want) > 0.03*wantSE || math.Abs(gotSE/wantSE-1) > 0.02 {
				t.Errorf("%s: %s = %.8g ± %.4g, the reference has %.8g ± %.4g", c.name, name, got, gotSE, want, wantSE)
			}
		}
		s, err := Static(context.Background(), ps, StaticParams(ps, "lugre", false), StaticOptions{Strict: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range staticOrder {
			compare(name, estimate(t, s, name), standardError(t, s, name), ref.Theta[i], ref.SD[i])
		}
		known := append(PreslidingParams([]*record.Record{d}), fit.Param{Param: engine.Param{Name: "sigma1", Fixed: true}})
		known[2].Value, known[2].Fixed = c.offset, true
		p, err := Presliding(context.Background(), []*record.Record{d}, known, LoopOptions{NoiseX: c.noiseX, NoiseU: c.noiseU}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"sigma0", "Fs"} {
			compare(name, estimate(t, p, name), standardError(t, p, name), ref.Loop[i], ref.LoopSD[i])
		}
	}
}
