package drivetrain

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
)

// number is a parameter that lives in a part.
type number struct {
	p  engine.Param
	at *float64
}

// numbered is a part with such numbers.
type numbered interface{ numbers() []number }

func least(name, unit string, lo float64, at *float64) number {
	return number{engine.Param{Name: name, Unit: unit, Value: *at, Lo: lo, Hi: math.Inf(1)}, at}
}

func (s *Shaft) numbers() []number {
	return []number{least(s.Label+".K", "N·m/rad", 0, &s.K), least(s.Label+".C", "N·m·s/rad", 0, &s.C)}
}

func (c *Contact) numbers() []number {
	return []number{least(c.Label+".stiffness", "N·m/rad", 1e-300, &c.Stiffness), least(c.Label+".loss", "s/rad", 0, &c.Loss)}
}

func (b *Belt) numbers() []number {
	return []number{least(b.Label+".K", "N/m", 1e-300, &b.K), least(b.Label+".C", "N·s/m", 0, &b.C),
		least(b.Label+".tension", "N", 1e-300, &b.Tension)}
}

func (b *Bearing) numbers() (all []number) {
	at := friction.Bind(b.Law)
	for k, p := range b.Law.Params() {
		if k >= len(at) {
			break // not a law of the registry: it keeps its numbers
		}
		p.Name, p.Unit = b.Label+"."+p.Name, engine.RotaryUnit(p.Unit)
		all = append(all, number{p, at[k]})
	}
	return all
}

func (m Inertias) numbers() (all []number) {
	for k := range m {
		all = append(all, least(m[k].Name+".J", "kg·m²", 1e-300, &m[k].J))
	}
	return all
}

// Params are those of the inertias, then of each part.
func (tr *Train) Params() (all []engine.Param) {
	tr.each(func(own []number, c *circuit.Circuit) {
		for _, n := range own {
			n.p.Value = *n.at
			all = append(all, n.p)
		}
		if c != nil {
			all = append(all, c.Params()...)
		}
	})
	return all
}

// each visits what has parameters, in the order of Params.
func (tr *Train) each(visit func(own []number, c *circuit.Circuit)) {
	for k := range tr.owned {
		visit(tr.owned[k], nil)
	}
	for _, p := range tr.Parts {
		if c, ok := p.(*circuit.Circuit); ok {
			visit(nil, c)
		}
	}
}

// bind notes where the parameters live.
func (tr *Train) bind() {
	if m, ok := tr.Mech.(numbered); ok {
		tr.owned = append(tr.owned, m.numbers())
	}
	for _, p := range tr.Parts {
		if n, ok := p.(numbered); ok {
			tr.owned = append(tr.owned, n.numbers())
		}
	}
}

// SetParams takes the numbers in the order of Params; refused ones leave the machine as it was. Combinations of the parameters of a
// friction law are not checked.
func (tr *Train) SetParams(theta []float64) error {
	var errs []error
	rest := theta
	count := 0
	tr.each(func(own []number, c *circuit.Circuit) {
		n := len(own)
		if c != nil {
			n = c.Numbers()
		}
		count += n
	})
	if count != len(theta) {
		return fmt.Errorf("machine: %d parameters, want %d", len(theta), count)
	}
	tr.each(func(own []number, c *circuit.Circuit) {
		for k, n := range own {
			if v := rest[k]; !(v >= n.p.Lo && v <= n.p.Hi && isFinite(v)) {
				errs = append(errs, fmt.Errorf("%s: %g %s, want %g to %g", n.p.Name, v, n.p.Unit, n.p.Lo, n.p.Hi))
			}
		}
		if c != nil {
			errs = append(errs, c.CheckParams(rest[:c.Numbers()]))
			rest = rest[c.Numbers():]
		}
		rest = rest[len(own):]
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	rest = theta
	tr.each(func(own []number, c *circuit.Circuit) {
		for k, n := range own {
			*n.at = rest[k]
		}
		if c != nil {
			_ = c.SetParams(rest[:c.Numbers()])
			rest = rest[c.Numbers():]
		}
		rest = rest[len(own):]
	})
	return nil
}
