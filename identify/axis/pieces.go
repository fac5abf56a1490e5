package axis

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// piece is a recording in the form that a simulation runs through.
type piece struct {
	rec              *record.Record
	suffix           string // of its own parameters, [2] for the second of several
	n                int    // samples
	dt               float64
	measured         []float64 // what is compared
	force            []float64 // of the drive; nil: none
	springEnd        []float64 // far end of the drawing spring; nil: none
	pulses           pulses    // what acts beside the command of a servo
	a0               float64   // m/s², at the first sample of a servo
	load             []float64 // N, normal; nil: not recorded
	current          []float64 // A; nil: not recorded
	x0, v0           float64   // at the first sample, from the record
	noise            float64   // m or rad, white part of the position, from its differences
	v0Change         float64   // m/s or rad/s, by which the velocity may change over these samples
	v0Doubt          float64   // m/s or rad/s, twelve standard errors of v0 and what it leaves out: it is the velocity a few samples later
	despikedPosition []float64 // m or rad, the position without outliers
	v, a             []float64 // smoothed derivatives, for first guesses and for tests of the residual
}

// shortest record that is worth a simulation, samples, and the shortest in a controller: enough for a start and a few residuals.
const shortest, fewestServo = 8, 20

// newPiece checks that a record has what the model needs.
func (m *Model) newPiece(rec *record.Record) (*piece, error) {
	n := rec.Len()
	if n < shortest {
		return nil, rec.Fail(0, "", "%d samples, want at least %d", n, shortest)
	}
	if !(rec.Dt > 0) || math.IsInf(rec.Dt, 0) {
		return nil, rec.Fail(0, "", "sampling interval %g s, want > 0", rec.Dt)
	}
	need := func(what, column string, x []float64, why string) error {
		if len(x) == n {
			for k, q := range x {
				if math.IsNaN(q) || math.IsInf(q, 0) {
					return rec.Fail(0, "", "sample %d of the %s is %g, want a finite number", k, what, q)
				}
			}
			return nil
		}
		if len(x) > 0 {
			return rec.Fail(0, "", "%d samples of the %s but %d of the record", len(x), what, n)
		}
		return rec.Fail(0, "Name the column in data.columns."+column+".", "the %s was not recorded, and %s", what, why)
	}
	p := &piece{rec: rec, n: n, dt: rec.Dt}
	var errs []error
	if m.spec.Output == Velocity && len(rec.Position) == 0 {
		// a run-down of speed alone: the position is its integral
		errs = append(errs, need(m.names.velocity, "velocity", rec.Velocity, "it is what is compared"))
		if m.spec.positional() {
			errs = append(errs, need(m.names.position, "position", rec.Position, "a load of the model depends on it"))
		}
	} else {
		errs = append(errs, need(m.names.position, "position", rec.Position, "the motion starts from it"))
		if m.spec.Output == Velocity {
			errs = append(errs, need(m.names.velocity, "velocity", rec.Velocity, "it is what is compared"))
		}
	}
	switch m.spec.Drive {
	case Force:
		errs = append(errs, need(m.names.force, "force", rec.Force, "it drives the model"))
		p.force = rec.Force
	case Spring:
		errs = append(errs, need("reference", "reference", rec.Reference, "the spring is drawn by it"))
		p.springEnd = rec.Reference
	case Servo:
		p.force = rec.Force
		errs = append(errs, need(m.names.force, "force", rec.Force, "it is what is compared"),
			need("reference", "reference", rec.Reference, "the controller follows it"))
	}
	if m.spec.Law == "graphite-brush" {
		errs = append(errs, need("current", "current", rec.Current, "the brush heats by it"))
	}
	if len(rec.Load) > 0 {
		errs = append(errs, need("normal load", "load", rec.Load, "the law takes it"))
	}
	if len(rec.Current) > 0 {
		errs = append(errs, need("current", "current", rec.Current, "the law takes it"))
	}
	if len(rec.Disturbance) > 0 && (m.spec.Drive == Force || m.spec.Drive == Servo) {
		errs = append(errs, need("disturbance", "disturbance", rec.Disturbance, "it acts beside the "+m.names.force))
	}
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	if m.spec.Drive == Force || m.spec.Drive == Servo {
		p.pulses = m.spec.pulsesOf(rec)
		p.force = p.pulses.drive
	}
	p.load, p.current = rec.Load, rec.Current
	switch m.spec.Output {
	case Velocity:
		p.measured = rec.Velocity
	case Command:
		p.measured = p.pulses.commands
	default:
		p.measured = rec.Position
	}
	p.differentiate()
	if m.spec.Drive == Servo {
		if n < fewestServo || numeric.Span(rec.Position) == 0 {
			return nil, rec.Fail(0, "Use a longer record with motion.", "%d samples over %g %s are too little for a controller to be seen", n,
				numeric.Span(rec.Position), m.names.unitX)
		}
		s := m.spec.start(rec, nil)
		p.x0, p.v0, p.a0 = s.x, s.v, s.a
	}
	return p, nil
}

// NeedsPosition tells that the position has to be recorded: it is compared, a controller acts on it, or a load of the model depends
// on it. Else a motion of which the velocity is compared begins at zero.
func (s *Spec) NeedsPosition() bool {
	return s.Output != Velocity || s.Drive == Servo || s.positional()
}

// positional tells that a load of the model depends on the position.
func (s *Spec) positional() bool {
	return s.Drive == Spring || slices.ContainsFunc(s.Terms, func(t string) bool { return t != "offset" && t != "viscous" })
}

// differentiate finds v and a by parabolas laid through 2m+1 neighbours, m just so large that the noise of the position is
// 3 % of the acceleration, and the state at the first sample.
func (p *piece) differentiate() {
	x, v := p.rec.Position, p.rec.Velocity
	if len(x) == 0 {
		p.v, p.v0 = v, v[0]
		p.a, _ = parabolas(v, p.dt, max(2, min(50, p.n/20)))
		return
	}
	p.noise = numeric.Noise(x)
	p.despikedPosition = despiked(x)
	noise := p.noise
	if &p.despikedPosition[0] != &x[0] {
		noise = numeric.Noise(p.despikedPosition)
	}
	half := 2
	for {
		p.v, p.a = parabolas(p.despikedPosition, p.dt, half)
		size := float64(2*half + 1)
		sa := noise * math.Sqrt(720/(size*size*size*size*size)) / (p.dt * p.dt)
		next := half + (half+1)/2
		if sa <= 0.03*numeric.RMS(p.a) || 2*next+1 > p.n/10 || next > 500 {
			break
		}
		half = next
	}
	p.x0, p.v0 = p.despikedPosition[0], p.v[0]
	far := float64(min(half, (p.n-1)/2)) // the line through 2·far + 1 samples
	p.v0Doubt = 12*p.noise/(p.dt*math.Sqrt(far*(far+1)*(2*far+1)/3)) + math.Abs(p.a[0])*far*p.dt
	p.v0Change = floats.Norm(p.a[:2*int(far)+1], math.Inf(1)) * far * p.dt
	if len(v) == p.n {
		// the line through the first measured velocities is better than one of them
		k := min(half, 5)
		d1, _ := parabolas(v[:2*k+1], p.dt, k)
		p.v0 = 0
		for i := range 2*k + 1 {
			p.v0 += (v[i] - d1[k]*float64(i)*p.dt) / float64(2*k+1)
		}
	}
}

// parabolas lays a parabola through every sample and its half neighbours on either side, by least squares, and returns its
// first and second derivative; at the ends that of the last whole neighbourhood.
func parabolas(x []float64, dt float64, half int) (d1, d2 []float64) {
	n := len(x)
	half = min(half, (n-1)/2)
	d1, d2 = make([]float64, n), make([]float64, n)
	var s2, s4 float64
	for j := -half; j <= half; j++ {
		q := float64(j * j)
		s2 += q
		s4 += q * q
	}
	size := float64(2*half + 1)
	det := size*s4 - s2*s2
	for k := half; k < n-half; k++ {
		var y0, y1, y2 float64
		for j := -half; j <= half; j++ {
			q, f := x[k+j]-x[k], float64(j)
			y0 += q
			y1 += f * q
			y2 += f * f * q
		}
		d1[k] = y1 / (s2 * dt)
		d2[k] = 2 * (size*y2 - s2*y0) / (det * dt * dt)
	}
	for k := range half {
		d2[k], d2[n-1-k] = d2[half], d2[n-1-half]
		d1[k] = d1[half] - float64(half-k)*dt*d2[half]
		d1[n-1-k] = d1[n-1-half] + float64(half-k)*dt*d2[n-1-half]
	}
	return d1, d2
}

// substeps is the number of parts of a sampling interval with which the law and the springs are resolved: where a spring
// carries the mass, a part is a tenth of a radian of its oscillation, and where friction has a memory, at most 1 ms: a
// memory is 1 to 50 ms long (table 6.2 of [MOGI]).
func (p *piece) substeps(m float64, law friction.Model, switched bool, springs float64) int {
	k := springs
	if switched { // the smooth schemes keep their accuracy on bristles far stiffer than the step resolves
		k += law.Stiffness().K
	}
	n := 1.0
	if k > 0 {
		n = math.Ceil(p.dt * math.Sqrt(k/m) / 0.1)
	}
	if _, ok := field(law, "tauL"); ok {
		n = max(n, math.Ceil(p.dt/1e-3-1e-9))
	}
	return int(min(maxSubsteps, n))
}

// maxSubsteps bounds the cost of a member far from the truth.
const maxSubsteps = 64
