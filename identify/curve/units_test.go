package curve

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// sliding units of what a solution or an error says.
var sliding = regexp.MustCompile(`\d (m/s|m|N|N/m|N·s/m)\b[^·]|newton|metre`)

// On an axis that turns, no number is in metres or newtons: not in results, refusals, notes, errors.
func TestRotaryAxisSpeaksOfRadians(t *testing.T) {
	speaks := func(name, text string) {
		t.Helper()
		if at := sliding.FindString(text + " "); at != "" {
			t.Errorf("%s: %q in %q", name, at, text)
		}
	}
	check := func(name string, s *fit.Solution, err error, quantity string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Unit == "N" || s.Quantity != quantity {
			t.Errorf("%s: %s in %q, want %s", name, s.Quantity, s.Unit, quantity)
		}
		for _, p := range s.Params {
			if slices.Contains([]string{"N", "m", "m/s", "N/m", "N·s/m"}, p.Unit) {
				t.Errorf("%s: %s is in %s", name, p.Name, p.Unit)
			}
		}
		speaks(name, strings.Join(s.Notes, "\n"))
		for _, r := range s.Unidentifiable {
			speaks(name, r.Reason+"\n"+r.Advice)
		}
	}
	ctx, c := context.Background(), rigs[1]
	ps, d := c.points(16, 2), c.closed(800, 1.5, 2)
	recs := []*record.Record{d}
	fast := slices.DeleteFunc(slices.Clone(ps), func(p Point) bool { return p.V*p.V < 1e-3 }) // no fall to be seen
	so, lo := StaticOptions{Rotary: true, Equal: true}, LoopOptions{Rotary: true}

	s, err := Static(ctx, fast, Rotary(StaticParams(fast, "lugre", false)), so, nil)
	check("static", s, err, "torque at constant velocity")
	if len(s.Unidentifiable) == 0 {
		t.Error("static: nothing was refused, so nothing was tested")
	}
	s, err = StaticAt(fast, s.Params, so)
	check("static at", s, err, "torque at constant velocity")
	s, err = Presliding(ctx, recs, Rotary(PreslidingParams(recs)), lo, nil)
	check("presliding", s, err, "torque in presliding")
	s, err = Joint(ctx, ps, recs, Rotary(JointParams(ps, recs, "lugre", false)), JointOptions{so, lo}, nil)
	check("joint", s, err, "torque at constant velocity and in presliding")

	coarse := c
	coarse.noiseX *= 1e5
	for name, o := range map[string]LoopOptions{"rig below zero": {Rotary: true, Rig: -1}, "noise": lo} {
		_, err := Presliding(ctx, []*record.Record{coarse.closed(1000, 1.5, 1)}, Rotary(PreslidingParams(recs)), o, nil)
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		speaks(name, err.Error())
	}
	_, err = VelocitySteps(ctx, []*record.Record{stepped(stepCases[0].law(), 5, 1e-2, 0)}, Rotary(StepParams(recs)),
		StepOptions{Rotary: true, Machine: -1}, nil)
	speaks("machine below zero", fmt.Sprint(err))
	// and the test can fail
	if sliding.FindString("below 0.3 m/s, several") == "" || sliding.FindString("0.3 N·m of 2 rad/s ") != "" {
		t.Error("the pattern does not tell metres from radians")
	}
}
