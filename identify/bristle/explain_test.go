package bristle

import (
	"math"
	"testing"
)

// The true parameters leave little more than the force noise over of a record that was not fitted; wrong ones leave more.
func TestExplain(t *testing.T) {
	g := rigs()[0]
	g.run(11)
	rec := g.record(11)
	params := Params(false)
	truth := map[string]float64{}
	for i, name := range names {
		truth[name] = g.truth[i]
	}
	for i := range params {
		v := truth[params[i].Name]
		params[i].Value = v
		params[i].Lo, params[i].Hi = math.Min(params[i].Lo, v), math.Max(params[i].Hi, v)
	}
	rms := func() float64 {
		s, err := Explain(rec, params, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, e := range s.Residual {
			sum += e * e
		}
		return math.Sqrt(sum / float64(len(s.Residual)))
	}
	good := rms()
	if good > 3*g.noise { // what smoothing leaves at the reversals comes on top
		t.Errorf("the truth leaves %.3g N rms, the force noise is %.3g", good, g.noise)
	}
	params[0].Value *= 1.2
	if bad := rms(); bad < 1.2*good {
		t.Errorf("an inertia of 1.2 times the truth leaves %.3g N, the truth %.3g", bad, good)
	}
}
