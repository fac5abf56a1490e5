package configs

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/spelling"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/linear"
)

// IdentifyModel is what is simulated.
type IdentifyModel struct {
	axis.Spec
	Controller *IdentifyController `yaml:"controller,omitempty" doc:"servo: u = clamp(kv·(kp·(reference − position) − velocity))"`
	Lag        linear.LagMode      `yaml:"lag" doc:"free: the effective lag of the force is a parameter, in s; fixed: there is none; auto: free for regress where the record tells it, else fixed"`
}

// IdentifyController is the cascade of a positioning servo. Kv and limit are in the unit of the force column.
type IdentifyController struct {
	Kp    float64 `yaml:"kp" unit:"1/s" want:">0" doc:"position gain"`
	Kv    string  `yaml:"kv" doc:"velocity gain with unit, such as 243.45 V·s/m for a command in V"`
	Limit string  `yaml:"limit,omitempty" doc:"of the command, with unit, such as 10 V; empty: none"`
	Mean  int     `yaml:"mean" want:">=1 <=100" doc:"samples in the mean of the position before its difference"`
	Delay int     `yaml:"delay" want:">=0 <=100" doc:"samples by which the velocity is late"`
}

// SetDefaults says what a controller starts from.
func (c *IdentifyController) SetDefaults() { c.Mean = 1 }

// Variant is a model of a comparison. What is left out is as in the file.
type Variant struct {
	Name       string         `yaml:"name" doc:"for people"`
	Law        string         `yaml:"law,omitempty" doc:"a friction law"`
	Asymmetric *bool          `yaml:"asymmetric,omitempty" doc:"as model.asymmetric"`
	Lag        linear.LagMode `yaml:"lag,omitempty" doc:"as model.lag"`
	Terms      []linear.Term  `yaml:"terms,omitempty" doc:"as terms, for regress"`
	Method     identify.Chain `yaml:"method,omitempty" doc:"as method"`
}

// IdentifyParams are what the file says about parameters, in its order.
type IdentifyParams []IdentifyParam

// IdentifyParam is one of them, in SI. A number alone in the file is known: Fixed, with Start.
type IdentifyParam struct {
	identify.Given
	path string
}

// paramKeys are the keys of a parameter that is searched; # stands for its unit.
type paramKeys struct {
	Start     *float64 `yaml:"start" unit:"#"`
	Lo        *float64 `yaml:"min" unit:"#"`
	Hi        *float64 `yaml:"max" unit:"#"`
	IsFixed   *bool    `yaml:"fixed"`
	Log       *bool    `yaml:"log"`
	IsAssumed *bool    `yaml:"assumed"`
	Err       *float64 `yaml:"error" unit:"#" want:">=0"`
	Prior     *float64 `yaml:"prior" unit:"#" want:">0"`
}

// DecodeNode reads name: number, or name: {start, min, max, fixed, log, assumed, error, prior}.
func (ps *IdentifyParams) DecodeNode(w *schema.Walker, path string, e schema.Entry, _ schema.Field) {
	m := w.Section(path, "names with numbers", e)
	if m == nil {
		return
	}
	for _, k := range w.Entries(path, m, 0) {
		key := schema.Join(path, k.Key)
		w.Mark(key, k.Place())
		v := w.Resolve(key, k.Value, 0)
		if v == nil {
			continue
		}
		var p paramKeys
		inner, outer, unit := w.Mapping(v), w.Units(), "param:"+k.Key
		if inner != nil {
			restore := w.WithUnits(func(tag string) string {
				if tag == "#" {
					tag = unit
				}
				return outer(tag)
			})
			w.Structure(key, inner, reflect.ValueOf(&p).Elem())
			restore()
		} else if s, ok := w.Scalar(key, "a number, with or without unit", k.Place(), v); !ok {
			continue
		} else if x, ok := w.Number(key, k.Place(), s, schema.Field{Unit: unit}, reflect.Value{}); ok {
			yes := true
			p.Start, p.IsFixed = &x, &yes
		} else {
			continue
		}
		*ps = append(*ps, IdentifyParam{identify.Given{Name: k.Key, Start: p.Start, Lo: p.Lo, Hi: p.Hi, Fixed: p.IsFixed, Log: p.Log,
			Assumed: p.IsAssumed != nil && *p.IsAssumed, Err: p.Err, Prior: p.Prior}, key})
	}
}

// EmitNode writes what DecodeNode reads, behind the key.
func (ps *IdentifyParams) EmitNode(e *schema.Emitter, indent int) {
	if len(*ps) == 0 {
		e.WriteString(" {}\n")
		return
	}
	e.WriteByte('\n')
	for _, p := range *ps {
		var parts []string
		for _, k := range []struct {
			key    string
			number *float64
		}{{"start", p.Start}, {"min", p.Lo}, {"max", p.Hi}, {"error", p.Err}, {"prior", p.Prior}} {
			if k.number != nil {
				parts = append(parts, k.key+": "+strconv.FormatFloat(*k.number, 'g', -1, 64))
			}
		}
		for _, k := range []struct {
			key  string
			flag *bool
		}{{"fixed", p.Fixed}, {"log", p.Log}, {"assumed", assumed(p.Assumed)}} {
			if k.flag != nil {
				parts = append(parts, fmt.Sprintf("%s: %t", k.key, *k.flag))
			}
		}
		e.WriteString(strings.Repeat(" ", indent+2) + schema.QuoteYAML(p.Name) + ": {" + strings.Join(parts,
			", ") + "}" + e.TrailingComment("parameters."+p.Name, "") + "\n")
	}
}

// assumed is a word that is left out where it does not hold.
func assumed(is bool) *bool {
	if !is {
		return nil
	}
	return &is
}

// Shape describes parameters to editors.
func (ps *IdentifyParams) Shape() *schema.Object {
	number := schema.AnyOf(schema.Typed("number"), schema.Typed("string"))
	props := new(schema.Object).Set("start", number).Set("min", number).Set("max", number).Set("fixed", schema.Typed("boolean")).Set("log",
		schema.Typed("boolean")).Set("assumed", schema.Typed("boolean")).Set("error", number).Set("prior", number)
	entry := schema.Typed("object").Set("properties", props).Set("additionalProperties", false)
	return schema.Typed("object").Set("additionalProperties", schema.AnyOf(schema.Typed("number"), schema.Typed("string"), entry))
}

// modelParam is the name and SI unit, on a linear axis, of what a model may have besides the parameters of its law.
type modelParam struct{ name, unit string }

var modelParams = []modelParam{
	{"M", "kg"}, {"J", "kg"}, {"Fv", "N·s/m"}, {"offset", "N"}, {"k", "N/m"}, {"kd", "N/m"}, {"mgs", "N"}, {"mgc", "N"}, {"lag", "s"},
	{"x0", "m"}, {"v0", "m/s"},
	{"f0", ""}, {"zeta", ""}, {"dFs", "N"},
}

// UnitTags gives parameters their unit by law and axis; every other tag is what it says.
func (c *Identify) UnitTags(word func(path ...string) string) func(string) string {
	rotary, law := word("axis") == "rotary", word("model", "law")
	compared := map[string]string{"velocity": "m/s", "command": "N"}[word("model", "output")]
	return func(tag string) string {
		if tag == "residual" {
			if tag = compared; tag == "" {
				tag = "m"
			}
		}
		name, isParam := strings.CutPrefix(tag, "param:")
		if !isParam {
			if rotary && (tag == "N" || tag == "m" || tag == "m/s" || tag == "N/m") {
				return engine.RotaryUnit(tag)
			}
			return tag
		}
		u, _ := c.paramUnit(name, law)
		if rotary {
			u = rotaryTag(u)
		}
		if unit, _, _ := strings.Cut(u, "|"); schema.UnitField(unit).Unit == "" {
			return ""
		}
		return u
	}
}

// paramUnit is the unit of a parameter on a linear axis, and whether law or model know it. An ending (+, -, [3]) tells
// direction or piece.
func (c *Identify) paramUnit(name, law string) (unit string, known bool) {
	base, _, _ := strings.Cut(name, "[")
	base = strings.TrimRight(base, "+-")
	laws := []string{law, "stribeck-bo-pavelescu", "lugre"} // static and kalman have laws of their own
	for _, n := range append(laws, listOf(c.Compare, func(v Variant) string { return v.Law })...) {
		info, ok := friction.Find(n)
		if !ok {
			continue
		}
		for _, p := range info.NewLaw().Params() {
			if p.Name == base {
				return p.Unit, true
			}
		}
	}
	for _, p := range modelParams {
		if p.name == base {
			return p.unit, true
		}
	}
	for _, i := range friction.Laws() {
		for _, p := range i.NewLaw().Params() {
			if p.Name == base {
				return p.Unit, false
			}
		}
	}
	return "", false
}

// ParameterUnit is the unit of a parameter on the axis of the file.
func (c *Identify) ParameterUnit(name string) string {
	u, _ := c.paramUnit(name, c.Model.Law)
	return c.Unit(u)
}

// Text is what is said about a parameter, in SI.
func (p *IdentifyParam) Text(unit string) string {
	num := func(x *float64, none string) string {
		if x == nil {
			return none
		}
		return schema.Short(*x)
	}
	unit = schema.UnitSuffix(unit)
	switch {
	case p.Assumed:
		return fmt.Sprintf("%s = %s%s, assumed", p.Name, num(p.Start, "?"), unit)
	case p.Err != nil:
		return fmt.Sprintf("%s = %s ± %s%s, known", p.Name, num(p.Start, "?"), schema.Short(*p.Err), unit)
	case p.Fixed != nil && *p.Fixed:
		return fmt.Sprintf("%s = %s%s, known", p.Name, num(p.Start, "?"), unit)
	}
	text := p.Name + " searched"
	switch {
	case p.Prior != nil:
		text += fmt.Sprintf(", %s ± %s%s before the record", num(p.Start, "?"), schema.Short(*p.Prior), unit)
	case p.Start != nil:
		text += " from " + schema.Short(*p.Start) + unit
	}
	if p.Lo != nil || p.Hi != nil {
		text += fmt.Sprintf(", between %s and %s%s", num(p.Lo, "what the record says"), num(p.Hi, "what the record says"), unit)
	}
	return text
}

// Files are the records that the file names.
func (c *Identify) Files() []string { return listOf(c.files(), behind) }

// checkModel reports what is wrong with the model, as far as it can be said without the record.
func (c *Identify) checkModel(r *schema.Report) {
	m := &c.Model
	law := func(path, name string) {
		_, ok := friction.Find(name)
		r.FirstErrorIf(!ok && name != "", path, "there is no friction law %q%s; hil laws lists them", name, spelling.DidYouMean(name, LawNames()))
	}
	law("model.law", m.Law)
	for i, v := range c.Compare {
		law(fmt.Sprintf("compare[%d].law", i), v.Law)
	}
	if c.simulates() {
		servo := m.Drive == axis.Servo
		switch {
		case servo && m.Controller == nil && !r.HasProblem("model.controller"):
			r.KeyErrorf("model.controller", "is missing: a servo needs its kp and kv")
		case !servo && m.Output == axis.Command && !r.HasProblem("model.output"):
			r.KeyErrorf("model.output", "a command is compared in closed loop only, with drive: servo")
		}
		if servo && m.Controller != nil {
			_, _, err := c.ControllerGains()
			r.ErrorIf(err != nil, "model.controller", "%v", err)
		}
		r.FirstErrorIf((servo || m.Drive == axis.Spring) && c.Data.Columns.Reference.Name == "", "data.columns.reference",
			"is missing: drive: %s needs it", m.Drive)
	}
	for _, p := range c.Parameters {
		c.checkParam(r, p)
	}
	if h := c.LM.Horizon; len(h) > 0 {
		for i, x := range h {
			if !(x > 0 && x <= 1) || i > 0 && x <= h[i-1] {
				r.KeyErrorf("lm.horizon", "want shares of the record that rise to 1, got %v", h)
				break
			}
		}
	}
	r.ErrorIf(c.Data.TailDuration != 0 && c.Data.Span != [2]float64{}, "data.last",
		"data.span says already which part of the record is meant; leave one of them out")
	for _, s := range []struct {
		path string
		v    [2]float64
	}{{"data.span", c.Data.Span}, {"data.rows", c.Data.Rows}} {
		r.ErrorIf(!(s.v[0] >= 0) || s.v[1] != 0 && !(s.v[1] > s.v[0]), s.path,
			"from %g to %g, want a beginning ≥ 0 and an end behind it, or 0 for that of the record", s.v[0], s.v[1])
	}
}

// simulates tells whether a method runs the model.
func (c *Identify) simulates() bool {
	return c.Method.ContainsFunc(func(m *identify.MethodInfo) bool { return m.Simulates })
}

func (c *Identify) checkParam(r *schema.Report, p IdentifyParam) {
	unit, known := c.paramUnit(p.Name, c.Model.Law)
	if !known {
		names := listOf(modelParams, func(q modelParam) string { return q.name })
		if info, ok := friction.Find(c.Model.Law); ok {
			names = append(names, paramNames(info.NewLaw())...)
		}
		r.KeyErrorf(p.path, "no model of this file has a parameter %s (%s)", p.Name,
			spelling.Hint(p.Name, names, "known here: "+strings.Join(names, ", ")))
		return
	}
	if need := c.unmetNeed(p.Name); need != "" {
		r.KeyErrorf(p.path, "the model of this file has no %s: %s, or leave the parameter out", p.Name, need)
		return
	}
	get := func(x *float64, none float64) float64 {
		if x == nil {
			return none
		}
		return *x
	}
	lo, hi := get(p.Lo, math.Inf(-1)), get(p.Hi, math.Inf(1))
	fixed := p.Fixed != nil && *p.Fixed || p.Assumed || p.Err != nil
	switch {
	case p.Assumed && p.Err != nil:
		r.KeyErrorf(p.path, "assumed, and known with an error: leave one of them out")
	case p.Err != nil && (p.Lo != nil || p.Hi != nil):
		r.KeyErrorf(p.path, "known with an error, and searched between bounds: leave one of them out")
	case p.Prior != nil && fixed:
		r.KeyErrorf(p.path,
			"a prior is of a parameter that is searched, and this one is not: leave one of them out, or give error in place of prior")
	case p.Prior != nil && !(*p.Prior > 0):
		r.KeyErrorf(p.path, "prior %g, want a standard uncertainty above zero; a value that is exact is given as a number alone", *p.Prior)
	case p.Prior != nil && p.Start == nil:
		r.KeyErrorf(p.path, "a prior, but of what value? Give start")
	case lo >= hi:
		r.KeyErrorf(p.path, "min %g is not below max %g %s", lo, hi, unit)
	case p.Start != nil && !fixed && (*p.Start < lo || *p.Start > hi):
		r.KeyErrorf(p.path, "the start %g is outside the bounds %g to %g %s: move the start or widen the bounds", *p.Start, lo, hi, unit)
	case (p.Name == "M" || p.Name == "J") && p.Start != nil && *p.Start <= 0:
		r.KeyErrorf(p.path, "%g, an inertia is above zero", *p.Start)
	case fixed && p.Start == nil:
		r.KeyErrorf(p.path, "fixed, but at what? Give start, or the number alone")
	}
}

// loadOf are the terms of a simulated model by the parameter that each brings.
var loadOf = map[string]string{"mgs": "gravity-sin", "mgc": "gravity-cos", "k": "stiffness"}

// unmetNeed says what a parameter needs that the model of the file, simulated by all of its methods, has not; "": nothing.
func (c *Identify) unmetNeed(name string) string {
	all := !c.Method.ContainsFunc(func(m *identify.MethodInfo) bool { return !m.Simulates })
	term, load := loadOf[name]
	switch {
	case !all || len(c.Compare) > 0:
		return ""
	case load && !slices.Contains(c.Model.Terms, term):
		return "add " + term + " to model.terms"
	case name == "kd" && c.Model.Drive != axis.Spring:
		return "it belongs to drive: spring"
	}
	return ""
}

// ControllerGains are the velocity gain (N·s/m or N·m·s/rad) and the limit (N or N·m; 0: none) of the controller, with the
// gain of the force column in them.
func (c *Identify) ControllerGains() (kv, limit float64, err error) {
	kc := c.Model.Controller
	force := c.Data.Columns.Force
	in := func(what, value, want string) (float64, error) {
		if _, _, err := schema.SplitNumber(value); err != nil {
			return 0, fmt.Errorf("%s: %w", what, err)
		}
		x, err := scaled(value, force.Gain, want)
		if err != nil {
			return 0, fmt.Errorf("%s: %s times the gain of the force column: %w", what, value, err)
		}
		return x, nil
	}
	if kc.Kv == "" {
		return 0, 0, fmt.Errorf("kv is missing: the velocity gain with its unit")
	}
	if kv, err = in("kv", kc.Kv, c.Unit("N·s/m")); err != nil {
		return 0, 0, err
	}
	if kc.Limit != "" {
		if limit, err = in("limit", kc.Limit, c.Unit("N")); err != nil {
			return 0, 0, err
		}
	}
	return kv, math.Abs(limit), nil
}
