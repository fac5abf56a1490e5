package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"hilrig/engine/numeric"
)

// Suspects are what models of friction lack as a rule, for a solution whose residual is a force and whose rows have velocity
// and position; nil for others. driven: a recorded force moves the axis.
func Suspects(s *Solution, rotary, driven bool) []Suspect {
	if s.Unit != "N" && s.Unit != "N·m" || len(s.Velocity) != len(s.Residual) || len(s.Measured) != len(s.Residual) || s.Dt <= 0 {
		return nil
	}
	m := Motion{Rotary: rotary, Undriven: !driven, V: s.Velocity, X: s.Position, Force: make([]float64, len(s.Residual)), Pieces: s.Pieces,
		Dt: s.Dt, RowTime: s.Dt, Bend: s.Bend, LagWithin: s.LagWithin}
	for k, e := range s.Residual {
		m.Force[k] = s.Measured[k] - e
	}
	p := len(s.FreeParams)
	if i := slices.IndexFunc(s.Params, func(p Param) bool { return AxisName(p.Name) == "lag" }); i >= 0 {
		m.Delay, m.Lag = s.Params[i].Value, slices.Contains(s.FreeParams, i)
	}
	for j, i := range s.FreeParams {
		name := bare(s.Params[i].Name)
		m.Terms = append(m.Terms, MotionTerm{FreeIndex: j, Name: s.Params[i].Name, Value: s.Params[i].Value, Offset: name == "offset",
			Friction: strings.HasPrefix(name, "F"), Inertia: name == "J", Viscous: name == "Fv",
			Column: func(k int) float64 { return s.Jac[k*p+j] }})
	}
	m.looked, m.lookedPlace = s.Looked(), make([]int32, len(s.Residual))
	for i, k := range m.looked {
		m.lookedPlace[k] = int32(i) + 1
	}
	return m.Suspects()
}

// Motion is that of an axis, or of one joint of a machine, with the force that the model makes of it: what the suspects of friction and
// drives are made of.
type Motion struct {
	Joint     string // "": the axis
	Rotary    bool
	Undriven  bool      // no recorded force moves it: none is late or too strong
	V, X      []float64 // X: nil if not known
	Force     []float64 // of the model; nil: not known, and nothing is said of its drive
	Bend      []float64 // d²/dt² of it, but for jumps; nil: of Force as it is
	Pieces    []int
	Dt        float64 // s, between these samples
	RowTime   float64 // s, between the rows of the fit
	Terms     []MotionTerm
	Constant  bool    // a constant force is known, or among the parameters of the model
	Spring    bool    // and so is a spring
	Lag       bool    // and so is the lag of the force
	LagWithin float64 // s, it is as much as this either way; 0: not known
	Delay     float64 // s, by which the model takes the force to act later than it is stamped

	a                []float64
	topSpeed         float64   // quantile of the speed
	span, middle     float64   // of the range of X
	oneSpeed         bool      // more than half of the samples are within a fifth of top
	reversalDistance []float64 // way since the last reversal; +Inf before the first
	size             []float64 // of the columns of Terms
	list             []Suspect
	looked           []int   // samples that are looked at; nil: any may be
	lookedPlace      []int32 // of a sample among these, counted from 1; 0: it is not there
	atTurns          bool    // what is added lives where the motion turns
	jumps            bool    // it jumps there
}

// MotionTerm is a force of the model by one of its parameters, which may change over the record.
type MotionTerm struct {
	FreeIndex        int // its place among those of the solution
	Name             string
	Value            float64
	Offset, Friction bool
	Inertia, Viscous bool
	Column           func(k int) float64
}

// Suspects are what may be missing in the force of the motion, and what may be wrong with its drive. Columns are by sample of the motion.
func (m *Motion) Suspects() []Suspect {
	m.prepare()
	if m.topSpeed == 0 {
		return nil
	}
	m.speed()
	m.place()
	m.course()
	if !m.Undriven && m.Force != nil {
		m.filter()
		if !m.Lag {
			m.lag()
		}
		m.drive()
	}
	m.atTurns = true
	m.turn()
	m.rows()
	return m.list
}

// prepare finds what the suspects need of the motion.
func (m *Motion) prepare() {
	n := len(m.V)
	m.reversalDistance = make([]float64, n)
	speed := make([]float64, n)
	for k, v := range m.V {
		speed[k] = math.Abs(v)
	}
	numeric.Sort(speed)
	m.topSpeed = speed[n*99/100]
	slower, _ := slices.BinarySearch(speed, 0.8*m.topSpeed)
	m.oneSpeed = 2*slower < n
	if len(m.X) != n {
		m.X = nil
	}
	if m.X != nil {
		lo, hi := numeric.Range(m.X)
		m.span, m.middle = hi-lo, (hi+lo)/2
	}
	m.a = m.slope(m.V)
	for _, t := range m.Terms {
		m.Constant = m.Constant || t.Offset
	}
	eachPiece(n, m.Pieces, func(from, to int) {
		way, side := math.Inf(1), 0.0
		for k := from; k < to; k++ {
			if now := numeric.Sign(m.V[k]); now != 0 && now != side {
				if side != 0 {
					way = 0
				}
				side = now
			}
			way += math.Abs(m.V[k]) * m.Dt
			m.reversalDistance[k] = way
		}
	})
}

// slope is the central difference of x within the pieces.
func (m *Motion) slope(x []float64) []float64 {
	var d []float64
	eachPiece(len(x), m.Pieces, func(from, to int) { d = append(d, numeric.Slope(x[from:to], 1, m.Dt)...) })
	return d
}

// piece is the number of the piece of sample k.
func (m *Motion) piece(k int) int {
	i, exact := slices.BinarySearch(m.Pieces, k)
	if exact {
		i++
	}
	return i
}

// madeOf is the term that is a column already; nil: none is.
func (m *Motion) madeOf(column func(k int) float64) *MotionTerm {
	if m.size == nil && len(m.Terms) > 0 {
		for i := range m.Terms {
			m.size = append(m.size, m.product(m.Terms[i].Column, m.Terms[i].Column))
		}
	}
	own := m.product(column, column)
	for i := range m.Terms {
		if both := m.product(column, m.Terms[i].Column); both*both > asMade*own*m.size[i] {
			return &m.Terms[i]
		}
	}
	return nil
}

// asMade is the square of the correlation from which two columns are one.
const asMade = 0.9999

func (m *Motion) product(a, b func(k int) float64) (sum float64) {
	for k := range m.V {
		sum += a(k) * b(k)
	}
	return sum
}

func (m *Motion) add(kind, what, advice string, columns ...func(k int) float64) *Suspect {
	if m.Joint != "" {
		what += ", at joint " + m.Joint
	}
	for j, c := range columns {
		columns[j] = m.cached(c, sync.OnceValue(func() []float64 { return columnAt(c, m.looked) }))
	}
	m.list = append(m.list, Suspect{Kind: kind, Joint: m.Joint, What: what, Advice: advice, Columns: columns, Turn: m.atTurns,
		JumpsAtTurns: m.jumps})
	return &m.list[len(m.list)-1]
}

// cached is a column whose values at the samples that are looked at are known once they were asked for: every search asks for them again.
func (m *Motion) cached(column func(k int) float64, values func() []float64) func(k int) float64 {
	if m.looked == nil {
		return column
	}
	return func(k int) float64 {
		if i := m.lookedPlace[k]; i > 0 {
			return values()[i-1]
		}
		return column(k)
	}
}

// drift adds that a term of the model changes: the column is its own times a course between −1 and 1.
func (m *Motion) drift(t *MotionTerm, kind, what, advice string, column func(k int) float64) *Suspect {
	m.jumps = true
	sp := m.add(kind, t.Name+" "+what, advice, column)
	m.jumps = false
	sp.DriftParam, sp.Drift = t.FreeIndex, true
	return sp
}

// speed: friction that is not straight in the velocity.
func (m *Motion) speed() {
	drag := m.add("drag", "a force that grows with the square of the speed (drag)",
		"Fit a model with quadratic drag, or record slower motion.",
		func(k int) float64 { return m.V[k] * math.Abs(m.V[k]) })
	drag.Expected, drag.OneSpeed, drag.JudgedAlone = true, m.oneSpeed, true
	viscous := func(k int) float64 { return m.V[k] }
	dry := func(k int) float64 { return numeric.Sign(m.V[k]) }
	own := m.madeOf(viscous)
	if own == nil {
		m.add("viscous friction", "a friction that grows with the speed (viscous)", "Add viscous to the terms.", viscous).Expected = m.Undriven
	}
	m.jumps = true
	level := m.madeOf(dry)
	if level == nil {
		m.add("dry friction", "a friction that does not depend on the speed (Coulomb)", "Fit a law with Coulomb friction.",
			dry).Expected = m.Undriven
	}
	m.jumps = false
	m.direction(own)
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
		vs := share * m.topSpeed
		m.jumps = true
		sp := m.add("Stribeck", fmt.Sprintf("a friction that differs below %.3g of the top speed (Stribeck dip, presliding)", share),
			"Fit a law with a Stribeck dip, or leave slow rows out with min_velocity.",
			func(k int) float64 { return numeric.Sign(m.V[k]) * math.Exp(-m.V[k]*m.V[k]/(vs*vs)) })
		if m.jumps = false; m.Undriven && level != nil {
			sp.Expected, sp.MaxCoefficient = true, math.Abs(level.Value)
		}
	}
}

// direction: viscous friction that differs between the directions. That of the model, t, is the mean of both then: of a motion that nothing
// drives the interval holds both. A driven record tells the offset and Coulomb friction of each direction from it badly: there it is one
// more force, and what it moves counts.
func (m *Motion) direction(t *MotionTerm) {
	const kind, advice = "direction", "Split friction by direction: --asymmetric."
	if t != nil && m.Undriven {
		m.drift(t, kind, "that differs between the directions", advice,
			func(k int) float64 { return t.Column(k) * numeric.Sign(m.V[k]) }).BothSides = true
		return
	}
	m.add(kind, "a viscous friction that differs between the directions", advice, func(k int) float64 { return math.Abs(m.V[k]) })
}

// place: forces that depend on the position.
func (m *Motion) place() {
	if m.X == nil || m.span == 0 {
		return
	}
	mid := m.middle
	if m.Rotary && m.Joint == "" && m.span > 0.3 {
		m.add("gravity", "a force that follows the sine of the angle (gravity)", "Add gravity-sin and gravity-cos to the terms.",
			func(k int) float64 { return math.Sin(m.X[k]) }, func(k int) float64 { return math.Cos(m.X[k]) })
	}
	m.eccentric()
	if !m.Spring {
		m.add("stiffness", "a force that grows with the position (a spring, a cable, gravity on a curve)", "Add stiffness to the terms.",
			func(k int) float64 { return m.X[k] }) // relaxed at zero, as the term is: a constant force moves with it
	}
	m.add("stiffening", "a force that grows with the cube of the way (a spring that stiffens, a pendulum taken for a spring)",
		"Add gravity-sin to the terms, or record a shorter way.",
		func(k int) float64 { return (m.X[k] - mid) * (m.X[k] - mid) * (m.X[k] - mid) })
	for i := range m.Terms {
		if t := &m.Terms[i]; !t.Offset { // a spring
			m.drift(t, "along the way", "that changes along the way", "Record a shorter way, or fit the parts of the way one by one.",
				func(k int) float64 { return t.Column(k) * 2 * (m.X[k] - mid) / m.span })
		}
	}
	for _, end := range []float64{-1, 1} {
		m.add("stop", "a force near an end of the way (a stop, a cover)", "Record a motion that stays away from the ends.",
			func(k int) float64 { return max(0, end*(m.X[k]-mid)-0.25*m.span) })
	}

	// periods: as short as the rows resolve at the usual speed, in steps that miss none
	sum := 0.0
	for _, v := range m.V {
		sum += math.Abs(v) * m.RowTime / float64(len(m.V))
	}
	least := max(4*sum, m.span/100)
	half := &Wave{Slope: math.Pi / m.span, Position: m.X} // half a cycle in the span
	for order := 4; 2*m.span/float64(order) > least; order++ {
		w := float64(order) * half.Slope
		sp := m.add("cogging", fmt.Sprintf("a force that repeats every %.3g along the way (cogging, a screw, teeth)", 2*m.span/float64(order)),
			"Average over whole periods, or record a compensated drive.",
			func(k int) float64 { return math.Sin(w * m.X[k]) }, func(k int) float64 { return math.Cos(w * m.X[k]) })
		sp.Wave, sp.WaveOrder = half, order
	}
}

// Eccentric is the kind of a position that counts turns unevenly, and what it and its advice are for people.
const (
	Eccentric       = "eccentric encoder"
	EccentricWhat   = "what a position makes that counts parts of a turn longer and shorter (an encoder off its centre or aslant)"
	EccentricAdvice = "Centre the encoder, or correct its counts by a table over one turn."
)

// EccentricTurns are the periods in a turn: of an encoder off its centre, and of one aslant.
var EccentricTurns = []float64{1, 2}

// eccentric: a position q + ε·sin(n·q), with the velocity and acceleration that go with it.
func (m *Motion) eccentric() {
	inertia, viscous := 0.0, 0.0
	for _, t := range m.Terms {
		if t.Inertia {
			inertia += t.Value
		}
		if t.Viscous {
			viscous += t.Value
		}
	}
	if !m.Rotary || m.Joint != "" || inertia == 0 && viscous == 0 {
		return
	}
	for _, n := range EccentricTurns {
		bent := func(slope, curve float64, k int) float64 {
			return (inertia*m.a[k]+viscous*m.V[k])*slope + inertia*curve*m.V[k]*m.V[k]
		}
		m.add(Eccentric, EccentricWhat, EccentricAdvice,
			func(k int) float64 { s, c := math.Sincos(n * m.X[k]); return bent(n*c, -n*n*s, k) },
			func(k int) float64 { s, c := math.Sincos(n * m.X[k]); return bent(-n*s, -n*n*c, k) })
	}
}

// turn: what happens behind a reversal.
func (m *Motion) turn() {
	m.jumps = true
	turns, way := 0, 0.0
	for k := 1; k < len(m.V); k++ {
		way += math.Abs(m.V[k]) * m.Dt
		if m.V[k]*m.V[k-1] < 0 {
			turns++
		}
	}
	if turns == 0 {
		return
	}
	mean := way / float64(turns)
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
		vs := share * m.topSpeed
		m.add("zero of velocity", "a friction that turns where the velocity is not zero",
			"The sensor of position drifts, or its gain differs between the directions: compare it with another sensor.",
			func(k int) float64 { return math.Exp(-m.V[k] * m.V[k] / (vs * vs)) })
	}
	for _, share := range []float64{0.003, 0.01, 0.03, 0.1} {
		l := share * mean
		soft := func(k int) float64 { return math.Exp(-m.reversalDistance[k] / l) }
		m.add("presliding", "a friction that builds up behind every reversal (presliding)",
			"Fit a law with a bristle, or leave slow rows out with min_velocity.",
			func(k int) float64 { return numeric.Sign(m.V[k]) * soft(k) })
		m.add("backlash", "a mass that is missing behind every reversal (backlash)",
			"Remove the play, measure behind it, or leave out what follows a reversal.",
			func(k int) float64 { return m.a[k] * soft(k) })
	}
}

// course: terms of the model that change over the record.
func (m *Motion) course() {
	n := len(m.V)
	at := func(k int) float64 { return float64(k) / float64(n) }
	courses := []struct {
		description string
		f           func(t float64) float64
	}{
		{"that drifts over the record", func(t float64) float64 { return 2*t - 1 }},
		{"that settles over the record", func(t float64) float64 { return 2*math.Exp(-5*t) - 1 }},
		{"that jumps halfway", func(t float64) float64 { return numeric.Sign(t - 0.5) }},
		{"that differs in the middle of the record", func(t float64) float64 { return numeric.Sign(1./6 - math.Abs(t-0.5)) }},
	}
	for i := range m.Terms {
		t := &m.Terms[i]
		for _, c := range courses {
			m.drift(t, "drift", c.description, "Warm the axis up, record under constant conditions, or fit the parts of the record one by one.",
				func(k int) float64 { return t.Column(k) * c.f(at(k)) })
		}
	}
	if !m.Constant {
		m.add(ConstantForce, "a constant force (weight, zero of the sensor)", "Add offset to the terms.", func(int) float64 { return 1 })
		m.add("drift", "a force that drifts over the record", "Check the zero of the force, and record under constant conditions.",
			func(k int) float64 { return at(k) - 0.5 })
	}
}

// ConstantForce is the kind of a force that does not change.
const ConstantForce = "constant force"

// lag: force and motion are not of one time, or one of them passed a filter or a shaft that the other did not.
func (m *Motion) lag() {
	const what, advice = "a force that is not of the same time as the motion",
		"Let the lag be a parameter, or correct the times of the columns."
	m.jumps = true
	defer func() { m.jumps = false }()
	rate := m.slope(m.Force)
	slope := m.add("late force", what, advice, func(k int) float64 { return rate[k] })
	slope.Bounds = [2]float64{-m.LagWithin, m.LagWithin}
	step := max(1, int(math.Round(m.RowTime/m.Dt)))
	// noise of the position is in the acceleration, and so in the force of the model and in the residual at one time: a column must not hold
	// the force there
	for _, by := range []int{1, 2, 3, 5, 8, 13, 20, 30} {
		m.add("late force", what, advice, func(k int) float64 {
			if i, j := k-by*step, k+by*step; min(i, j) >= 0 && max(i, j) < len(m.Force) && m.piece(i) == m.piece(j) {
				return (m.Force[i] - m.Force[j]) / 2
			}
			return 0
		})
	}
}

// filter adds what a low-pass or a shaft does beside a delay. To second order in what is slow against them, with s = d/dt,
//
//	delay λ                 e^−λs      = 1 − λs + λ²s²/2
//	first order, T          1/(1 + Ts) = 1 − Ts + T²s²          = e^−Ts·(1 + T²s²/2)
//	mean over the time L    …          = 1 − Ls/2 + L²s²/6      = e^−Ls/2·(1 + L²s²/24)
//	sensor behind a shaft   force = (1 + s²·m/(M·ω²))·F, with m the mass before the shaft, M the whole one and ω its resonance
//
// so that d²F/dt² tells them from a delay. Its coefficient is above zero where the recorded force is the smoother one, below where the
// motion is. What a lag λ that was found may be in truth, a filter of first order or less, is possible as long as the record does not
// exclude it.
func (m *Motion) filter() {
	bend := m.Bend
	if bend == nil {
		bend = m.bend(m.Force)
	}
	sp := m.add(LowPass, "a low-pass, or an elastic shaft, between force and motion",
		"Record both without a filter, or behind the same one, and the motion where the force acts.",
		func(k int) float64 { return bend[k] })
	sp.Named, sp.JumpsAtTurns, sp.JudgedAlone, sp.Uncertainty = filterName, m.Bend == nil, true, phaseOnly-1
	if limit := phaseOnly * m.Delay * m.Delay / 2; m.Delay < 0 {
		sp.Bounds[1] = limit
	} else {
		sp.Bounds[0] = -limit
	}
}

// LowPass is the kind of what is left of a low-pass or a shaft beside a delay.
const LowPass = "low-pass"

// phaseOnly is T² over λ², of a filter of first order whose phase was taken for a delay λ: (ωT/atan ωT)² up to ωT = 1/2.
const phaseOnly = 1.2

// filterName says what a coefficient b (s²) of d²F/dt² may be.
func filterName(b float64) string {
	first, mean, resonance := 1e3*math.Sqrt(2*math.Abs(b)), 1e3*math.Sqrt(24*math.Abs(b)), math.Sqrt(0.25/math.Abs(b))/(2*math.Pi)
	if b > 0 {
		return fmt.Sprintf("a recorded force that is smoother than the one that moves: as behind a filter of first order of %.2g ms, as a mean "+
			"over %.2g ms, or as with the sensor of position behind a shaft that resonates near %.2g Hz", first, mean, resonance)
	}
	return fmt.Sprintf("a motion that is smoother than the recorded force makes it: as with a position behind a filter of first order of "+
		"%.2g ms, a mean of it over %.2g ms, a drive that follows the recorded command so slowly, or a load behind a shaft that resonates near "+
		"%.2g Hz", first, mean, resonance)
}

// bend is the second derivative of x, to 3 % up to a fifth of the sampling rate; 0 next to a gap, where rows were left out, and at the
// ends of pieces.
func (m *Motion) bend(x []float64) []float64 {
	out := make([]float64, len(x))
	eachPiece(len(x), m.Pieces, func(from, to int) {
		whole := from // first sample since the last gap
		for k := from; k < to; k++ {
			if k > from && m.gap(k) {
				whole = k
			}
			if k-4 >= whole {
				out[k-2] = (16*(x[k-3]+x[k-1]) - 30*x[k-2] - x[k-4] - x[k]) / (12 * m.Dt * m.Dt)
			}
		}
	})
	return out
}

// gap tells whether rows are missing between k−1 and k: the way is not that of the velocity.
func (m *Motion) gap(k int) bool {
	if m.X == nil {
		return false
	}
	run := (m.V[k] + m.V[k-1]) / 2 * m.Dt
	return math.Abs(m.X[k]-m.X[k-1]-run) > 0.5*math.Abs(run)+0.01*m.topSpeed*m.Dt
}

// drive: a force that the drive did not give, or the sensor did not show.
func (m *Motion) drive() {
	size := make([]float64, len(m.Force))
	for k, f := range m.Force {
		size[k] = math.Abs(f)
	}
	numeric.Sort(size)
	m.jumps = true
	defer func() { m.jumps = false }()
	gear := m.add("efficiency", "a friction that grows with the load (the efficiency of a gear)",
		"Record with less load, or give the efficiency of the gear to the torque.",
		func(k int) float64 {
			load := m.Force[k] // without friction, which no gear carries
			for i := range m.Terms {
				if t := &m.Terms[i]; t.Friction {
					load -= t.Value * t.Column(k)
				}
			}
			return math.Abs(load) * numeric.Sign(m.V[k])
		})
	gear.Expected, gear.JudgedAlone, gear.MaxCoefficient = true, true, 1 // at most all of the load
	const advice = "Record smaller forces, or measure the force behind the drive."
	m.add("saturation", "a gain of the force that changes with its size (saturation, motor constant)", advice,
		func(k int) float64 { return m.Force[k] * math.Abs(m.Force[k]) })
	m.add("saturation", "a gain of the force that changes with its size (saturation, motor constant)", advice,
		func(k int) float64 { return m.Force[k] * m.Force[k] * m.Force[k] })
	m.add("saturation", "a gain of the force that changes with the speed (a limit of the voltage, eddy currents)", advice,
		func(k int) float64 { return m.Force[k] * math.Abs(m.V[k]) })
	for _, q := range []float64{0.05, 0.2} {
		limit := size[int(q*float64(len(size)))]
		m.add("dead zone", "a force that is lost next to zero (a dead zone of drive or sensor)",
			"Calibrate the force next to zero, or record larger forces.",
			func(k int) float64 { return min(max(m.Force[k], -limit), limit) })
	}
	rate := m.slope(m.Force)
	m.add("hysteresis", "a force that stays behind when it turns (hysteresis of drive or sensor)",
		"Calibrate the force upwards and downwards.",
		func(k int) float64 { return numeric.Sign(rate[k]) })
	for _, side := range []float64{1, -1} { // that of either direction may be the wrong one
		m.add("gain by direction", "a gain of the force that differs between its directions",
			"Check zero and gain of the drive in both directions.",
			func(k int) float64 { return max(0, side*m.Force[k]) })
	}
	for _, q := range []float64{0.6, 0.8, 0.9, 0.95, 0.98} {
		limit := size[int(q*float64(len(size)))]
		m.add("saturation", "a force that is cut at its extremes (saturation)", advice,
			func(k int) float64 { return m.Force[k] - min(max(m.Force[k], -limit), limit) })
	}
}

// rows: the fit without some of the rows.
func (m *Motion) rows() {
	p := len(m.Terms)
	for _, share := range []float64{0.01, 0.03, 0.1} {
		left := func(k int) bool { return math.Abs(m.V[k]) < share*m.topSpeed }
		some := 0
		for k := range m.V {
			if left(k) {
				some++
			}
		}
		if per := m.RowTime / m.Dt; p == 0 || float64(some) <= 2*per*float64(p) || float64(len(m.V)-some) <= 10*per*float64(p) {
			continue
		}
		var c []func(k int) float64
		for _, t := range m.Terms {
			c = append(c, func(k int) float64 {
				if left(k) {
					return t.Column(k)
				}
				return 0
			})
		}
		m.add("slow rows", fmt.Sprintf("another behaviour below %.3g of the top speed (rest, presliding)", share),
			"Leave slow rows out with min_velocity, or fit a law with a bristle.", c...)
	}
}
