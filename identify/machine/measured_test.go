package machine

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
	"hilrig/engine/peer"
	"hilrig/engine/rotation"
	"hilrig/identify/record"
)

// measuredArm is the double pendulum of the shared data, links of 0.3 and 0.2 m that hang at zero, with inertias as its makers give them.
func measuredArm(t testing.TB) *multibody.Model {
	t.Helper()
	rod := func(m, c, i float64) multibody.Inertia {
		return multibody.Inertia{Mass: m, Com: r3.Vec{Y: -c}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}
	}
	m, err := multibody.Build(multibody.Spec{Gravity: r3.Vec{Y: -9.81}, Bodies: []multibody.Body{
		{Name: "upper", Joint: multibody.Joint{Kind: multibody.Revolute}, Inertia: rod(0.6, 0.275, 0.02)},
		{Name: "lower", Parent: "upper", Place: multibody.At(0, -0.3, 0), Joint: multibody.Joint{Kind: multibody.Revolute},
			Inertia: rod(0.6, 0.166, 0.005)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func measuredRecord(t testing.TB, name string) Recording {
	t.Helper()
	path := peer.SharedRecord(t, "dfki_double_pendulum/design_A0_"+name+".csv.gz")
	var out Recording
	for _, joint := range []string{"1", "2"} {
		recs, err := record.Read(path, record.Mapping{Time: record.Column{Name: "time_s", Unit: "s"}, Resample: true,
			Position: record.Column{Name: "position" + joint + "_rad"}, Force: record.Column{Name: "torque_cmd" + joint + "_Nm"}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, recs[0])
	}
	return out
}

// The measured arm with a filter at 6 Hz and the torque that was commanded. Others find Coulomb friction of 0.09 to 0.10 N·m in both joints
// with fits of 61 and 77 %; their signs of velocity do not pass the filter that the torque passes, which makes friction smaller and
// the fit worse. Each record is also explained by the five others.
func TestMeasuredArm(t *testing.T) {
	m := measuredArm(t)
	var recs []Recording
	for _, name := range []string{"00", "01", "02", "03", "04", "05"} {
		recs = append(recs, measuredRecord(t, name))
	}
	s := DefaultSpec()
	s.Cutoff, s.MinVelocity = 6, []float64{0, 0}
	fitted := func(s Spec, recs []Recording) (*Result, map[string]float64) {
		r, err := Fit(t.Context(), m, s, recs, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		value := map[string]float64{}
		for i := range r.Base.Pivot {
			value[r.Base.Name(i)] = r.Values[i]
		}
		return r, value
	}
	r, value := fitted(s, recs)
	raw := s
	raw.RawSigns = true
	peers, others := fitted(raw, recs)
	t.Logf("Fc %.4f and %.4f N·m with fits of %.1f and %.1f %%; signs unfiltered %.4f and %.4f N·m, %.1f and %.1f %%", value["upper.Fc"],
		value["lower.Fc"], r.Joints[0].Percent, r.Joints[1].Percent,
		others["upper.Fc"], others["lower.Fc"], peers.Joints[0].Percent, peers.Joints[1].Percent)
	for _, name := range []string{"upper.Fc", "lower.Fc"} {
		if x := others[name]; x < 0.085 || x > 0.11 {
			t.Errorf("%s = %.4f N·m without a filter of the signs, others find 0.09 to 0.10", name, x)
		}
		if x := value[name]; x < 0.10 || x > 0.13 {
			t.Errorf("%s = %.4f N·m, SciPy finds 0.112 and 0.117 with all filtered alike", name, x)
		}
	}
	for i, want := range []float64{61, 77} {
		if a, b := r.Joints[i].Percent, peers.Joints[i].Percent; a < want || b < want {
			t.Errorf("joint %d: fits %.1f and %.1f %%, others reach %.0f %%", i+1, a, b, want)
		}
	}
	// the length of the first link follows from the coupling and the weight of the second
	if x := value["lower.mcy"]; math.Abs(x+0.108) > 0.01 {
		t.Errorf("lower.mcy = %.4f kg·m, makers give −0.10 to −0.11", x)
	}

	// left out in turn, pooled over the six
	var y, e [2]float64
	for k := range recs {
		var five []Recording
		for i := range recs {
			if i != k {
				five = append(five, recs[i])
			}
		}
		r, _ := fitted(s, five)
		_, joints, _, err := r.Explain(recs[k:k+1], r.Values)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range joints {
			sum := float64(j.Rows) * j.RMS * j.RMS
			e[i], y[i] = e[i]+sum, y[i]+sum/(1-j.R2)
		}
	}
	for i, want := range []float64{58, 72} {
		fit := 100 * (1 - math.Sqrt(e[i]/y[i]))
		t.Logf("joint %d: fit %.1f %% of records that were left out", i+1, fit)
		if fit < want {
			t.Errorf("joint %d: fit %.1f %% of records that were left out, want %.0f", i+1, fit, want)
		}
	}
}
