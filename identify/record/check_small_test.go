package record

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A record of presliding is not told to move further, both ways or at several speeds; one of sliding is.
func TestSmallMotionOnPurpose(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := &Record{Dt: 1e-3}
	for k := range 3000 {
		s := float64(k) * d.Dt
		d.Position = append(d.Position, 1e-7*math.Round(40*math.Sin(2*math.Pi*0.3*s)+0.3*r.NormFloat64()))
		d.Force = append(d.Force, 0.2*math.Sin(2*math.Pi*0.3*s))
		d.Reference = append(d.Reference, 4e-5*math.Sin(2*math.Pi*0.3*s)) // that friction keeps it from
	}
	for _, small := range []bool{false, true} {
		said := ""
		for _, f := range Check([]*Record{d}, CheckOptions{SmallMotion: small}) {
			said += f.Text + ". " + f.Advice + "\n"
		}
		for _, wrong := range []string{"Move further", "larger motion", "against the reference"} {
			if small && strings.Contains(said, wrong) {
				t.Errorf("presliding: %s", said)
			}
		}
		if !small && !strings.Contains(said, "larger motion") {
			t.Errorf("sliding: %s", said)
		}
	}
}

// A velocity with a ripple that hides it within every window, and follows over the whole record, is of the same axis; one of another axis
// is not.
func TestVelocityThatFollowsAsAWhole(t *testing.T) {
	for seed := range uint64(4) {
		for _, same := range []bool{true, false} {
			r := rand.New(rand.NewPCG(seed, 9))
			d := &Record{Dt: 1e-2}
			x, other := 0.0, 0.0
			for k := range 6000 {
				s := float64(k) * d.Dt
				v := 0.02 * math.Cos(2*math.Pi*s/240)
				w := 0.02*math.Cos(2*math.Pi*s/13) + 0.002*math.Sin(s)
				x, other = x+v*d.Dt, other+w*d.Dt
				if !same {
					v = w
				}
				d.Position = append(d.Position, x)
				d.Velocity = append(d.Velocity, v+0.23*math.Sin(2*math.Pi*s/2.048+float64(seed))+1e-5*r.NormFloat64())
				d.Force = append(d.Force, math.Sin(s))
			}
			found := ""
			for _, f := range Check([]*Record{d}, CheckOptions{}) {
				if f.Kind == "velocity-scale" && f.Severity == Fatal {
					found = f.Text
				}
			}
			if same != (found == "") {
				t.Errorf("seed %d, same axis %v: %q", seed, same, found)
			}
		}
	}
}

// A long list of pieces that are left out is one line.
func TestBrief(t *testing.T) {
	var left []string
	for i := range listed {
		left = append(left, fmt.Sprintf("piece %d is left out", i))
	}
	if got := ShortList(left); len(got) != listed {
		t.Errorf("%q", got)
	}
	if got := ShortList(append(left, "piece 3 is left out")); len(got) != 1 || got[0] != "piece 0 is left out; and so are 3 more pieces" {
		t.Errorf("%q", got)
	}
}
