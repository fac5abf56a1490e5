package axis

import (
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// body is the mass with its law and loads, and the way the parameters of the model get into them. Written in place: a
// simulation must not allocate.
type body struct {
	mass        *friction.Mass
	law         friction.Model
	fullLaw     friction.Model // law, or both directions of it
	maxSpeed    float64        // m/s, largest speed of the records
	contactRoom []float64      // room for a state of the contact
	taus        []*float64     // s, time constants of the law
	travel      int            // place of a displacement in it; −1: none
	switched    bool
	loads       loads
	x           []float64 // state

	value   []float64           // of the parameters, and a zero behind them
	setters []func(v []float64) // from the values to where they act, in order
	check   []limit             // of the parameters of the law
	valid   func() bool         // combinations of them; nil: none
	x0      []int               // places of x0 and v0 of every piece in value
	lag     int                 // place of the lag
}

type limit struct {
	value  *float64
	lo, hi float64
}

// newBody builds the body for the parameters of the model, all of them in order.
func (m *Model) newBody(params []fit.Param) (*body, error) {
	b, at := &body{}, map[string]int{}
	for i, p := range params {
		at[p.Name], b.value = i, append(b.value, p.Value)
	}
	b.value = append(b.value, 0)
	// what is not there is zero
	place := func(name string) int {
		if i, ok := at[name]; ok {
			return i
		}
		return len(params)
	}
	to := func(name string, place *float64) {
		if i, ok := at[name]; ok {
			b.setters = append(b.setters, func(v []float64) { *place = v[i] })
		}
	}
	b.law = &friction.StaticCoulombViscous{Delta: 1} // all levels 0: no friction, in the fastest machine there is
	ok := m.law != nil
	if ok {
		b.law = lawOf(m.spec.Law)
	}
	b.switched = isSwitched(b.law)
	law := b.law
	if ok {
		switch {
		case !m.spec.Asymmetric:
			b.bind(law, to)
			b.setters = append(b.setters, level(law)...)
		case b.switched:
			b.bind(law, to)
			b.rigid(law, at)
		default:
			back := lawOf(m.spec.Law)
			b.bind(law, to)
			b.bind(back, to)
			b.sides(law, back, at)
			sided, err := friction.NewTwoSided(law, back)
			if err != nil {
				return nil, err
			}
			law = sided
		}
		b.valid = combination(b.law)
	}
	if slices.Contains(m.spec.Terms, "viscous") {
		b.damping(at, to)
	}
	// the law's own offset must not act twice
	if !hasAnyParam(m.law, "offset") {
		to("offset", &b.loads.offset)
	}
	to("k", &b.loads.k)
	to("mgs", &b.loads.sin)
	to("mgc", &b.loads.cos)
	to("kd", &b.loads.kd)
	b.loads.turns = slices.ContainsFunc(m.spec.Terms, func(t string) bool { return t == "gravity-sin" || t == "gravity-cos" })
	b.lag = place("lag")
	for _, p := range m.pieces {
		b.x0 = append(b.x0, place("x0"+p.suffix), place("v0"+p.suffix))
	}
	mass, err := friction.NewMass(1, law, m.spec.Scheme)
	if err != nil {
		return nil, err
	}
	b.mass, b.x, b.fullLaw, b.maxSpeed = mass, mass.NewState(), law, m.roughSizes.v
	b.contactRoom = make([]float64, len(b.x)-2)
	b.travel = slices.IndexFunc(law.States(), func(s engine.Signal) bool { return s.Name == "displacement" })
	to(m.names.inertia, &mass.M)
	return b, nil
}

// bind sends every parameter of a law to its place.
func (b *body) bind(law friction.Model, to func(string, *float64)) {
	places := friction.Bind(law)
	for i, p := range law.Params() {
		to(p.Name, places[i])
		b.check = append(b.check, limit{places[i], p.Lo, p.Hi})
		if p.Unit == "s" {
			b.taus = append(b.taus, places[i])
		}
	}
}

// field is the place of a parameter of a law.
func field(law friction.Model, name string) (*float64, bool) {
	i := slices.IndexFunc(law.Params(), func(p engine.Param) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return friction.Bind(law)[i], true
}

// rigid splits a law with a stick mode by direction. Its levels are held by a load instead: with the means F̄c, F̄v and the
// half differences d, q,
//
//	Fc± + Fv±·|v| = F̄c + F̄v·|v| ± (d + q·|v|),
//
// and ±(d + q·|v|) in the direction of motion is the offset d plus q·|v|, the same for both. At rest it shifts the levels to
// Fs± = Fc± + dFs.
func (b *body) rigid(law friction.Model, at map[string]int) {
	pair := func(name string) (plus, minus int, ok bool) {
		plus, ok = at[name+"+"]
		minus = at[name+"-"]
		return
	}
	if p, n, ok := pair("Fc"); ok {
		fc, _ := field(law, "Fc")
		b.setters = append(b.setters, func(v []float64) { *fc, b.loads.offset = (v[p]+v[n])/2, (v[p]-v[n])/2 })
		for _, name := range []string{"Fs", "Fs_inf"} {
			if fs, ok := field(law, name); ok {
				i, least := at["dFs"], 0.0
				if strengthens(law) {
					least = minFsRatio - 1 // of the weaker direction
				}
				b.setters = append(b.setters, func(v []float64) { *fs = *fc + max(v[i], least*min(v[p], v[n])) })
			}
		}
	}
	fv, own := field(law, "Fv")
	if p, n, ok := pair("Fv"); ok && own {
		b.setters = append(b.setters, func(v []float64) { *fv, b.loads.q = (v[p]+v[n])/2, (v[p]-v[n])/2 })
	}
}

// sides gives each direction of a smooth law its own level and viscosity. The break-away level stays above a twentieth of
// the Coulomb one: at zero the bristles would have no force.
func (b *body) sides(fore, back friction.Model, at map[string]int) {
	for _, s := range []struct {
		law  friction.Model
		sign string
	}{{fore, "+"}, {back, "-"}} {
		for _, name := range []string{"Fc", "Fv", "sigma2"} {
			if place, ok := field(s.law, name); ok {
				i := at[name+s.sign]
				b.setters = append(b.setters, func(v []float64) { *place = v[i] })
			}
		}
		fc, ok := field(s.law, "Fc")
		fs, is := field(s.law, "Fs")
		if i, there := at["dFs"]; ok && is && there {
			b.setters = append(b.setters, func(v []float64) { *fs = max(*fc+v[i], minFsRatio**fc) })
		}
	}
}

// level keeps the break-away level of a rigid law at or above its Coulomb level, as the law demands, or above zero where it
// may strengthen with speed: a search that tries the contrary gets the law at that limit.
func level(law friction.Model) []func([]float64) {
	if _, gms := law.(*friction.GMS); !gms && !isSwitched(law) {
		return nil
	}
	fc, ok := field(law, "Fc")
	if !ok {
		return nil
	}
	least := 1.0
	if strengthens(law) {
		least = minFsRatio
	}
	for _, name := range []string{"Fs", "Fs_inf"} {
		if fs, ok := field(law, name); ok {
			return []func([]float64){func([]float64) { *fs = max(*fs, least**fc) }}
		}
	}
	return nil
}

// strengthens tells that a law may have less friction at rest than in motion: its curve begins at the break-away level.
func strengthens(law friction.Model) bool {
	_, curve := law.(*friction.Stribeck)
	return curve || !isSwitched(law)
}

// combination is what a law demands of several parameters together.
func combination(law friction.Model) func() bool {
	switch p := law.(type) {
	case *friction.BoucWen:
		return func() bool { return p.Gamma <= p.Beta && p.Gamma > -p.Beta }
	case *friction.DahlModified:
		return func() bool { return p.Alpha0+p.Alpha1 > 1e-12 }
	case *friction.M2:
		return func() bool { return p.Alpha0+p.Alpha1 > 1e-12 }
	}
	return nil
}

// place sends the values of all parameters to where they act.
func (b *body) place() {
	for _, put := range b.setters {
		put(b.value)
	}
}

// set takes the values of all parameters and tells whether there is a body with them.
func (b *body) set() bool {
	b.place()
	for _, l := range b.check {
		if v := *l.value; !(v >= l.lo && v <= l.hi) {
			return false
		}
	}
	if !(b.mass.M > 0) || math.IsInf(b.mass.M, 0) || b.valid != nil && !b.valid() {
		return false
	}
	b.mass.Retune()
	return true
}

// initial is the state at the beginning of piece i.
func (b *body) initial(i int) (x, v float64) { return b.value[b.x0[2*i]], b.value[b.x0[2*i+1]] }

// lagTime is the lag (s).
func (b *body) lagTime() float64 { return b.value[b.lag] }

// channels are the load and current at sample k of a piece, for the laws that look at them.
func (b *body) channels(p *piece, k int) {
	b.mass.N, b.mass.I = 0, 0
	if p.load != nil {
		if b.mass.N = p.load[k]; b.mass.N == 0 {
			b.mass.N = -1 // recorded as none: lifted off, not untold
		}
	}
	if p.current != nil {
		b.mass.I = p.current[k]
	}
}
