package brush

import (
	"math"
	"testing"
)

func TestMaterialDependenceIsOffByDefault(t *testing.T) {
	p := DefaultParams()
	for _, c := range [][3]float64{{353, 1e5, 0}, {293, 0, 3.5}, {453, 5e5, -30}} {
		if mu := p.FaceMu(c[0], c[1], c[2]); mu != p.Contact.Face.Mu {
			t.Errorf("μ%v = %g, want %g", c, mu, p.Contact.Face.Mu)
		}
	}
	if e := p.Restitution(0.3, 2); e != 0.3 {
		t.Errorf("restitution %g, want 0.3", e)
	}
	if k := p.StiffnessFactor(500); k != 1 {
		t.Errorf("stiffness factor %g, want 1", k)
	}
}

func TestMaterialSlopesMultiply(t *testing.T) {
	p := DefaultParams()
	m := &p.Material
	m.MuTemperature, m.MuCurrent, m.MuSpeed, m.EpsSpeed, m.StiffnessTemperature = -2e-3, -1e-6, -0.05, -0.2, -1e-3
	// 0.2 · (1 − 0.2) · (1 − 0.1) · (1 − 0.1)
	if mu := p.FaceMu(453, -2e5, -2); math.Abs(mu-0.1296) > 1e-15 {
		t.Errorf("μ = %g, want 0.1296", mu)
	}
	if e := p.Restitution(0.3, 1); math.Abs(e-0.24) > 1e-15 {
		t.Errorf("restitution %g, want 0.24", e)
	}
	if k := p.StiffnessFactor(453); math.Abs(k-0.9) > 1e-15 {
		t.Errorf("stiffness factor %g, want 0.9", k)
	}
	// never outside what a coefficient may be
	if mu, e, k := p.FaceMu(353, 1e5, 100), p.Restitution(0.3, 100), p.StiffnessFactor(5000); mu != 0 || e != 0 || k != 0.1 {
		t.Errorf("far out: μ %g, restitution %g, stiffness factor %g, want 0, 0, 0.1", mu, e, k)
	}
	m.EpsSpeed = 10
	if e := p.Restitution(0.3, 100); e != 1 {
		t.Errorf("restitution %g, want 1", e)
	}
}
