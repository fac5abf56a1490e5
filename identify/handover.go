package identify

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"hilrig/engine/friction"
	"hilrig/identify/axis"
)

// Subject is the model that a result holds parameters of.
type Subject struct {
	Rotary     bool     `json:"rotary"` // rad, N·m, kg·m²; else m, N, kg
	Law        string   `json:"law"`    // of hil laws
	Asymmetric bool     `json:"asymmetric"`
	Terms      []string `json:"terms"` // loads besides friction
}

// sliding is the law of a regression: Coulomb and viscous friction, break-away at the Coulomb level.
const sliding = "static-coulomb-viscous"

// subject is that of a plan whose last method is m.
func (p *Plan) subject(m *MethodInfo) Subject {
	s := Subject{Rotary: p.Model.Rotary, Law: p.Model.Law, Asymmetric: p.Model.Asymmetric, Terms: p.Model.Terms}
	if m.Name == regress || m.Coupled {
		s.Terms = nil
		for _, t := range p.Regress.Terms {
			s.Terms, s.Asymmetric = append(s.Terms, string(t)), s.Asymmetric || strings.HasSuffix(string(t), "+")
		}
	}
	s.Law = m.law(s.Law)
	return s
}

// law is the one that a method finds parameters of, where a plan says this law, or none.
func (m *MethodInfo) law(said string) string {
	switch {
	case m.Name == regress || m.Coupled:
		return sliding
	case said == "" && m.Finds != nil && !m.Simulates:
		for _, only := range []string{"lugre", "state-variable"} {
			if m.Finds(only) {
				return only
			}
		}
	}
	return said
}

// Law is the one that a chain finds parameters of, where a file says this law, or none.
func (c Chain) Law(said string) string { return FindMethod(c[len(c)-1]).law(said) }

// Contact is what a result says of an axis, as compensation and other programs take it. SI, in the units of the axis.
type Contact struct {
	Rotary     bool
	Law        string             // of hil laws
	Params     map[string]float64 // all of the law, as friction.Build takes them: those for v < 0 end in friction.Backward
	Errors     map[string]float64 // standard errors of those that were found, by the same names
	Inertia    float64            // kg or kg·m²; 0: not found
	InertiaErr float64            // its standard error; 0: known
	Omitted    []string           // what of the result the law has no place for, in words
}

// Contact gives the friction law of a result. It is refused where a number of the law is missing, where the numbers are none of the law, or
// where friction was found that the law has no place for.
func (r *Result) Contact() (*Contact, error) {
	s := &r.Model
	info, ok := friction.Find(s.Law)
	if !ok {
		return nil, fmt.Errorf("the result holds no friction law (%s)", r.Method)
	}
	c := &Contact{Rotary: s.Rotary, Law: info.Name, Params: map[string]float64{}, Errors: map[string]float64{}}
	used := map[string]bool{}
	// one number of the law, from those of the result that sum up to it
	put := func(to string, from ...string) bool {
		sum, square := 0.0, 0.0
		for _, name := range from {
			p, ok := r.Param(name)
			if !ok {
				return false
			}
			sum += p.Value
			if p.Error != nil {
				square += *p.Error * *p.Error
			}
		}
		for _, name := range from {
			used[name] = true
		}
		if c.Params[to] = sum; square > 0 {
			c.Errors[to] = math.Sqrt(square)
		}
		return true
	}
	law := info.NewLaw()
	var missing []string
	for _, p := range law.Params() {
		name, back := p.Name, p.Name+friction.Backward
		switch {
		case put(name, name+"+") && put(back, name+"-"): // by direction
		case put(name, name):
		case name == "Fs" && put(name, "Fc+", "dFs") && put(back, "Fc-", "dFs"):
		case name == "Fs" && s.Law == sliding && put(name, "Fc+") && put(back, "Fc-"):
		case name == "Fs" && s.Law == sliding && put(name, "Fc"):
		case name == "sigma2" && put(name, "Fv+") && put(back, "Fv-"):
		case name == "sigma2" && put(name, "Fv"):
		default:
			v, known := axis.FixedDefault(name)
			if !known {
				missing = append(missing, name)
				continue
			}
			if c.Params[name] = v; math.IsNaN(v) {
				c.Params[name] = p.Value
			}
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s of the law %s is not in the result, and a law is one whole set of numbers; hil laws says which methods "+
			"find them", strings.Join(missing, ", "), c.Law)
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		switch name := p.Name; {
		case used[name] || p.State() || p.Value == 0 || name == "lag" || name == "kd":
		case name == "M" || name == "J":
			if c.Inertia = p.Value; p.Error != nil {
				c.InertiaErr = *p.Error
			}
		case strings.HasPrefix(name, "Fv"):
			return nil, fmt.Errorf("%s = %.4g %s is friction, and the law %s has no place for it; take a law with viscous friction (hil laws)",
				name, p.Value, p.Unit, c.Law)
		default:
			c.Omitted = append(c.Omitted, fmt.Sprintf("%s = %.4g %s", name, p.Value, p.Unit))
		}
	}
	if _, err := friction.Build(c.Law, c.Params); err != nil {
		return nil, fmt.Errorf("the numbers are none of a contact: %w", err)
	}
	return c, nil
}

// KeepOffset leaves the constant force of the law at what it was, for a reason: the one that was found is not that of the axis alone.
func (c *Contact) KeepOffset(was float64, why string) {
	found, there := c.Params["offset"]
	if !there || found == was {
		return
	}
	c.Params["offset"] = was
	delete(c.Errors, "offset")
	c.Omitted = append(c.Omitted, fmt.Sprintf("offset = %.4g (it stays %.4g): %s", found, was, why))
}

// Acceptable tells why a result may not take the place of the model of an axis; nil: it may. The rule:
//
//   - the fit came to its end, and its verdict is not "rejected";
//   - every number of law and inertia that was searched has a bounded interval, and none is "not identifiable";
//   - a second record that was not fitted, where there is one, is explained to goodFit percent.
func (r *Result) Acceptable() error {
	switch {
	case r.Interrupted:
		return errors.New("the fit was interrupted: these are no numbers of an optimum")
	case r.Verdict == Rejected:
		return fmt.Errorf("the result is rejected: %s", strings.Join(r.Because()[:min(1, len(r.Reasons))], ""))
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed || p.State() {
			continue
		}
		if p.CI == nil || p.Worth == NotIdentifiable {
			return fmt.Errorf("%s cannot be told from this record (%s)", p.Name, p.Worth)
		}
	}
	switch v := r.Validation; {
	case v == nil:
	case v.Fit.Percent == nil:
		return fmt.Errorf("nothing says how well the second record %s is explained", v.Data.File)
	case *v.Fit.Percent < goodFit:
		return fmt.Errorf("the second record %s is explained to %.1f %%, less than %.0f %%", v.Data.File, *v.Fit.Percent, goodFit)
	}
	return nil
}
