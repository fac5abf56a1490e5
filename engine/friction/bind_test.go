package friction

import "testing"

// What is written through Bind is what Params reads, law by law and in its order; a mass that is told takes the new limit.
func TestBindIsParams(t *testing.T) {
	for _, l := range Laws() {
		m := l.NewLaw()
		at := Bind(m)
		if len(at) != len(m.Params()) {
			t.Fatalf("%s: %d places, %d parameters", l.Name, len(at), len(m.Params()))
		}
		for i := range at {
			*at[i] += 0.25
		}
		for i, p := range m.Params() {
			if p.Value != *at[i] || p.Value != l.NewLaw().Params()[i].Value+0.25 {
				t.Errorf("%s: %s is %g, written %g", l.Name, p.Name, p.Value, *at[i])
			}
		}
	}
	p := &LuGre{Sigma0: 1e3, Sigma1: 30, Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.05}
	b, err := NewMass(1, p, ExplicitPade)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := b.Limit()
	*Bind(p)[0] = 1e6
	if h, _ := b.Limit(); h != before {
		t.Errorf("limit %g s before it was told, want %g", h, before)
	}
	b.Retune()
	fresh, _ := NewMass(1, p, ExplicitPade)
	want, _ := fresh.Limit()
	if h, _ := b.Limit(); h != want || h >= before {
		t.Errorf("limit %g s, want %g, below %g", h, want, before)
	}
}
