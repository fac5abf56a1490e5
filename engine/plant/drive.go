package plant

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
)

// DriveKind is what the command of an axis means.
type DriveKind uint8

const (
	VoltageDrive  DriveKind = iota // V       on the winding of a motor
	CurrentDrive                   // A       asked of a current loop: effort = K·i
	EffortDrive                    // N·m     as it is
	VelocityDrive                  // rad/s   asked of a loop of speed with a proportional and an integral part
	NoDrive                        //         nothing: the axis is moved by what is around it
)

// drives is what is known of each kind.
var drives = [...]struct {
	name, unit string
	forces     bool
}{
	VoltageDrive: {"voltage", "V", true}, CurrentDrive: {"current", "A", true}, EffortDrive: {"effort", "N·m", true},
	VelocityDrive: {"velocity", "rad/s", false}, NoDrive: {"none", "", false},
}

// Words are the kinds by number.
func (DriveKind) Words() (names []string) {
	for _, d := range drives {
		names = append(names, d.name)
	}
	return names
}

func (k DriveKind) String() string { return drives[k].name }

// Unit of the command of a rotary axis.
func (k DriveKind) Unit() string { return drives[k].unit }

// Forces tells whether a command makes an effort: as it is, or through a winding or a loop of current. The other drives move the axis
// by efforts of their own, or not at all.
func (k DriveKind) Forces() bool { return drives[k].forces }

// Drive turns a command into an effort. Each kind goes with every plant.
//
// Voltage: the winding of the motor. With enable = 0 it is open and the current dies through the freewheeling diodes.
//
// Current: di/dt = ω·(i* − i), effort = K·i, with i* the command within ±Limit and, if the motor has a resistance and there is a
// supply, within what the supply can drive against the back-emf, (U − K·ω)/R. With enable = 0 the loop is told zero.
//
// Effort: the command within ±Limit, at once; zero with enable = 0.
//
// Velocity: effort = Kp·(v* − v) + Ki·∫(v* − v) dt within ±Limit; while it is at the limit the integral waits. Zero with
// enable = 0, and the integral begins anew.
type Drive struct {
	Kind      DriveKind
	Bandwidth float64 // rad/s      of the current loop; 0: it follows at once
	Kp        float64 // N·m·s/rad  of the loop of speed
	Ki        float64 // N·m/rad
	Limit     float64 // A or N·m   largest magnitude of current or effort; 0: none. A voltage is limited by the supply
}

func (d *Drive) validate(name string) error {
	var errs []error
	for _, c := range []struct {
		name string
		v    float64
		unit string
	}{{"bandwidth", d.Bandwidth, "rad/s"}, {"Kp", d.Kp, "N·m·s/rad"}, {"Ki", d.Ki, "N·m/rad"}, {"limit", d.Limit, ""}} {
		if !(c.v >= 0) || math.IsInf(c.v, 0) {
			errs = append(errs, fmt.Errorf("%s: drive: %s: %g %s, want ≥ 0", name, c.name, c.v, c.unit))
		}
	}
	if d.Kind > NoDrive {
		errs = append(errs, fmt.Errorf("%s: drive: no kind number %d", name, d.Kind))
	}
	if d.Kind == VelocityDrive && d.Kp == 0 && d.Ki == 0 {
		errs = append(errs, fmt.Errorf("%s: drive: a velocity drive with Kp = Ki = 0 does nothing", name))
	}
	return errors.Join(errs...)
}

// limited is the command within the limits of the drive that belong to commands.
func (d *Axis) limited(u float64) float64 {
	switch d.s.Drive.Kind {
	case VoltageDrive:
		return min(d.supply[1], max(d.supply[0], u))
	case CurrentDrive, EffortDrive:
		return limited(d.s.Drive.Limit, u)
	}
	return u
}

// limited is u cut to ±limit; a limit of 0 is none.
func limited(limit, u float64) float64 {
	if limit == 0 {
		return u
	}
	return numeric.Clamp(u, -limit, limit)
}

// effort is the torque of the drive (N·m) at the share of the part when its mean speed is w, and its derivative with respect to w;
// in the middle the mean over the part. It notes mean current, mean effort and final state of the whole part.
func (d *Axis) effort(share, w float64) (effort, slope float64) {
	m, k := &d.s.Motor, d.s.Motor.K
	switch d.s.Drive.Kind {
	case VoltageDrive:
		if !d.enabled {
			d.mean, d.i1, d.push = d.coasts[0], d.coasts[1], k*d.coasts[0]
			return d.push, 0
		}
		// midpoint of the winding: 2L(ī − i)/h = u − r·ī − K·w − drop(ī); the current of the scheme is a line through i and ī
		var di float64
		d.mean, di = m.meanCurrent(d.h, d.r, d.u+2*m.L/d.h*d.i0-k*w)
		d.i1, d.push = 2*d.mean-d.i0, k*d.mean
		return k * (d.i0 + 2*share*(d.mean-d.i0)), -k * k * di * 2 * share

	case CurrentDrive:
		// exact for the mean speed; where the supply limits, the current falls with it
		to, dto := d.u, 0.0
		if d.r > 0 && d.enabled {
			if lo, hi := (d.supply[0]-k*w)/d.r, (d.supply[1]-k*w)/d.r; to > hi {
				to, dto = hi, -k/d.r
			} else if to < lo {
				to, dto = lo, -k/d.r
			}
		}
		d.mean, d.i1 = to+(d.i0-to)*d.lag, to+(d.i0-to)*d.decay
		d.push = k * d.mean
		if middle(share) {
			return d.push, k * dto * (1 - d.lag)
		}
		left := 0.0 // of the way at this share
		if b := d.s.Drive.Bandwidth * d.h; b > 0 {
			left = math.Exp(-b * share)
		}
		return k * (to + (d.i0-to)*left), k * dto * (1 - left)

	case EffortDrive:
		d.push = d.u
	case VelocityDrive:
		d.push, d.i1 = 0, 0
		if !d.enabled {
			break
		}
		p := &d.s.Drive
		miss := d.u - w
		raw := p.Kp*miss + p.Ki*(d.i0+d.h/2*miss)
		d.push, d.i1 = limited(p.Limit, raw), d.i0
		if d.push == raw {
			d.i1 = d.i0 + d.h*miss
		}
		d.mean = d.perK(d.push)
		raw = p.Kp*miss + p.Ki*(d.i0+share*d.h*miss)
		if effort = limited(p.Limit, raw); effort == raw {
			slope = -p.Kp - p.Ki*share*d.h
		}
		return effort, slope
	}
	d.mean = d.perK(d.push)
	return d.push, 0
}

// perK is the current (A) of a torque; 0 without a torque constant.
func (d *Axis) perK(effort float64) float64 {
	if d.s.Motor.K == 0 {
		return 0
	}
	return effort / d.s.Motor.K
}

// atEnd are current (A), effort (N·m) and applied command at the end of a step.
func (s *AxisSpec) atEnd(x []float64, u float64, on bool) (current, effort, applied float64) {
	k := s.Motor.K
	switch s.Drive.Kind {
	case VoltageDrive:
		return x[Current], k * x[Current], u
	case CurrentDrive:
		return x[Current], k * x[Current], u
	case EffortDrive:
		effort = u
	case VelocityDrive:
		if on {
			effort = limited(s.Drive.Limit, s.Drive.Kp*(u-x[Omega])+s.Drive.Ki*x[Current])
		}
	}
	if k != 0 {
		current = effort / k
	}
	return current, effort, u
}

// coast is the winding with the drive off: the diodes hold −Freewheel against the current until it is zero; from then on
// it stays zero unless the back-emf exceeds the diodes' voltage. It returns the mean and the final current (A) of h
// seconds, exact for constant speed with the brush drop fully developed.
func (d *Axis) coast(h, i, omega float64) (mean, end float64) {
	m := &d.s.Motor
	emf, block := m.K*omega, d.s.Freewheel+m.BrushDrop
	s := math.Copysign(1, i)
	if i == 0 {
		if math.Abs(emf) <= block {
			return 0, 0
		}
		s = -math.Copysign(1, omega)
	}
	tau, i1 := m.L/d.r, -(block+s*emf)/d.r // time constant; final value in the direction of s
	a := s*i - i1
	t := h
	if i1 < 0 {
		t = min(h, tau*math.Log(a/-i1))
	}
	q := -math.Expm1(-t / tau)
	if t == h {
		end = s * (i1 + a*(1-q))
	}
	return s * (i1*t + a*tau*q) / h, end
}
