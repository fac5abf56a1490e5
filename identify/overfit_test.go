package identify

import (
	"strings"
	"testing"

	"hilrig/engine/peer"
	"hilrig/identify/axis"
	"hilrig/identify/record"
)

// empsHead is the beginning of the measured record of a servo axis, as the files under configs read it.
func empsHead(t *testing.T, rows int) []*record.Record {
	t.Helper()
	path := peer.SharedRecord(t, "emps/emps_estimation.csv.gz")
	recs, err := record.Read(path, record.Mapping{
		Time: record.Column{Name: "time_s", Unit: "s"}, Position: record.Column{Name: "position_m", Unit: "m"},
		Force: record.Column{Name: "command_V", Unit: "V", Scale: 35.15065188248547}, Reference: record.Column{Name: "reference_m", Unit: "m"},
		Rows: [2]int{0, rows},
	})
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

var empsServo = &axis.Controller{Kp: 160.18, Kv: 243.45 * 35.15065188248547, Limit: 10 * 35.15065188248547, Gain: 1, Mean: 2}

// A bristle that explains a position in open loop by what no contact does is called over-fitted, and the fit
// rejected. In closed loop, where the force is compared, it is not accused.
func TestOverfittedBristleIsRejected(t *testing.T) {
	recs := empsHead(t, 12000)
	open := axis.Spec{Law: "lugre", Asymmetric: true, Drive: axis.Force, Output: axis.Position, Decimate: 6}
	closed := axis.Spec{Law: "lugre", Asymmetric: true, Drive: axis.Servo, Output: axis.Command, Controller: empsServo, Decimate: 6}
	for _, c := range []struct {
		name string
		spec axis.Spec
		want bool
	}{{"open loop", open, true}, {"closed loop", closed, false}} {
		r, err := Run(t.Context(), Plan{Methods: Chain{"lm"}, Model: c.spec, LagFree: !c.want, LM: LM{Starts: 1, Draws: 10}, Seed: 1},
			Records{Fit: recs}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		accused := strings.Contains(strings.Join(r.Because(), "\n"), "over-fitted bristle: the bristle mode has hardly any damping")
		t.Logf("%s: %s, %.4g %s rms, %q", c.name, r.Verdict, r.Fit.RMS, r.Fit.Unit, r.Reasons)
		if accused != c.want || c.want != (r.Verdict == Rejected) {
			t.Errorf("%s: %s, %q", c.name, r.Verdict, r.Reasons)
		}
	}
}

// Laws of every kind run in the controller, and their rows are the same: the comparison can
// tell chance from difference.
func TestLawsInTheController(t *testing.T) {
	recs := empsHead(t, 3500)
	var models []Ranked
	for _, law := range []string{"coulomb", "stribeck-tustin", "elasto-plastic", "gms"} {
		spec := axis.Spec{Law: law, Asymmetric: true, Drive: axis.Servo, Output: axis.Command, Controller: empsServo, Decimate: 6}
		if !axis.Damped(law) {
			spec.Terms = []string{"viscous"}
		}
		r, err := Run(t.Context(), Plan{Methods: Chain{"lm"}, Model: spec, LagFree: true, LM: LM{Starts: 1, Draws: 4}, Seed: 1},
			Records{Fit: recs}, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", law, err)
		}
		t.Logf("%s: %.4g N rms, %d parameters", law, r.Fit.RMS, r.Fit.Params)
		if r.Fit.RMS > 2.6 {
			t.Errorf("%s leaves %.3g N", law, r.Fit.RMS)
		}
		models = append(models, Ranked{Name: law, Result: r})
	}
	c, err := Compare(models)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Models[1:] {
		if m.PValue == nil {
			t.Errorf("%s has no test against %s", m.Name, c.Models[0].Name)
		}
	}
	if best := c.Models[0].Name; best != "elasto-plastic" && best != "gms" {
		t.Errorf("%s is first, want a law with a bristle", best)
	}
}
