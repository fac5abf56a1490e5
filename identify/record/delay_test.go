package record

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A column whose stamps come late is taken back in time: whole samples are moved as they are, parts of one are interpolated
// with the order of a cubic for motion and of a straight line for forces.
func TestDelayedColumns(t *testing.T) {
	sample := func(dt, lateX, lateF float64) *Record {
		var b strings.Builder
		b.WriteString("t,x,v,f\n")
		for k := range 400 {
			s := float64(k) * dt
			fmt.Fprintf(&b, "%.9g,%.17g,%.17g,%.17g\n", s, math.Sin(9*(s-lateX)), math.Cos(9*s), math.Sin(5*(s-lateF)))
		}
		m := Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x", Delay: lateX}, Velocity: Column{Name: "v"},
			Force: Column{Name: "f", Delay: lateF}}
		return pieces(t, b.String(), m)[0]
	}
	worst := func(d *Record) (x, f float64) {
		for k := 2; k < d.Len()-2; k++ {
			s := d.Start + float64(k)*d.Dt
			x, f = max(x, math.Abs(d.Position[k]-math.Sin(9*s))), max(f, math.Abs(d.Force[k]-math.Sin(5*s)))
			if math.Abs(d.Velocity[k]-math.Cos(9*s)) > 1e-9 {
				t.Fatalf("a column without delay moved at %g s", s)
			}
		}
		return x, f
	}
	if d := sample(1e-2, 2e-2, -3e-2); d.Len() != 395 || math.Abs(d.Start-3e-2) > 1e-12 {
		t.Errorf("%d samples from %g s, want 395 from 0.03", d.Len(), d.Start)
	} else if x, f := worst(d); x > 1e-9 || f > 1e-9 {
		t.Errorf("whole samples: off by %g and %g", x, f)
	}
	x1, f1 := worst(sample(1e-2, 0.5e-2, 2.3e-2))
	x2, f2 := worst(sample(5e-3, 0.25e-2, 1.15e-2))
	if p := math.Log2(x1 / x2); math.Abs(p-4) > 0.3 {
		t.Errorf("motion: errors %.3g and %.3g, order %.2f, want 4", x1, x2, p)
	}
	if p := math.Log2(f1 / f2); math.Abs(p-2) > 0.3 {
		t.Errorf("force: errors %.3g and %.3g, order %.2f, want 2", f1, f2, p)
	}
	m := Mapping{Rate: 10, Position: Column{Name: "x", Delay: 5}}
	if _, err := piecesOf("x\n1\n2\n3\n4\n", m); err == nil || !strings.Contains(err.Error(), "leave nothing of 4 samples") {
		t.Errorf("a delay longer than the record: %v", err)
	}
}

// A column that serves two channels is converted for each of them alone.
func TestOneColumnForTwoChannels(t *testing.T) {
	m := Mapping{Time: Column{Name: "t", Scale: 1e-3}, Position: Column{Name: "t"}, Force: Column{Name: "i", Scale: 3},
		Current: Column{Name: "i", Shift: 1}}
	d := pieces(t, "t,i\n0,1\n1,2\n2,3\n", m)[0]
	if d.Dt != 1e-3 || d.Position[2] != 2 || d.Force[2] != 9 || d.Current[2] != 4 {
		t.Errorf("%+v", d)
	}
}
