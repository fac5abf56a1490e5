package circuit

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// number is a parameter of an element that may be changed after Build.
type number struct {
	p   engine.Param
	set func(c *Circuit, v float64)
}

// tiny is the least that a number which divides may be.
const tiny = 1e-300

// number notes one of the element at hand, ≥ 0 where positive is set.
func (b *builder) number(key, unit string, positive bool, set func(c *Circuit, v float64), v float64) {
	p := engine.Param{Name: b.element + key, Unit: unit, Value: v, Lo: math.Inf(-1), Hi: math.Inf(1)}
	if positive {
		p.Lo = tiny
	}
	b.c.numbers = append(b.c.numbers, number{p, set})
}

// resistance notes that of the newest winding, which acts by the factor by.
func (b *builder) resistance(r, by float64) {
	k := len(b.c.windings) - 1
	b.number(".R", "Ω", true, func(c *Circuit, v float64) { c.windings[k].r = v * by }, r)
	b.orZero()
}

// orZero lets the newest number be zero.
func (b *builder) orZero() { b.c.numbers[len(b.c.numbers)-1].p.Lo = 0 }

// Params are resistances, inductances and machine constants, by element.
func (c *Circuit) Params() []engine.Param {
	var all []engine.Param
	for _, n := range c.numbers {
		all = append(all, n.p)
	}
	return all
}

// Numbers is how many Params there are.
func (c *Circuit) Numbers() int { return len(c.numbers) }

// CheckParams tells what SetParams would refuse.
func (c *Circuit) CheckParams(theta []float64) error {
	if len(theta) != len(c.numbers) {
		return fmt.Errorf("circuit: %d parameters, want %d", len(theta), len(c.numbers))
	}
	var errs []error
	for k, v := range theta {
		if p := &c.numbers[k].p; !(v >= p.Lo && numeric.IsFinite(v)) {
			errs = append(errs, fmt.Errorf("%s: %g %s, want a finite number of at least %g", p.Name, v, p.Unit, p.Lo))
		}
	}
	return errors.Join(errs...)
}

// SetParams takes the numbers in the order of Params. The circuit is unchanged when they are refused. It allocates nothing else.
func (c *Circuit) SetParams(theta []float64) error {
	if err := c.CheckParams(theta); err != nil {
		return err
	}
	for k, v := range theta {
		n := &c.numbers[k]
		n.p.Value = v
		n.set(c, v)
	}
	c.factored, c.step.matricesValid = false, false
	return nil
}
