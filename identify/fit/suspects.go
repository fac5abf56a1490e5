package fit

import (
	"hilrig/engine/numeric"

	"fmt"
	"math"
	"slices"
)

// Suspects are what models of friction lack as a rule, for a solution whose residual is a force and whose rows have velocity
// and position; nil for others.
func Suspects(s *Solution, rotary bool) []Suspect {
	if s.Unit != "N" && s.Unit != "N·m" || len(s.Velocity) != len(s.Residual) || len(s.Measured) != len(s.Residual) || s.Dt <= 0 {
		return nil
	}
	m := newMotion(s)
	if m.top == 0 {
		return nil
	}
	m.speed()
	m.place(s, rotary)
	m.course(s)
	m.lag()
	m.drive()
	m.atTurns = true
	m.turn()
	m.rows(s)
	return m.list
}

// motion is what the rows of a solution know of the motion.
type motion struct {
	v, x, a   []float64 // x: nil if not known
	force     []float64 // of the model
	pieces    []int
	dt        float64
	top, span float64   // quantile of the speed, range of x
	since     []float64 // way since the last reversal; +Inf before the first
	list      []Suspect
	atTurns   bool // what is added lives where the motion turns
}

func newMotion(s *Solution) *motion {
	n := len(s.Residual)
	m := &motion{v: s.Velocity, pieces: s.Pieces, dt: s.Dt, force: make([]float64, n), a: make([]float64, n), since: make([]float64, n)}
	speed := make([]float64, n)
	for k, e := range s.Residual {
		m.force[k], speed[k] = s.Measured[k]-e, math.Abs(s.Velocity[k])
	}
	slices.Sort(speed)
	m.top = speed[n*99/100]
	if len(s.Position) == n {
		m.x = s.Position
		m.span = slices.Max(m.x) - slices.Min(m.x)
	}
	m.a = m.slope(m.v)
	each(n, s.Pieces, func(from, to int) {
		way, side := math.Inf(1), 0.0
		for k := from; k < to; k++ {
			if now := numeric.Sign(m.v[k]); now != 0 && now != side {
				if side != 0 {
					way = 0
				}
				side = now
			}
			way += math.Abs(m.v[k]) * m.dt
			m.since[k] = way
		}
	})
	return m
}

// slope is the central difference of x within the pieces.
func (m *motion) slope(x []float64) []float64 {
	var d []float64
	each(len(x), m.pieces, func(from, to int) { d = append(d, numeric.Slope(x[from:to], 1, m.dt)...) })
	return d
}

// piece is the number of the piece of row k.
func (m *motion) piece(k int) int {
	i, exact := slices.BinarySearch(m.pieces, k)
	if exact {
		i++
	}
	return i
}

func (m *motion) add(kind, what, advice string, columns ...func(k int) float64) *Suspect {
	m.list = append(m.list, Suspect{Kind: kind, What: what, Advice: advice, Columns: columns, Turn: m.atTurns})
	return &m.list[len(m.list)-1]
}

// drift adds that free parameter j of the solution changes: the column is its own times a course between −1 and 1.
func (m *motion) drift(s *Solution, j int, kind, what, advice string, column func(k int) float64) {
	sp := m.add(kind, s.Params[s.Free[j]].Name+" "+what, advice, column)
	sp.Of, sp.Drift = j, true
}

// speed: friction that is not straight in the velocity.
func (m *motion) speed() {
	m.add("drag", "a force that grows with the square of the speed (drag)", "Fit a model with quadratic drag, or record slower motion.",
		func(k int) float64 { return m.v[k] * math.Abs(m.v[k]) }).Usual = true
	m.add("direction", "a viscous friction that differs between the directions", "Split friction by direction: --asymmetric.",
		func(k int) float64 { return math.Abs(m.v[k]) })
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
		vs := share * m.top
		m.add("Stribeck", fmt.Sprintf("a friction that differs below %.3g of the top speed (Stribeck dip, presliding)", share), "Fit a law with a Stribeck dip, or leave slow rows out with min_velocity.",
			func(k int) float64 { return numeric.Sign(m.v[k]) * math.Exp(-m.v[k]*m.v[k]/(vs*vs)) })
	}
}

// place: forces that depend on the position.
func (m *motion) place(sol *Solution, rotary bool) {
	if m.x == nil || m.span == 0 {
		return
	}
	mid := (slices.Max(m.x) + slices.Min(m.x)) / 2
	if rotary && m.span > 0.3 {
		m.add("gravity", "a force that follows the sine of the angle (gravity)", "Add gravity-sin and gravity-cos to the terms.",
			func(k int) float64 { return math.Sin(m.x[k]) }, func(k int) float64 { return math.Cos(m.x[k]) })
	}
	m.add("stiffness", "a force that grows with the position (a spring, a cable, gravity on a curve)", "Add stiffness to the terms.",
		func(k int) float64 { return m.x[k] - mid })
	for j, i := range sol.Free {
		if bare(sol.Params[i].Name) != "offset" { // a spring
			m.drift(sol, j, "along the way", "that changes along the way", "Record a shorter way, or fit the parts of the way one by one.",
				func(k int) float64 { return sol.Jac[k*len(sol.Free)+j] * 2 * (m.x[k] - mid) / m.span })
		}
	}
	for _, end := range []float64{-1, 1} {
		m.add("stop", "a force near an end of the way (a stop, a cover)", "Record a motion that stays away from the ends.",
			func(k int) float64 { return max(0, end*(m.x[k]-mid)-0.25*m.span) })
	}

	// periods: as short as the rows resolve at the usual speed, in steps that miss none
	sum := 0.0
	for _, v := range m.v {
		sum += math.Abs(v) * m.dt / float64(len(m.v))
	}
	least := max(4*sum, m.span/100)
	for cycles := 2.0; m.span/cycles > least; cycles += 0.5 {
		w := 2 * math.Pi * cycles / m.span
		m.add("cogging", fmt.Sprintf("a force that repeats every %.3g along the way (cogging, a screw, teeth)", m.span/cycles), "Average over whole periods, or record a compensated drive.",
			func(k int) float64 { return math.Sin(w * m.x[k]) }, func(k int) float64 { return math.Cos(w * m.x[k]) })
	}
}

// turn: what happens behind a reversal.
func (m *motion) turn() {
	turns, way := 0, 0.0
	for k := 1; k < len(m.v); k++ {
		way += math.Abs(m.v[k]) * m.dt
		if m.v[k]*m.v[k-1] < 0 {
			turns++
		}
	}
	if turns == 0 {
		return
	}
	mean := way / float64(turns)
	for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.4} {
		vs := share * m.top
		m.add("zero of velocity", "a friction that turns where the velocity is not zero", "The sensor of position drifts, or its gain differs between the directions: compare it with another sensor.",
			func(k int) float64 { return math.Exp(-m.v[k] * m.v[k] / (vs * vs)) })
	}
	for _, share := range []float64{0.003, 0.01, 0.03, 0.1} {
		l := share * mean
		soft := func(k int) float64 { return math.Exp(-m.since[k] / l) }
		m.add("presliding", "a friction that builds up behind every reversal (presliding)", "Fit a law with a bristle, or leave slow rows out with min_velocity.",
			func(k int) float64 { return numeric.Sign(m.v[k]) * soft(k) })
		m.add("backlash", "a mass that is missing behind every reversal (backlash)", "Remove the play, measure behind it, or leave out what follows a reversal.",
			func(k int) float64 { return m.a[k] * soft(k) })
	}
}

// course: parameters that change over the record.
func (m *motion) course(s *Solution) {
	n, p := len(m.v), len(s.Free)
	at := func(k int) float64 { return float64(k) / float64(n) }
	courses := []struct {
		what string
		f    func(t float64) float64
	}{
		{"that drifts over the record", func(t float64) float64 { return 2*t - 1 }},
		{"that settles over the record", func(t float64) float64 { return 2*math.Exp(-5*t) - 1 }},
		{"that jumps halfway", func(t float64) float64 { return numeric.Sign(t - 0.5) }},
		{"that differs in the middle of the record", func(t float64) float64 { return numeric.Sign(1./6 - math.Abs(t-0.5)) }},
	}
	constant := false
	for j, i := range s.Free {
		constant = constant || bare(s.Params[i].Name) == "offset"
		for _, c := range courses {
			m.drift(s, j, "drift", c.what, "Warm the axis up, record under constant conditions, or fit the parts of the record one by one.",
				func(k int) float64 { return s.Jac[k*p+j] * c.f(at(k)) })
		}
	}
	if !constant {
		m.add("constant force", "a constant force (weight, zero of the sensor)", "Add offset to the terms.", func(int) float64 { return 1 })
		m.add("drift", "a force that drifts over the record", "Check the zero of the force, and record under constant conditions.", func(k int) float64 { return at(k) - 0.5 })
	}
}

// lag: force and motion are not of one time.
func (m *motion) lag() {
	const what, advice = "a force that is not of the same time as the motion", "Let the lag be a parameter, or correct the times of the columns."
	rate := m.slope(m.force)
	m.add("late force", what, advice, func(k int) float64 { return rate[k] })
	for _, by := range []int{-30, -20, -13, -8, -5, -3, -2, -1, 1, 2, 3, 5, 8, 13, 20, 30} {
		m.add("late force", what, advice, func(k int) float64 {
			if i := k - by; i >= 0 && i < len(m.force) && m.piece(i) == m.piece(k) {
				return m.force[i] - m.force[k]
			}
			return 0
		})
	}
}

// drive: a force that the drive did not give, or the sensor did not show.
func (m *motion) drive() {
	size := make([]float64, len(m.force))
	for k, f := range m.force {
		size[k] = math.Abs(f)
	}
	slices.Sort(size)
	const advice = "Record smaller forces, or measure the force behind the drive."
	m.add("saturation", "a gain of the force that changes with its size (saturation, motor constant)", advice,
		func(k int) float64 { return m.force[k] * math.Abs(m.force[k]) })
	m.add("saturation", "a gain of the force that changes with its size (saturation, motor constant)", advice,
		func(k int) float64 { return m.force[k] * m.force[k] * m.force[k] })
	m.add("saturation", "a gain of the force that changes with the speed (a limit of the voltage, eddy currents)", advice,
		func(k int) float64 { return m.force[k] * math.Abs(m.v[k]) })
	m.add("gain by direction", "a gain of the force that differs between its directions", "Check zero and gain of the drive in both directions.",
		func(k int) float64 { return math.Abs(m.force[k]) })
	for _, q := range []float64{0.6, 0.8, 0.9, 0.95, 0.98} {
		limit := size[int(q*float64(len(size)))]
		m.add("saturation", "a force that is cut at its extremes (saturation)", advice,
			func(k int) float64 { return m.force[k] - min(max(m.force[k], -limit), limit) })
	}
}

// rows: the fit without some of the rows.
func (m *motion) rows(s *Solution) {
	p := len(s.Free)
	for _, share := range []float64{0.01, 0.03, 0.1} {
		left := func(k int) bool { return math.Abs(m.v[k]) < share*m.top }
		some := 0
		for k := range m.v {
			if left(k) {
				some++
			}
		}
		if some <= 2*p || len(m.v)-some <= 10*p {
			continue
		}
		var c []func(k int) float64
		for j := range p {
			c = append(c, func(k int) float64 {
				if left(k) {
					return s.Jac[k*p+j]
				}
				return 0
			})
		}
		m.add("slow rows", fmt.Sprintf("another behaviour below %.3g of the top speed (rest, presliding)", share), "Leave slow rows out with min_velocity, or fit a law with a bristle.", c...)
	}
}
