package contact

import (
	"cmp"
	"math"
)

// EventOptions are tolerances and limits. The zero value of a field stands for its default.
type EventOptions struct {
	RTol, ATol  float64   // error of a step; default 1e-10, 1e-12
	MaxStep     float64   // s     default: no limit
	TolGap      float64   // m     closed; default 1e-9
	TolV        float64   // m/s   at rest along the normal; default 1e-8
	TolT        float64   // m/s   at rest along the tangent; default 1e-8
	VTh         float64   // m/s   slower impacts do not rebound; default 1e-7
	VChatter    float64   // m/s   impacts that would leave slower do not rebound; default 1e-7
	TChatter    float64   // s     nor do those of a pair that collided so shortly before and has moved less than 10·TolGap since; default 1e-8
	Law         ImpactLaw //       default Poisson
	MaxEvents   int       //       since Start; default 1e6
	MaxContacts int       //       in the reach; 0: as many as there are
	MaxClosed   int       //       closed at once; 0: as many as there are
	Bridge      float64   // s     fixed steps lead over what cannot be settled; default: none, the run ends with an error
	Reach       float64   // m     pairs with a wider gap are not looked at; default: all are
}

// EventStats counts since Start.
type EventStats struct {
	Steps         int // of the integrator
	Events        int
	Closings      int // gaps that closed
	Impacts       int
	Plastic       int     // impacts that were too slow to rebound
	Lowered       int     // impacts repeated with less restitution, see ImpactStatus
	ImpactLoss    float64 // J  lost in impacts, in the frame of the surfaces
	Detachments   int     // forces that reached zero
	Slips         int     // sticking contacts that began to slide
	Stops         int     // sliding contacts that came to rest
	Kinks         int     // held contacts that met another feature, or the end of theirs
	Redundant     int     // events of redundant contacts
	Inconsistent  int     // Painlevé: no forces, sliding stopped by an impulse
	Indeterminate int     // Painlevé: more than one solution
	Bridges       int     // times that fixed steps led over what could not be settled
	Bridged       float64 // s  that they took
}

// fill sets the defaults and says all that is wrong, for a system of f coordinates.
func (opt *EventOptions) fill(f int) error {
	var p problems
	for _, x := range []struct {
		v    *float64
		def  float64
		name string
	}{
		{&opt.RTol, 1e-10, "RTol"}, {&opt.ATol, 1e-12, "ATol"}, {&opt.MaxStep, math.Inf(1), "MaxStep"}, {&opt.TolGap, 1e-9, "TolGap"},
		{&opt.TolV, 1e-8, "TolV"}, {&opt.TolT, 1e-8, "TolT"}, {&opt.VTh, 1e-7, "VTh"}, {&opt.VChatter, 1e-7, "VChatter"},
		{&opt.TChatter, 1e-8, "TChatter"}, {&opt.Reach, math.Inf(1), "Reach"},
	} {
		fillIn(x.v, x.def)
		p.addIf(!(*x.v > 0), "%s: %g, want > 0", x.name, *x.v)
	}
	opt.MaxEvents = cmp.Or(opt.MaxEvents, 1e6)
	p.addIf(opt.MaxEvents < 0, "MaxEvents: %d, want > 0", opt.MaxEvents)
	p.addIf(opt.MaxContacts < 0, "MaxContacts: %d, want > 0", opt.MaxContacts)
	p.addIf(opt.MaxClosed < 0, "MaxClosed: %d, want > 0", opt.MaxClosed)
	p.addIf(opt.Law > Sequential, "impact law %d is unknown", opt.Law)
	p.addIf(f <= 0, "a system of %d coordinates", f)
	return p.err()
}
