package drivetrain

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// worse of two states of affairs: what is not finite stays so.
func worse(a, b engine.Status) engine.Status {
	if a == engine.NonFinite || b == engine.NonFinite {
		return engine.NonFinite
	}
	return max(a, b)
}

// Flow writes dx/dt of the whole machine at t (s), and the powers of its parts and rows, in their order, to p.
func (tr *Train) Flow(t float64, x, dx []float64, p []circuit.Power) engine.Status {
	n := tr.n
	q, v, z, dz := x[:n], x[n:2*n], x[2*n:2*n+tr.nz], dx[2*n:2*n+tr.nz]
	f := &tr.fixed
	copy(dx[:n], v)
	clear(f.tau)
	worst := engine.OK
	for k, part := range tr.Parts {
		var st engine.Status
		p[k], st = part.Flow(t, q, v, tr.own(k, z), tr.own(k, dz), f.tau)
		worst = worse(worst, st)
	}
	if nr := len(tr.Rows); tr.looped != nil {
		worst = worse(worst, tr.looped.Closed(q, v, tr.eq.x[nr*n:], f.rho[nr:]))
	}
	tr.Mech.Bias(q, v, f.bias)
	tr.Mech.Mass(q, tr.eq.m)
	for i := range f.tau {
		f.tau[i] -= f.bias[i]
	}
	for r, row := range tr.Rows {
		var st engine.Status
		f.rho[r], st = row.accelerate(t, q, v, z, dz, tr.eq.x[r*n:(r+1)*n])
		worst = worse(worst, st)
	}
	worst = worse(worst, tr.eq.solve(tr.Rows, tr.eq.m, f.tau, f.rho, v))
	copy(dx[n:2*n], tr.eq.rhs)
	tr.rowPowers(v, p)
	return worst
}

// rowPowers are those of the rows at the speeds v.
func (tr *Train) rowPowers(v []float64, p []circuit.Power) {
	for r, row := range tr.Rows {
		out := 0.0
		for i, b := range tr.eq.b[r*tr.n : (r+1)*tr.n] {
			out += b * v[i]
		}
		p[len(tr.Parts)+r] = row.power(v, tr.eq.lambda[r], out*tr.eq.lambda[r])
	}
}

// Offline is how an adaptive integration is done.
type Offline struct {
	Rtol, Atol float64 // of each state; 0: 1e-10, 1e-12
	Every      float64 // s  samples; 0: none
	MaxSteps   int     // 0: 10⁶ between two jumps of a source
	Project    float64 // s  after which what loops have drifted is taken away; 0: 10 ms
}

// Integrate carries x from t to end (s) by the adaptive integrator, and tells each sample, the first at t and the last at end. It
// stops at the jumps of sources and begins anew there. The audit closes to what the tolerance gives.
func (tr *Train) Integrate(x []float64, t, end float64, o Offline, each func(t float64, x []float64)) (*circuit.Audit, error) {
	nx, np := len(x), len(tr.Parts)+len(tr.Rows)
	p := make([]circuit.Power, np)
	bad := engine.OK
	d := engine.NewDormandPrince(func(t float64, y, dy []float64) {
		if st := tr.Flow(t, y[:nx], dy[:nx], p); st != engine.OK {
			bad = worse(bad, st)
			if st == engine.NonFinite {
				dy[0] = math.NaN()
			}
		}
		for k, e := range p {
			dy[nx+3*k], dy[nx+3*k+1], dy[nx+3*k+2] = e.Input, e.Loss, e.Output
		}
	}, nx+3*np)
	d.Rtol, d.Atol = or(o.Rtol, 1e-10), or(o.Atol, 1e-12)
	if o.MaxSteps > 0 {
		d.MaxSteps = o.MaxSteps
	}
	y := make([]float64, nx+3*np)
	copy(y, x)
	audit := tr.audit(x)
	sample, k := t, 0
	show := make([]float64, nx+3*np)
	begin := t
	if each != nil {
		each(t, x)
		sample, k = begin+o.Every, 1
	}
	for t < end {
		next := min(end, tr.next(t))
		if tr.looped != nil {
			next = min(next, t+or(o.Project, 0.01))
		}
		d.Start(t, y)
		for d.T < next {
			if err := d.Step(next); err != nil {
				return nil, tr.stiff(err)
			}
			for each != nil && o.Every > 0 && sample <= d.T && sample < end-1e-9*o.Every {
				d.At(sample, show)
				each(sample, show[:nx])
				k++
				sample = begin + float64(k)*o.Every
			}
		}
		copy(y, d.X)
		t = next
		if tr.looped != nil {
			bad = worse(bad, tr.looped.Project(y[:tr.n], y[tr.n:2*tr.n]))
		}
	}
	if bad != engine.OK {
		return nil, fmt.Errorf("the equations were %v somewhere on the way to %g s", bad, end)
	}
	copy(x, y[:nx])
	if each != nil {
		each(end, x)
	}
	for k := range p {
		e := &audit.Lines[k]
		e.Input, e.Loss, e.Output = y[nx+3*k], y[nx+3*k+1], y[nx+3*k+2]
	}
	tr.close(audit, x)
	return audit, nil
}

// stiff says of a stop for want of steps what is likely behind it.
func (tr *Train) stiff(err error) error {
	if !errors.Is(err, engine.ErrSteps) && !errors.Is(err, engine.ErrStepSize) {
		return err
	}
	for _, p := range tr.Parts {
		if c, ok := p.(*circuit.Circuit); ok {
			if why := c.StiffnessHint(); why != "" {
				return fmt.Errorf("%w%s, or take fixed steps", err, why)
			}
		}
	}
	return fmt.Errorf("%w; look for a stiff spring or a steep friction, or take fixed steps", err)
}

func or(v, instead float64) float64 {
	if v == 0 {
		return instead
	}
	return v
}

// next is the first jump of any source after t (s).
func (tr *Train) next(t float64) float64 {
	at := math.Inf(1)
	for _, p := range tr.Parts {
		if j, ok := p.(circuit.Jumping); ok {
			at = min(at, j.Next(t))
		}
	}
	return at
}

// audit begins a balance at the state x.
func (tr *Train) audit(x []float64) *circuit.Audit {
	a := &circuit.Audit{}
	q, z := x[:tr.n], x[2*tr.n:]
	for k, p := range tr.Parts {
		a.Lines = append(a.Lines, circuit.Energies{Name: p.Name(), StoredChange: -p.StoredEnergy(q, tr.own(k, z))})
	}
	for _, r := range tr.Rows {
		a.Lines = append(a.Lines, circuit.Energies{Name: r.Name()})
	}
	a.Lines = append(a.Lines, circuit.Energies{Name: "mechanics", StoredChange: -tr.Mech.Energy(q, x[tr.n:2*tr.n])})
	return a
}

// close ends a balance at the state x: the mechanics takes the work of all parts.
func (tr *Train) close(a *circuit.Audit, x []float64) {
	q, z := x[:tr.n], x[2*tr.n:]
	last := &a.Lines[len(a.Lines)-1]
	last.Output = 0
	for k := range a.Lines[:len(a.Lines)-1] {
		if k < len(tr.Parts) {
			a.Lines[k].StoredChange += tr.Parts[k].StoredEnergy(q, tr.own(k, z))
		}
		last.Output -= a.Lines[k].Output
		last.Gross = max(last.Gross, math.Abs(a.Lines[k].Output))
	}
	last.StoredChange += tr.Mech.Energy(q, x[tr.n:2*tr.n])
}

// Start moves x to where its loops are closed, and checks that the speeds agree with the rows at t (s).
func (tr *Train) Start(t float64, x []float64) error {
	n := tr.n
	if tr.looped != nil {
		if st := tr.looped.Project(x[:n], x[n:2*n]); st != engine.OK {
			return fmt.Errorf("the loops cannot be closed from the position at the start: %v", st)
		}
	}
	dx := make([]float64, len(x))
	if st := tr.Flow(t, x, dx, make([]circuit.Power, len(tr.Parts)+len(tr.Rows))); st != engine.OK {
		return fmt.Errorf("the equations at the start are %v", st)
	}
	var errs []error
	c := make([]float64, n)
	for _, row := range tr.Rows {
		want := row.speed(t, x[2*n:], dx[2*n:])
		sum, size := -want, math.Abs(want)
		clear(c)
		row.coefficients(c)
		for i, v := range x[n : 2*n] {
			sum += c[i] * v
			size = max(size, math.Abs(c[i]*v))
		}
		if math.Abs(sum) > 1e-9*size {
			errs = append(errs, fmt.Errorf("%s: the speeds at the start miss it by %.6g rad/s", row.Name(), sum))
		}
	}
	return errors.Join(errs...)
}
