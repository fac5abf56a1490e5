package identify

import (
	"math"
	"testing"

	"hilrig/configs"
	"hilrig/identify/record"
)

// A voltage that is told each millisecond swings the current of a winding through zero, beside a speed that swings too; a fine step
// knows what the current is between the samples. A straight line between them is late by what the winding of the file takes out.
func TestMeanCurrent(t *testing.T) {
	const (
		R, L, K, dt = 1.2, 0.6e-3, 0.042, 1e-3
		fine        = 2000
	)
	for _, c := range []struct {
		name      string
		drop, at  float64
		late      [2]float64 // s  of the straight line between the samples
		remainder float64    // of that
	}{
		{"no brush drop", 0, 0, [2]float64{0.14e-3, 0.17e-3}, 0.02},
		{"brush drop", 0.6, 0.05, [2]float64{0.18e-3, 0.30e-3}, 0.02},
	} {
		d := &record.Record{Dt: dt}
		var exact []float64 // mean torque between two samples
		i := 0.0
		for k := range 1500 {
			now := float64(k) * dt
			d.Force, d.Position = append(d.Force, K*i), append(d.Position, 0.8*math.Sin(8*now))
			u, sum := 0.7*math.Sin(20*now+0.4), 0.0
			for j := range fine {
				w := 6.4 * math.Cos(8*(now+(float64(j)+0.5)*dt/fine))
				drop := 0.0
				if c.drop > 0 {
					drop = c.drop * math.Tanh(i/c.at)
				}
				step := dt / fine * (u - R*i - K*w - drop) / L
				sum += i + step/2
				i += step
			}
			exact = append(exact, K*sum/fine)
		}
		late := func() float64 { // of the force, by least squares on its slope
			var up, down float64
			for k := 20; k < len(d.Force)-2; k++ {
				slope := (d.Force[k+1] - d.Force[k]) / dt
				up += slope * (exact[k] - (d.Force[k]+d.Force[k+1])/2)
				down += slope * slope
			}
			return up / down
		}
		before := late()
		meanCurrent([]*record.Record{d}, &configs.Winding{R: R, L: L, K: K, BrushDrop: c.drop, DropScale: c.at})
		after := late()
		t.Logf("%s: %.4g ms late, with the winding %.2g ms", c.name, 1e3*before, 1e3*after)
		if before < c.late[0] || before > c.late[1] || math.Abs(after) > c.remainder*before {
			t.Errorf("%s: the line is %.4g ms late, %.4g ms with the winding taken out", c.name, 1e3*before, 1e3*after)
		}
	}
	plain := &record.Record{Dt: dt, Force: []float64{1, 2, 4}, Position: []float64{0, 1, 3}}
	meanCurrent([]*record.Record{plain}, nil)
	if plain.Force[1] != 2 {
		t.Error("a force without a winding was changed")
	}
}
