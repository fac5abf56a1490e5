package identify

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/spelling"
	"hilrig/identify/record"
)

// plainName is what a column holds, and the names that say so, in small letters.
type plainName struct {
	key   string
	names []string
}

var plainNames = []plainName{
	{"time", []string{"time", "t", "timestamp", "seconds"}},
	{"position", []string{"position", "pos", "x", "q", "angle", "theta", "phi"}},
	{"velocity", []string{"velocity", "vel", "v", "qd", "dq", "omega", "speed"}},
	{"force", []string{"force", "torque", "tau", "effort", "f"}},
	{"current", []string{"current", "i"}},
}

// chosen is a column of the flag --columns: key=name[:unit[:gain]], where the name may hold colons itself.
type chosen struct{ key, rest string }

// parseColumns reads --columns as far as it can be read without the file.
func parseColumns(list []string) (out []chosen, err error) {
	keys := slices.Sorted(maps.Keys(columnsIn(&configs.IdentifyColumns{})))
	for _, text := range list {
		key, rest, ok := strings.Cut(text, "=")
		if key, rest = strings.TrimSpace(key), strings.TrimSpace(rest); !ok || key == "" || rest == "" {
			return nil, fmt.Errorf("--columns: %s: want what=column[:unit[:gain]], such as position=angle:deg or force=i:A:0.042 N·m/A",
				schema.Quote(text))
		}
		if key == "torque" {
			key = "force"
		}
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("--columns: a record has no %s (%s)", schema.Quote(key),
				spelling.Hint(key, keys, "it may have "+strings.Join(keys, ", ")))
		}
		if slices.ContainsFunc(out, func(c chosen) bool { return c.key == key }) {
			return nil, fmt.Errorf("--columns: the %s is given twice", key)
		}
		out = append(out, chosen{key, rest})
	}
	return out, nil
}

// headed is the head of a file in which columns are looked for.
type headed struct{ record.Head }

// index is the place of a column; −1: there is none.
func (h *headed) index(name string) int { return slices.Index(h.Names, name) }

// column is what was chosen, with the unit of the head where none is given.
func (h *headed) column(c chosen) (configs.IdentifyColumn, error) {
	parts := strings.Split(c.rest, ":")
	at := 1 // the parts that are the name
	for at < len(parts) && strings.Count(strings.Join(parts[:at], ":"), "(") > strings.Count(strings.Join(parts[:at], ":"), ")") {
		at++ // X(:,2) of a MAT file
	}
	for k := len(parts); k > 1; k-- {
		if h.index(strings.TrimSpace(strings.Join(parts[:k], ":"))) >= 0 {
			at = k
			break
		}
	}
	col := configs.IdentifyColumn{Name: strings.TrimSpace(strings.Join(parts[:at], ":"))}
	more := append(parts[at:], "", "")
	if len(parts)-at > 2 {
		return col, fmt.Errorf("--columns: %s=%s: want at most a unit and a gain behind the column", c.key, c.rest)
	}
	if h.Names != nil && h.index(col.Name) < 0 {
		return col, fmt.Errorf("no column %q (%s)", col.Name, spelling.Hint(col.Name, h.Names, h.have()))
	}
	col.Unit, col.Gain = cmp.Or(strings.TrimSpace(more[0]), h.unit(col.Name)), strings.TrimSpace(more[1])
	return col, nil
}

// have says which columns there are.
func (h *headed) have() string {
	if h.Names == nil {
		return "in a MAT file x, s.x or X[2]"
	}
	return "columns here: " + strings.Join(h.Names, ", ")
}

// unit is what the head says of a column; "": nothing.
func (h *headed) unit(name string) string {
	i := h.index(name)
	if i < 0 {
		return ""
	}
	_, own := wordAndUnit(name)
	return cmp.Or(h.Units[i], own)
}

// wordAndUnit takes a name such as position_mm apart, of a plain word and a unit; what is none stays whole.
func wordAndUnit(name string) (word, unit string) {
	if i := strings.LastIndexByte(name, '_'); i >= 3 && slices.ContainsFunc(plainNames,
		func(p plainName) bool { return slices.Contains(p.names, strings.ToLower(name[:i])) }) {
		if _, err := schema.ParseUnit(name[i+1:]); err == nil {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// guess is the column whose name, or its last word behind a point, says that it holds a thing; "": none does.
func (h *headed) guess(key string, names []string) (string, error) {
	for _, word := range []func(name string) string{
		func(name string) string { word, _ := wordAndUnit(name); return word },
		func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] },
	} {
		var found []string
		for _, name := range h.Names {
			if slices.Contains(names, strings.ToLower(word(name))) {
				found = append(found, name)
			}
		}
		if len(found) > 1 {
			return "", fmt.Errorf("%s could each be the %s; say which: --columns %s=%s", strings.Join(found, " and "), key, key, found[0])
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	return "", nil
}

// columnsIn gives the places of the columns of a file by key.
func columnsIn(c *configs.IdentifyColumns) map[string]*configs.IdentifyColumn {
	return map[string]*configs.IdentifyColumn{"time": &c.Time, "position": &c.Position, "velocity": &c.Velocity, "force": &c.Force,
		"reference": &c.Reference, "disturbance": &c.Disturbance, "load": &c.Load, "current": &c.Current}
}

// tablePlan is the identification file of a table under way.
type tablePlan struct {
	headed
	f       *Options
	cfg     *configs.Identify
	to      map[string]*configs.IdentifyColumn // by key
	current string                             // a column of a current; "": none
	assumptions
}

// planColumns is the identification file of a text with columns, or of a MAT file, whose columns are chosen or say by their names what they
// hold. What was taken for granted comes with it.
func (f *Options) planColumns(file string) (*configs.Identify, assumptions, error) {
	head, err := record.ReadHeader(file)
	if err != nil {
		return nil, assumptions{}, err
	}
	p := &tablePlan{headed: headed{head}, f: f, cfg: configs.DefaultIdentify()}
	base := strings.TrimSuffix(filepath.Base(file), ".gz")
	p.cfg.Name, p.cfg.Data.File, p.cfg.Data.Rate = strings.TrimSuffix(base, filepath.Ext(base)), file, f.rate
	p.because("name", "that of the record")
	p.chain(p.cfg, f.chain, f.law)
	p.to = columnsIn(&p.cfg.Data.Columns)
	for _, step := range []func() error{p.choose, p.checkComplete, p.kind, p.model} {
		if err := step(); err != nil {
			return nil, p.assumptions, &record.Error{File: file, Msg: err.Error()}
		}
	}
	return p.cfg, p.assumptions, nil
}

// choose says which column is what.
func (p *tablePlan) choose() (err error) {
	for _, c := range p.f.columns {
		if *p.to[c.key], err = p.column(c); err != nil {
			return err
		}
	}
	needs := p.cfg.Needs()
	for _, n := range plainNames {
		needed := slices.Contains(needs, n.key) || n.key == "time" && p.f.rate == 0 || n.key == "current" && p.to["force"].Name == ""
		extra := n.key == "velocity" && p.f.columns == nil // is checked against the position
		if p.to[n.key].Name != "" || !needed && !extra {
			continue
		}
		name, err := p.guess(n.key, n.names)
		switch {
		case err != nil && needed:
			return err
		case name == "":
		case n.key == "current":
			p.current = name
		case !needed && p.unit(name) == "":
			p.add("not used", "%s: a velocity without a unit", name)
		default:
			*p.to[n.key] = configs.IdentifyColumn{Name: name, Unit: p.unit(name)}
			p.because("data.columns."+n.key+".name", "its name says so")
		}
	}
	if t := p.to["time"]; t.Name != "" && t.Unit == "" {
		t.Unit = "s"
		p.because("data.columns.time.unit", "no unit is stated")
	}
	if comma := decimalComma(p.FirstRow); comma != "" {
		p.cfg.Data.Decimal = "comma"
		p.because("data.decimal", "such as %s in the first row", comma)
	}
	return nil
}

// motion are the columns whose units tell the kind of an axis, with their unit on a linear one and one to show.
var motion = []struct{ key, linear, such string }{{"position", "m", "mm"}, {"velocity", "m/s", "mm/s"}, {"force", "N", "N"}}

// checkComplete tells what is missing.
func (p *tablePlan) checkComplete() error {
	if p.to["time"].Name == "" && p.f.rate == 0 {
		return fmt.Errorf("no time: name its column with --columns time=NAME:s, or give --rate (%s)", p.have())
	}
	for _, key := range p.cfg.Needs() {
		switch col := p.to[key]; {
		case col == nil:
			return fmt.Errorf("method %s needs a %s, which --columns cannot name: write a file, docs/reference/identify.md", p.cfg.Method, key)
		case col.Name == "" && key == "force" && p.current != "":
			return fmt.Errorf("no column of the force; %s is a current: give the constant of the motor with it, --columns "+
				"force=%[1]s:%[2]s:0.042 N·m/A", p.current, cmp.Or(p.unit(p.current), "A"))
		case col.Name == "":
			return fmt.Errorf("no column of the %s, which method %s needs: name it with --columns %[1]s=NAME:UNIT (%[3]s)", key, p.cfg.Method,
				p.have())
		}
	}
	var bare, give []string
	for _, m := range motion {
		if col := p.to[m.key]; col.Name != "" && col.Unit == "" && col.Gain == "" {
			bare, give = append(bare, m.key), append(give, fmt.Sprintf("%s=%s:%s", m.key, col.Name, m.such))
		}
	}
	if bare != nil {
		return fmt.Errorf("no unit of the %s is stated: give it behind the column, such as --columns %s", strings.Join(bare, " and the "),
			strings.Join(give, ","))
	}
	return nil
}

// kind tells by the first unit of motion and force which kind of axis it is, and whether the others go with it.
func (p *tablePlan) kind() error {
	i := slices.IndexFunc(motion, func(m struct{ key, linear, such string }) bool { return p.to[m.key].Name != "" })
	if i < 0 {
		return fmt.Errorf("method %s needs no position, velocity or force, which tell the kind of the axis: write a file, "+
			"docs/reference/identify.md",
			p.cfg.Method)
	}
	col := p.to[motion[i].key]
	_, linear := col.Scale(motion[i].linear)
	p.cfg.Axis = "rotary"
	want := p.cfg.Unit(motion[i].linear)
	if _, rotary := col.Scale(want); linear == nil {
		p.cfg.Axis = "linear"
	} else if rotary != nil {
		return fmt.Errorf("the %s: column %s: %w; or %s on a rotary axis", motion[i].key, col.Name, linear, want)
	}
	why := fmt.Sprintf("the %s is in %s", motion[i].key, cmp.Or(col.Unit, col.Gain))
	p.because("axis", "%s", why)
	p.add("axis", "%s, since %s", p.cfg.Axis, why)
	for _, ch := range p.cfg.Channels(&p.cfg.Data) {
		if ch.Column.Name == "" {
			continue
		}
		if _, _, err := ch.Column.Factors(ch.SI); err != nil {
			return fmt.Errorf("the %s: column %s: %w; the axis is %s, since %s", ch.Key, ch.Column.Name, err, p.cfg.Axis, why)
		}
		text := ch.Column.Name
		if ch.Column.Gain != "" {
			text = ch.Column.Gain + " · " + text
		}
		p.add(ch.Key, "%s", text+schema.UnitSuffix(ch.Column.Unit))
	}
	return nil
}

// model takes the law.
func (p *tablePlan) model() error {
	if p.f.law != "" {
		p.law(p.cfg, p.f.law)
	} else if simulates(p.cfg.Method) {
		return fmt.Errorf("%s simulates a friction law: name it with --law", p.cfg.Method)
	}
	return nil
}

// decimalComma is a cell with a decimal comma; "": there is none.
func decimalComma(cells []string) string {
	i := slices.IndexFunc(cells, func(c string) bool {
		_, plain := strconv.ParseFloat(c, 64)
		_, comma := strconv.ParseFloat(strings.Replace(c, ",", ".", 1), 64)
		return plain != nil && comma == nil
	})
	if i < 0 {
		return ""
	}
	return cells[i]
}
