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
			return nil, fmt.Errorf("--columns: %s: want what=column[:unit[:gain]], such as position=angle:deg or force=i:A:0.042 N·m/A", schema.Quote(text))
		}
		if key == "torque" {
			key = "force"
		}
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("--columns: a record has no %s (%s)", schema.Quote(key), spelling.Hint(key, keys, "it may have "+strings.Join(keys, ", ")))
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
	if i := strings.LastIndexByte(name, '_'); i >= 3 && slices.ContainsFunc(plainNames, func(p plainName) bool { return slices.Contains(p.names, strings.ToLower(name[:i])) }) {
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

// planColumns is the identification file of a text with columns, or of a MAT file, whose columns are chosen or say by their names what they
// hold. What was taken for granted comes with it.
func (f *Options) planColumns(file string) (*configs.Identify, assumptions, error) {
	var assumed assumptions
	head, err := record.ReadHeader(file)
	if err != nil {
		return nil, assumed, err
	}
	h := &headed{head}
	fail := func(format string, args ...any) (*configs.Identify, assumptions, error) {
		return nil, assumed, &record.Error{File: file, Msg: fmt.Sprintf(format, args...)}
	}
	cfg := configs.DefaultIdentify()
	cfg.Name, cfg.Data.File = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), filepath.Ext(strings.TrimSuffix(file, ".gz"))), file
	assumed.because("name", "that of the record")
	assumed.chain(cfg, f.chain, f.law)
	cfg.Data.Rate = f.rate

	// which column is what
	to := columnsIn(&cfg.Data.Columns)
	for _, c := range f.columns {
		if *to[c.key], err = h.column(c); err != nil {
			return fail("%v", err)
		}
	}
	current, needs := "", cfg.Needs()
	for _, p := range plainNames {
		needed := slices.Contains(needs, p.key) || p.key == "time" && f.rate == 0 || p.key == "current" && to["force"].Name == ""
		extra := p.key == "velocity" && f.columns == nil // is checked against the position
		if to[p.key].Name != "" || !needed && !extra {
			continue
		}
		name, err := h.guess(p.key, p.names)
		switch {
		case err != nil && needed:
			return fail("%v", err)
		case name == "":
		case p.key == "current":
			current = name
		case !needed && h.unit(name) == "":
			assumed.say("not used", "%s: a velocity without a unit", name)
		default:
			to[p.key].Name, to[p.key].Unit = name, h.unit(name)
			assumed.because("data.columns."+p.key+".name", "its name says so")
		}
	}
	if t := to["time"]; t.Name != "" && t.Unit == "" {
		t.Unit = "s"
		assumed.because("data.columns.time.unit", "no unit is stated")
	}
	if comma := decimalComma(h.First); comma != "" {
		cfg.Data.Decimal = "comma"
		assumed.because("data.decimal", "such as %s in the first row", comma)
	}

	// what is missing
	if to["time"].Name == "" && f.rate == 0 {
		return fail("no time: name its column with --columns time=NAME:s, or give --rate (%s)", h.have())
	}
	for _, key := range needs {
		switch col := to[key]; {
		case col == nil:
			return fail("method %s needs a %s, which --columns cannot name: write a file, docs/identify.md", cfg.Method, key)
		case col.Name == "" && key == "force" && current != "":
			return fail("no column of the force; %s is a current: give the constant of the motor with it, --columns force=%s:%s:0.042 N·m/A", current, current, cmp.Or(h.unit(current), "A"))
		case col.Name == "":
			return fail("no column of the %s, which method %s needs: name it with --columns %s=NAME:UNIT (%s)", key, cfg.Method, key, h.have())
		}
	}
	var bare, give []string
	for _, key := range []string{"position", "velocity", "force"} {
		if col := to[key]; col.Name != "" && col.Unit == "" && col.Gain == "" {
			bare, give = append(bare, key), append(give, fmt.Sprintf("%s=%s:%s", key, col.Name, map[string]string{"position": "mm", "velocity": "mm/s", "force": "N"}[key]))
		}
	}
	if bare != nil {
		return fail("no unit of the %s is stated: give it behind the column, such as --columns %s", strings.Join(bare, " and the "), strings.Join(give, ","))
	}

	// which kind of axis follows from the units
	for _, key := range []string{"position", "velocity", "force"} {
		col, linear := to[key], map[string]string{"position": "m", "velocity": "m/s", "force": "N"}[key]
		if col.Name == "" {
			continue
		}
		cfg.Axis = "rotary"
		want := cfg.Unit(linear)
		if _, err := col.Scale(linear); err == nil {
			cfg.Axis = "linear"
		} else if _, wrong := col.Scale(want); wrong != nil {
			return fail("the %s: column %s: %v; or %s on a rotary axis", key, col.Name, err, want)
		}
		assumed.because("axis", "the %s is in %s", key, cmp.Or(col.Unit, col.Gain))
		assumed.say("axis", "%s, since %s", cfg.Axis, assumed.why["axis"])
		break
	}
	for _, ch := range cfg.Channels(&cfg.Data) {
		if ch.Column.Name == "" {
			continue
		}
		if _, _, err := ch.Column.Factors(ch.SI); err != nil {
			return fail("the %s: column %s: %v; the axis is %s, since %s", ch.Key, ch.Column.Name, err, cfg.Axis, assumed.why["axis"])
		}
		text := ch.Column.Name
		if ch.Column.Gain != "" {
			text = ch.Column.Gain + " · " + text
		}
		assumed.say(ch.Key, "%s", text+schema.Behind(ch.Column.Unit))
	}
	switch {
	case f.law != "":
		assumed.law(cfg, f.law)
	case simulates(cfg.Method):
		return fail("%s simulates a friction law: name it with --law", cfg.Method)
	}
	return cfg, assumed, nil
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
