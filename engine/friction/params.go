package friction

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// Params lists the parameters of the law in the order of SetParams, with the range in which the law makes sense.
func (p *LuGre) Params() []engine.Param {
	inf := math.Inf(1)
	return []engine.Param{
		{Name: "sigma0", Unit: "N/m", Value: p.Sigma0, Lo: 0, Hi: inf},
		{Name: "sigma1", Unit: "N·s/m", Value: p.Sigma1, Lo: 0, Hi: inf},
		{Name: "sigma2", Unit: "N·s/m", Value: p.Sigma2, Lo: 0, Hi: inf},
		{Name: "Fc", Unit: "N", Value: p.Fc, Lo: 0, Hi: inf},
		{Name: "Fs", Unit: "N", Value: p.Fs, Lo: 0, Hi: inf},
		{Name: "vs", Unit: "m/s", Value: p.Vs, Lo: 0, Hi: inf},
		{Name: "vd", Unit: "m/s", Value: p.Vd, Lo: 0, Hi: inf},
		{Name: "offset", Unit: "N", Value: p.Offset, Lo: -inf, Hi: inf},
	}
}

// SetParams takes the eight numbers in the order of Params. The law is unchanged when they are refused.
func (p *LuGre) SetParams(theta []float64) error {
	if len(theta) != 8 {
		return fmt.Errorf("lugre: %d parameters, want 8 (sigma0, sigma1, sigma2, Fc, Fs, vs, vd, offset)", len(theta))
	}
	q := LuGre{theta[0], theta[1], theta[2], theta[3], theta[4], theta[5], theta[6], theta[7]}
	if err := q.Validate(); err != nil {
		return err
	}
	*p = q
	return nil
}

// Validate reports every parameter outside its range at once. Fs may lie below Fc (a contact that strengthens with
// speed), but not at zero: g would vanish.
func (p *LuGre) Validate() error {
	var errs []error
	check := func(name string, v float64, positive bool, unit string) {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			errs = append(errs, fmt.Errorf("lugre: %s: %g %s, want a finite number", name, v, unit))
		case positive && v <= 0:
			errs = append(errs, fmt.Errorf("lugre: %s: %g %s, want > 0", name, v, unit))
		case v < 0:
			errs = append(errs, fmt.Errorf("lugre: %s: %g %s, want ≥ 0", name, v, unit))
		}
	}
	check("sigma0", p.Sigma0, true, "N/m")
	check("sigma1", p.Sigma1, false, "N·s/m")
	check("sigma2", p.Sigma2, false, "N·s/m")
	check("Fc", p.Fc, true, "N")
	check("Fs", p.Fs, true, "N")
	check("vs", p.Vs, true, "m/s")
	check("vd", p.Vd, false, "m/s")
	check("offset", math.Abs(p.Offset), false, "N")
	return errors.Join(errs...)
}
