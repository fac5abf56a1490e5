package drivetrain

import (
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
)

// Belt runs over two pulleys with a tension of its own. Each of its two strands is a spring with a damper; when A leads, one is drawn
// and the other slackens by the same stretch s (m) = r_A·q_A − r_B·q_B less what has slipped:
//
//	F₁ = Tension + (K·s + C·s′),   F₂ = Tension − (K·s + C·s′),   neither below zero,   torque on B: r_B·(F₁ − F₂)
//
// With Grip = exp(µ·wrap) > 1 the belt slips where F₁ = Grip·F₂, as Eytelwein found: F₁ − F₂ stays at 2·Tension·(Grip − 1)/(Grip + 1) and
// the stretch follows what is left of it. With a belt that cannot slip (Grip 0) a strand that is slack pulls no more and the other
// alone does.
type Belt struct {
	Label   string
	A, B    int     // coordinates
	RA, RB  float64 // m  pitch radii
	K       float64 // N/m  of one strand
	C       float64 // N·s/m  of one strand
	Tension float64 // N  of both at rest
	Grip    float64 // exp(µ·wrap) of the pulley that slips first; 0: cannot slip
}

// Name is the label.
func (b *Belt) Name() string { return b.Label }

func (b *Belt) check(n int) error {
	w := Twist{A: b.A, B: b.B}
	errs := []error{w.checkTwist(n), atLeast("RA", b.RA, "m", true), atLeast("RB", b.RB, "m", true), atLeast("K", b.K, "N/m", true),
		atLeast("C", b.C, "N·s/m", b.Grip != 0), atLeast("tension", b.Tension, "N", true)}
	if b.Grip != 0 && !(b.Grip > 1 && isFinite(b.Grip)) {
		errs = append(errs, errors.New("grip: exp(µ·wrap), want > 1, or 0 for a belt that cannot slip"))
	}
	return errors.Join(errs...)
}

// States is the stretch.
func (b *Belt) States() []engine.Signal {
	return []engine.Signal{{Name: b.Label + ".stretch", Unit: "m"}}
}

// Reset is at rest, both strands equal.
func (b *Belt) Reset(z []float64) { z[0] = 0 }

func (b *Belt) rate(v []float64) (d float64) {
	if b.A >= 0 {
		d = b.RA * v[b.A]
	}
	if b.B >= 0 {
		d -= b.RB * v[b.B]
	}
	return d
}

// Limit is the largest F₁ − F₂ (N); +Inf for a belt that cannot slip.
func (b *Belt) Limit() float64 {
	if b.Grip == 0 {
		return math.Inf(1)
	}
	return 2 * b.Tension * (b.Grip - 1) / (b.Grip + 1)
}

// pull is F₁ − F₂ (N) for one strand's own force x = K·s + C·s′, and its derivative.
func (b *Belt) pull(x float64) (f, df float64) {
	if math.Abs(x) <= b.Tension {
		return 2 * x, 2
	}
	return x + math.Copysign(b.Tension, x), 1
}

// slide is the rate of stretch (m/s) at the stretch s and the rate v of the pulleys against each other.
func (b *Belt) slide(s, v float64) float64 {
	if x := b.K*s + b.C*v; 2*math.Abs(x) > b.Limit() {
		return (math.Copysign(b.Limit()/2, x) - b.K*s) / b.C
	}
	return v
}

// lossPower is what goes into heat at the stretch s, its rate ds and the rate v of the pulleys, summed over its causes: in each strand
// its force beyond that of its spring, and what the belt slips against the pulley. It does not use pull and Stored, so that the audit of
// a belt can fail.
func (b *Belt) lossPower(s, ds, v float64) float64 {
	tight, slack := math.Max(0, b.Tension+b.K*s), math.Max(0, b.Tension-b.K*s) // of the springs
	drawn, left := math.Max(0, b.Tension+b.K*s+b.C*ds), math.Max(0, b.Tension-b.K*s-b.C*ds)
	return (drawn-tight)*ds - (left-slack)*ds + (drawn-left)*(v-ds)
}

func (b *Belt) exert(f float64, v, tau []float64) float64 {
	if b.A >= 0 {
		tau[b.A] -= b.RA * f
	}
	if b.B >= 0 {
		tau[b.B] += b.RB * f
	}
	return -f * b.rate(v)
}

// Flow adds the torques.
func (b *Belt) Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status) {
	rate := b.rate(v)
	dz[0] = b.slide(z[0], rate)
	f, _ := b.pull(b.K*z[0] + b.C*dz[0])
	return circuit.Power{Loss: b.lossPower(z[0], dz[0], rate), Output: b.exert(f, v, tau)}, engine.OK
}

// Trial takes the stretch in the middle of the step: it follows the implicit midpoint rule. So does the loss, and a step in which a strand
// becomes slack leaves in the audit what the middle is off by there.
func (b *Belt) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	rate := b.rate(w)
	k := b.K*h/2 + b.C
	ds, dds := rate, 1.0
	if x := b.K*z[0] + k*rate; 2*math.Abs(x) > b.Limit() {
		ds, dds = (math.Copysign(b.Limit()/2, x)-b.K*z[0])/k, 0
	}
	f, df := b.pull(b.K*z[0] + k*ds)
	zn[0] = z[0] + h*ds
	df *= k * dds
	n := len(w)
	for _, i := range [2]int{b.A, b.B} {
		for _, j := range [2]int{b.A, b.B} {
			if i >= 0 && j >= 0 {
				slope[i*n+j] -= df * b.radius(i) * b.radius(j)
			}
		}
	}
	return circuit.Power{Loss: b.lossPower(z[0]+h/2*ds, ds, rate), Output: b.exert(f, w, tau)}, engine.OK
}

// radius of the pulley on a coordinate, with the sign of its motion in the stretch.
func (b *Belt) radius(i int) float64 {
	if i == b.A {
		return b.RA
	}
	return -b.RB
}

// StoredEnergy is that of the strands above what their tension at rest holds.
func (b *Belt) StoredEnergy(q, z []float64) float64 {
	s := math.Abs(z[0])
	if x := b.K * s; x <= b.Tension {
		return x * s
	}
	slack := b.Tension / b.K
	return b.K*slack*slack + (b.K*(s*s-slack*slack)/2 + b.Tension*(s-slack))
}
