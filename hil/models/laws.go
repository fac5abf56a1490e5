package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/hil"
)

// LawsKeys are those of kind rival-laws beside its laws.
type LawsKeys struct {
	Memory float64 `yaml:"memory" unit:"s" want:">=1 <=10000" doc:"of kind rival-laws: time of motion over which residuals are compared"`
}

// Rival is a friction law with its name in signals.
type Rival struct {
	Name string
	friction.Model
}

// MaxRivals is the number of laws that compare.
const MaxRivals = 8

// RivalLaws drives several friction laws by the estimated motion of an axis, and tells which of them leaves the least of the estimated
// friction unexplained. Residuals are counted while the axis is energised and moves.
//
// What is compared is what the estimator would have made of a law. It follows a change of friction by its own response (hil.Motion.Lag),
// so each law's force passes through the same one. The law moves by the estimated position, not by the estimated speed: that runs behind
// where friction jumps, and its integral drifts away from the bristles. A law that does not yield sticks while the position stays within
// its resolution, and there explains any friction up to its level.
//
// The best law is told by its residuals in batches of a thirty-second of the memory [DM95]: the mean squares d of another law less those of
// the best one. It is the best if for each other law
//
//	mean d − t·s·√((1+ρ)/(n·(1−ρ))) > margin·(mean square of the best)
//
// with the correlation ρ ≥ 0 of neighbouring batches, which shrinks the number of independent ones to n·(1−ρ)/(1+ρ) [ZS95], and the
// quantile t of Student's law for that number, at one per cent shared among the other laws. The margin is for what is no chance: the
// response above is one of a model. If one law does not pass, none is told apart. The best law need not be a good one.
type RivalLaws struct {
	axis    int
	laws    []rival
	signals []engine.Signal
	band    float64 // rad  resolution
	travel  float64 // rad  twice the largest way by which one of the laws yields before it breaks away, at least ten resolutions
	memory  float64 // s

	response
	lastPosition  float64  // rad  position of the tick before
	stickPosition float64  // rad  position as a law that does not yield sees it
	hasPosition   bool     // both are known
	reach         [2]reach // of the position, this tenth of a second and the one before
	reachTime     float64  // s    … since it began
	batch         batch    // under way
	history       [batches]batch
	head          int
	filled        int // batches in history
	bestLaw       int
	t             [batches + 1]float64 // quantile of Student's law by the number of independent batches
	squares       [MaxRivals]float64   // sums over history
	motionTime    float64              // s  in history
}

// rival is a law at work.
type rival struct {
	Rival
	z      []float64
	yields bool
	lag    [3]float64 // state of the response
}

// batch is a stretch of motion.
type batch struct {
	time    float64            // s
	squares [MaxRivals]float64 // (N·m)²·s
}

// reach is the range of a position.
type reach struct{ lo, hi float64 }

const (
	batches           = 32   // in the memory
	minBatches        = 8    // that tell anything
	margin            = 0.1  // of a mean square
	significanceLevel = 0.01 // share of verdicts that chance alone may cause
	restWindow        = 0.1  // s
	longestGap        = 20   // ticks that are made up for
	jump              = 20   // resolutions between the moves by position and speed: the position was taken anew
)

// LawSignals stand before the residuals of the laws.
var LawSignals = []engine.Signal{{Name: "best"}, {Name: "motion", Unit: "s"}}

const (
	lBest   = iota // place of the best law among them, from 0; −1: not told apart
	lMotion        // time of motion that the residuals rest on
	lFirst         // residuals of the laws: root of the mean square
)

// NewRivalLaws checks the description.
func NewRivalLaws(s *Spec) (*RivalLaws, error) {
	m := &RivalLaws{axis: s.Axis, band: s.Resolution, travel: 10 * s.Resolution, memory: s.Memory, bestLaw: -1,
		signals: slices.Clone(LawSignals)}
	if len(s.Laws) < 2 || len(s.Laws) > MaxRivals {
		return nil, fmt.Errorf("rival-laws: %d laws, want 2 to %d", len(s.Laws), MaxRivals)
	}
	for _, l := range s.Laws {
		if slices.ContainsFunc(m.signals, func(o engine.Signal) bool { return o.Name == l.Name }) {
			return nil, fmt.Errorf("rival-laws: two laws, or a law and another signal, are called %s", l.Name)
		}
		if err := l.Validate(); err != nil {
			return nil, fmt.Errorf("rival-laws: %s: %w", l.Name, err)
		}
		r := rival{Rival: l, z: make([]float64, l.StateDim())}
		if k := l.Stiffness().K; k > 0 {
			r.yields, m.travel = true, max(m.travel, 2*l.Levels().Max()/k)
		}
		r.Reset(r.z)
		m.laws = append(m.laws, r)
		m.signals = append(m.signals, engine.Signal{Name: l.Name, Unit: s.Effort})
	}
	if !(m.memory > 0 && m.band > 0) || math.IsInf(m.memory+m.travel, 0) {
		return nil, fmt.Errorf("rival-laws: memory %g s and resolution %g, want finite numbers > 0", m.memory, m.band)
	}
	m.quantiles()
	return m, nil
}

// quantiles are those of Student's law that a verdict needs.
func (m *RivalLaws) quantiles() {
	for n := 2; n <= batches; n++ {
		m.t[n] = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - significanceLevel/float64(len(m.laws)-1))
	}
}

func (m *RivalLaws) Signals() []engine.Signal { return m.signals }

// Step moves every law, and counts its residual.
func (m *RivalLaws) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	a := &in.Axes[m.axis]
	ticks := 1 + min(in.Skip, longestGap)
	dt := in.Dt * float64(ticks)
	if !numeric.IsFinite(a.Position) || !numeric.IsFinite(a.Velocity) || !numeric.IsFinite(a.Friction) {
		return engine.NonFinite, 0
	}
	m.tune(in.Dt, a.Lag)
	move, slip := m.displacements(a, dt)
	counts := m.inMotion(a.Position, dt) && a.Energised
	st := engine.OK
	for i := range m.laws {
		l := &m.laws[i]
		force := friction.Input{Dt: dt, V: move / dt}
		if !l.yields {
			force.V, force.Fa = slip/dt, a.Friction
		}
		f := l.Model.Step(l.z, force)
		if !numeric.IsFinite(f) { // begins anew, and explains nothing in this tick
			l.Reset(l.z)
			f, st = 0, engine.NonFinite
		}
		for range ticks {
			m.respond(&l.lag, f)
		}
		r := a.Friction - l.lag[2]
		if !l.yields && slip == 0 { // the estimate is what it balances
			r = a.Friction - f
		}
		if counts {
			m.batch.squares[i] += r * r * dt
		}
	}
	if counts {
		if m.batch.time += dt; m.batch.time >= m.memory/batches {
			m.turn()
		}
	}
	y[lBest], y[lMotion] = float64(m.bestLaw), m.motionTime+m.batch.time
	for i := range m.laws {
		y[lFirst+i] = math.Sqrt((m.squares[i] + m.batch.squares[i]) / max(y[lMotion], math.SmallestNonzeroFloat64))
	}
	return st, 0
}

// displacements are the way of the tick, and the way that a law sees which sticks within the resolution.
func (m *RivalLaws) displacements(a *hil.Motion, dt float64) (move, slip float64) {
	move = a.Position - m.lastPosition
	if way := a.Velocity * dt; !m.hasPosition || math.Abs(move-way) > jump*m.band {
		move, m.stickPosition, m.hasPosition = way, a.Position, true
	}
	m.lastPosition = a.Position
	held := min(max(m.stickPosition, a.Position-m.band), a.Position+m.band)
	slip, m.stickPosition = held-m.stickPosition, held
	return move, slip
}

// inMotion tells whether the axis has gone further than travel in the last tenth or two of a second.
func (m *RivalLaws) inMotion(x, dt float64) bool {
	r := &m.reach[0]
	if m.reachTime += dt; m.reachTime >= restWindow {
		m.reach[1], *r, m.reachTime = *r, reach{x, x}, 0
	}
	r.lo, r.hi = min(r.lo, x), max(r.hi, x)
	return max(r.hi, m.reach[1].hi)-min(r.lo, m.reach[1].lo) > m.travel
}

// turn ends a batch, and decides again.
func (m *RivalLaws) turn() {
	m.head = (m.head + 1) % batches
	m.history[m.head], m.batch = m.batch, batch{}
	m.filled = min(m.filled+1, batches)
	m.squares, m.motionTime = [MaxRivals]float64{}, 0
	least := 0
	for k := range m.filled {
		m.motionTime += m.history[m.at(k)].time
	}
	for i := range m.laws {
		for k := range m.filled {
			m.squares[i] += m.history[m.at(k)].squares[i]
		}
		if m.squares[i] < m.squares[least] {
			least = i
		}
	}
	m.bestLaw = least
	for i := range m.laws {
		if i != least && !m.significant(least, i) {
			m.bestLaw = -1
		}
	}
}

// at is the place of the batch k before the newest.
func (m *RivalLaws) at(k int) int { return (m.head - k + batches) % batches }

// significant tells whether law i is worse than the best one beyond chance and margin.
func (m *RivalLaws) significant(best, i int) bool {
	n := m.filled
	if n < minBatches {
		return false
	}
	diff := func(k int) float64 { b := &m.history[m.at(k)]; return (b.squares[i] - b.squares[best]) / b.time }
	mean := 0.0
	for k := range n {
		mean += diff(k) / float64(n)
	}
	var c0, c1 float64
	for k := range n {
		d := diff(k) - mean
		c0 += d * d
		if k > 0 {
			c1 += d * (diff(k-1) - mean)
		}
	}
	// the correlation of neighbours in a short series comes out too small, by (1 + 4ρ)/n [MP54]
	rho := 0.0
	if c0 > 0 {
		rho = min(max((float64(n)*c1/c0+1)/float64(n-4), 0), 0.95)
	}
	few := max(2, int(float64(n)*(1-rho)/(1+rho)))
	se := math.Sqrt(c0 / float64(n-1) / float64(n) * (1 + rho) / (1 - rho))
	return mean-m.t[few]*se > margin*m.squares[best]/m.motionTime
}
