package drivetrain

import (
	"errors"
	"fmt"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/reference"
)

// Coupling is the electromechanical constraint of [TZ02] (21), linear in its arguments: speeds follow charges ξ, currents ξ′ and their
// rates ξ″ of a circuit,
//
//	Σ X_k·v_k = −(Σ Charge·ξ + Σ Current·ξ′ + Σ Rate·ξ″ + Offset(t)).
//
// As in the source the multiplier acts on the mechanics alone: the circuit does not feel it, so the row is a source or sink of energy
// and stands as In in the audit. It is for what is known of a machine without its field: a servo that makes a speed of a current, a
// valve. Where a field is known a winding says more: torque and back-emf from one co-energy.
//
// A charge is that of a capacitor, C·v_C. Offline the row is differentiated once; with rates that takes the second derivatives of the
// currents, by a difference of the circuit's equations along the motion: good to some 1e-9 of them. In a fixed step the row holds for
// the means.
type Coupling struct {
	Label   string
	Circuit *circuit.Circuit // a part of the same machine
	X       []float64        // one a coordinate
	Terms   []Term
	Offset  reference.Generator // rad/s, with its derivative; nil: 0

	at                       int // of the circuit's states in z
	change, by, work, before []float64
}

// Term is one electrical quantity: of a capacitor Charge, of a winding Current and Rate.
type Term struct {
	State   string  // name of the state of the circuit: "c.voltage", "motor.current"
	Charge  float64 // rad/s per C
	Current float64 // rad/s per A
	Rate    float64 // rad/s per A/s

	place int
}

// Name is the label.
func (r *Coupling) Name() string { return r.Label }

func (r *Coupling) check(n int) error {
	var errs []error
	if len(r.X) != n {
		errs = append(errs, fmt.Errorf("x: %d numbers, want one for each of %d coordinates", len(r.X), n))
	}
	if r.Circuit == nil {
		return errors.Join(append(errs, errors.New("circuit: missing"))...)
	}
	for k := range r.Terms {
		p := &r.Terms[k]
		p.place = r.Circuit.Place(p.State)
		winding := p.place >= 0 && p.place < r.Circuit.Windings()
		capacitor := p.place >= 0 && r.Circuit.Capacitance(p.place) > 0
		switch {
		case !winding && !capacitor:
			errs = append(errs, fmt.Errorf("term %d: no current or voltage of a capacitor %q in the circuit", k+1, p.State))
		case winding && p.Charge != 0:
			errs = append(errs, fmt.Errorf("term %d: %s has no charge, that of a capacitor is meant", k+1, p.State))
		case capacitor && (p.Current != 0 || p.Rate != 0):
			errs = append(errs, fmt.Errorf("term %d: current and rate are those of a winding, not of %s", k+1, p.State))
		}
		if !finite(p.Charge) || !finite(p.Current) || !finite(p.Rate) {
			errs = append(errs, fmt.Errorf("term %d: want finite numbers", k+1))
		}
	}
	return errors.Join(errs...)
}

// place finds the circuit among the parts of the machine.
func (r *Coupling) place(tr *Train) error {
	for k, p := range tr.Parts {
		if p == Part(r.Circuit) {
			nx := len(r.Circuit.States())
			r.at = tr.at[k]
			r.change, r.by, r.before = make([]float64, nx), make([]float64, nx*tr.n), make([]float64, nx)
			r.work = make([]float64, 2*nx+2*tr.n)
			return nil
		}
	}
	return fmt.Errorf("%s: circuit: not a part of this machine", r.Label)
}

func (r *Coupling) coefficients(x []float64) { copy(x, r.X) }

func (r *Coupling) force(v []float64, positive bool, b []float64) { copy(b, r.X) }

func (r *Coupling) steepenAt(v []float64, lambda float64, n int, slope []float64) {}

// power comes from nowhere in the machine.
func (r *Coupling) power(v []float64, lambda, out float64) circuit.Power {
	return circuit.Power{In: out, Out: out}
}

func (r *Coupling) accelerate(t float64, q, v, z, dz, x []float64) (rho float64, st engine.Status) {
	copy(x, r.X)
	nx := len(r.change)
	own, rate := z[r.at:r.at+nx], dz[r.at:r.at+nx]
	if r.rates() {
		copy(r.before, rate) // Flow of the circuit is asked again below
		st = r.Circuit.SecondDerivative(t, q, v, own, r.before, r.change, r.by, r.work)
	}
	for k := range r.Terms {
		p := &r.Terms[k]
		rho -= p.Charge*r.Circuit.Capacitance(p.place)*rate[p.place] + p.Current*rate[p.place]
		if p.Rate != 0 {
			rho -= p.Rate * r.change[p.place]
			for axis := range x {
				x[axis] += p.Rate * r.by[axis*nx+p.place]
			}
		}
	}
	if r.Offset != nil {
		_, d, _ := r.Offset.At(t)
		rho -= d
	}
	return rho, st
}

func (r *Coupling) rates() bool {
	for k := range r.Terms {
		if r.Terms[k].Rate != 0 {
			return true
		}
	}
	return false
}

func (r *Coupling) mean(t, h float64, w, z, x []float64) (rho float64) {
	copy(x, r.X)
	own := z[r.at:]
	for k := range r.Terms {
		p := &r.Terms[k]
		c := p.Charge*r.Circuit.Capacitance(p.place) + p.Current
		mean, _ := r.Circuit.Mean(p.place, 0)
		end, _ := r.Circuit.End(p.place, 0)
		rho -= c*mean + p.Rate*(end-own[p.place])/h
		for axis := range x {
			_, dm := r.Circuit.Mean(p.place, axis)
			_, de := r.Circuit.End(p.place, axis)
			d := c*dm + p.Rate*de/h
			x[axis] += d
			rho += d * w[axis]
		}
	}
	if r.Offset != nil {
		o, _, _ := r.Offset.At(t + h/2)
		rho -= o
	}
	return rho
}

// speed is −φ at the instant, for the check at the start.
func (r *Coupling) speed(t float64, z, dz []float64) (v float64) {
	for k := range r.Terms {
		p := &r.Terms[k]
		v -= (p.Charge*r.Circuit.Capacitance(p.place) + p.Current) * z[r.at+p.place]
		v -= p.Rate * dz[r.at+p.place]
	}
	if r.Offset != nil {
		o, _, _ := r.Offset.At(t)
		v -= o
	}
	return v
}
