package axis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Model is a Spec on records. It is not changed after New and may be shared; what moves belongs to the evaluators.
type Model struct {
	spec       Spec
	law        friction.Model // to be asked about; nil: no friction
	names      names
	pieces     []*piece
	params     []fit.Param
	roughSizes rough
	slides     sliding  // under a force or in a controller: what is known before any simulation
	parts      []int    // of a sampling interval of every piece; nil: found by the plan
	leading    *leading // along the record; nil: it runs free
	span       float64  // of what is compared, the scale of the largest residual

	smoothing func() int // samples of the moving averages of Inverse, found when first asked for
}

// names of the quantities of an axis, and their units.
type names struct{ inertia, position, velocity, force, unitX, unitV, unitF, unitDamp string }

func namesOf(rotary bool) names {
	if rotary {
		return names{"J", "angle", "angular velocity", "torque", "rad", "rad/s", "N·m", "N·m·s/rad"}
	}
	return names{"M", "position", "velocity", "force", "m", "m/s", "N", "N·s/m"}
}

// loadTerms are the loads besides friction with their parameters and units.
var loadTerms = []struct{ term, param, unit, doc string }{
	{"viscous", "Fv", "N·s/m", "viscous friction, of a law that has none itself"},
	{"offset", "offset", "N", "constant force opposing positive motion"},
	{"stiffness", "k", "N/m", "spring with its rest at position zero"},
	{"gravity-sin", "mgs", "N", "gravity times sine of the angle: positive for a pendulum that hangs at zero, negative for one that " +
		"hangs at pi"},
	{"gravity-cos", "mgc", "N", "gravity times cosine of the angle"},
}

// New puts a model on the pieces of a recording. The channels that the model needs have to be there.
func New(spec Spec, pieces []*record.Record) (*Model, error) {
	m := &Model{spec: spec, law: lawOf(spec.Law), names: namesOf(spec.Rotary)}
	m.smoothing = sync.OnceValue(m.smoothed)
	m.spec.Decimate = max(m.spec.Decimate, 1)
	if err := m.checkSpec(); err != nil {
		return nil, err
	}
	if len(pieces) == 0 {
		return nil, &record.Error{Msg: "there is no record to explain", Hint: "Give at least one file under data."}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, rec := range pieces {
		p, err := m.newPiece(rec)
		if err != nil {
			return nil, err
		}
		if len(pieces) > 1 || hasAnyParam(m.law, "v0") { // some laws have a v0 of their own
			p.suffix = fmt.Sprintf("[%d]", i+1)
		}
		m.pieces = append(m.pieces, p)
		lo, hi = min(lo, slices.Min(p.measured)), max(hi, slices.Max(p.measured))
	}
	m.span = hi - lo
	if quantity, _ := m.compared(); !(m.span > 0) {
		return nil, pieces[0].Fail(0, "Was the axis driven? Check the column.", "the %s never changes: there is nothing to explain", quantity)
	}
	m.roughSizes = m.roughly()
	if m.spec.Drive == Servo || m.spec.Drive == Force {
		m.slide(&m.roughSizes)
	}
	if m.spec.Drive == Force { // rests on the rough inertia
		for _, p := range m.pieces {
			s := m.spec.start(p.rec, &push{drive: p.force, m: m.roughSizes.m, fv: m.roughSizes.fv, linear: m.spec.Hold == Linear})
			p.x0, p.v0, p.a0 = s.x, s.v, s.a
		}
	}
	m.params = m.defaults()
	if m.spec.Drive == Servo {
		m.guessed(m.params)
	}
	for name := range spec.Known {
		if fit.Index(m.params, name) < 0 {
			_, err := m.merge([]fit.Param{{Param: engine.Param{Name: name}}})
			return nil, err
		}
	}
	return m, nil
}

// checkSpec tells every contradiction within the spec.
func (m *Model) checkSpec() error {
	s := &m.spec
	var bad fit.ParamError
	add := bad.Add
	if m.law == nil && s.Law != "" {
		add("law: there is no friction law %q; hil laws lists them", s.Law)
	}
	for i, term := range s.Terms {
		j := slices.IndexFunc(loadTerms, func(l struct{ term, param, unit, doc string }) bool { return l.term == term })
		switch {
		case j < 0:
			add("terms: there is no load %q, want viscous, offset, stiffness, gravity-sin or gravity-cos", term)
		case term == "viscous" && dampedBy(s.Law) != "":
			add("terms: %s has viscous friction itself, %s: leave viscous out", s.Law, dampedBy(s.Law))
		case strings.HasPrefix(term, "gravity") && !s.Rotary:
			add("terms: %s belongs to an axis that turns; on a slide gravity is an offset", term)
		case slices.Contains(s.Terms[:i], term):
			add("terms: %s is there twice", term)
		}
	}
	if s.Asymmetric && bad.OrNil() == nil {
		switch {
		case slices.Contains(s.Terms, "viscous"):
		case s.Law == "":
			add("asymmetric: there is no friction to split by direction")
		case !hasAnyParam(m.law, "Fc", "Fv", "sigma2"):
			add("asymmetric: %s has no Fc, Fv or sigma2 to split by direction", s.Law)
		}
		if slices.Contains(s.Terms, "offset") && hasAnyParam(m.law, "Fc") {
			add("asymmetric: offset and the difference of Fc+ and Fc- are the same force; leave the offset out")
		}
	}
	s.checkServo(add)
	if s.Scheme != friction.Midpoint && isSwitched(m.law) {
		add("scheme: %s has steps of its own, which end where it sticks and slips; %v is for laws without a stick mode: leave the scheme out",
			s.Law, s.Scheme)
	}
	if s.Scheme >= friction.Explicit {
		add("scheme: %v is of first order with friction, and its velocity belongs to half a step earlier; want midpoint or implicit", s.Scheme)
	}
	return bad.OrNil()
}

// Records is the number of records, or of their pieces.
func (m *Model) Records() int { return len(m.pieces) }

// Params are all parameters of the model with bounds and first guesses from the data, in the order inertia, law, loads,
// spring of the drive, lag, initial states. What the data rarely tell (exponents, fading, nominal loads, the lag, the
// stiffness of the drawing spring) is fixed until it is set free.
func (m *Model) Params() []fit.Param { return slices.Clone(m.params) }

// compared is what is compared, for people, and its unit.
func (m *Model) compared() (quantity, unit string) {
	switch m.spec.Output {
	case Velocity:
		return m.names.velocity, m.names.unitV
	case Command:
		return m.names.force, m.names.unitF
	}
	return m.names.position, m.names.unitX
}

// merge puts params over those of the model, by name.
func (m *Model) merge(params []fit.Param) ([]fit.Param, error) {
	all := m.Params()
	var bad fit.ParamError
	seen := map[string]bool{}
	for _, p := range params {
		i := fit.Index(all, p.Name)
		switch {
		case i < 0 && strings.Contains(p.Name, " s)"): // a state of multiple shooting
		case i < 0:
			known := make([]string, len(all))
			for j, q := range all {
				known[j] = q.Name
			}
			bad.Add("the model has no parameter %s, it has %s", p.Name, strings.Join(known, ", "))
		case seen[p.Name]:
			bad.Add("parameter %s exists twice", p.Name)
		default:
			all[i] = p
		}
		seen[p.Name] = true
	}
	if err := cmp.Or(bad.OrNil(), fit.Check(all)); err != nil {
		return nil, err
	}
	free := func(name string) bool { return !all[fit.Index(all, name)].Fixed }
	switch {
	case m.spec.Drive == Coast && free(m.names.inertia):
		return nil, fit.Refuse("%s: without a drive only ratios to the inertia can be known; fix it, at 1 for the ratios themselves",
			m.names.inertia)
	case m.spec.Drive == Spring && free("kd") && free(m.names.inertia):
		return nil, fit.Refuse("kd and %s: motion alone tells ratios of forces only; fix one of the two at its known value", m.names.inertia)
	}
	return all, nil
}

// Parts is the largest number of parts of a sampling interval in which the model moves, at the values of params, and the
// longest of them (s).
func (m *Model) Parts(params []fit.Param) (parts int, step float64, err error) {
	q, err := m.planOf(params)
	if err != nil {
		return 0, 0, err
	}
	for i, p := range m.pieces {
		parts, step = max(parts, q.parts[i]), max(step, p.dt/float64(q.parts[i]))
	}
	return parts, step, nil
}

// Finer is the model with n times as many parts of every sampling interval as it has at the values of params.
func (m *Model) Finer(params []fit.Param, n int) (*Model, error) {
	q, err := m.planOf(params)
	if err != nil {
		return nil, err
	}
	finer := *m
	finer.parts = slices.Clone(q.parts)
	for i := range finer.parts {
		finer.parts[i] *= n
	}
	return &finer, nil
}

// Coarser is the model with as few parts of every sampling interval as one for n of those that it has at the values of params.
func (m *Model) Coarser(params []fit.Param, n float64) (*Model, error) {
	q, err := m.planOf(params)
	if err != nil {
		return nil, err
	}
	coarser := *m
	coarser.parts = slices.Clone(q.parts)
	for i, parts := range coarser.parts {
		coarser.parts[i] = max(1, int(math.Ceil(float64(parts)/math.Max(n, 1))))
	}
	return &coarser, nil
}

// Hold is the model under a force that does h between its samples.
func (m *Model) Hold(h Hold) *Model {
	other := *m
	other.spec.Hold = h
	return &other
}
