package contact

import (
	"errors"
	"fmt"
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
}

// fill sets the defaults and says all that is wrong, for a system of f coordinates.
func (opt *EventOptions) fill(f int) error {
	var errs []error
	pick := func(v *float64, def float64, name string) {
		if *v == 0 {
			*v = def
		}
		if !(*v > 0) {
			errs = append(errs, fmt.Errorf("%s: %g, want > 0", name, *v))
		}
	}
	pick(&opt.RTol, 1e-10, "RTol")
	pick(&opt.ATol, 1e-12, "ATol")
	pick(&opt.MaxStep, math.Inf(1), "MaxStep")
	pick(&opt.TolGap, 1e-9, "TolGap")
	pick(&opt.TolV, 1e-8, "TolV")
	pick(&opt.TolT, 1e-8, "TolT")
	pick(&opt.VTh, 1e-7, "VTh")
	pick(&opt.VChatter, 1e-7, "VChatter")
	pick(&opt.TChatter, 1e-8, "TChatter")
	pick(&opt.Reach, math.Inf(1), "Reach")
	count := func(v *int, def int, name string) {
		if *v == 0 {
			*v = def
		}
		if *v < 0 {
			errs = append(errs, fmt.Errorf("%s: %d, want > 0", name, *v))
		}
	}
	count(&opt.MaxEvents, 1e6, "MaxEvents")
	count(&opt.MaxContacts, 0, "MaxContacts")
	count(&opt.MaxClosed, 0, "MaxClosed")
	if opt.Law > Sequential {
		errs = append(errs, fmt.Errorf("impact law %d is unknown", opt.Law))
	}
	if f <= 0 {
		errs = append(errs, fmt.Errorf("a system of %d coordinates", f))
	}
	return errors.Join(errs...)
}
