package sink

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// infoName is the metadata record that describes the run.
const infoName = "hil.info"

// recordFormat is the format of the files.
const recordFormat = "2"

// schemaJSON is the schema of the rows on file.
type schemaJSON struct {
	Owners   []Owner   `json:"owners"`
	Channels []Channel `json:"channels"`
}

// schemaOf is the schema that a file has, without rig and rate.
func schemaOf(text string) (s hil.Schema, err error) {
	var j schemaJSON
	if err = json.Unmarshal([]byte(text), &j); err != nil {
		return s, err
	}
	for _, o := range j.Owners {
		kind := slices.Index(hil.OwnerKind(0).Words(), o.Kind)
		if kind < 0 {
			return s, fmt.Errorf("owner %q is a %q, which is not known", o.Name, o.Kind)
		}
		s.Owners = append(s.Owners, hil.Owner{Name: o.Name, Kind: hil.OwnerKind(kind), Title: o.Title})
	}
	last := hil.Measured
	for _, c := range j.Channels {
		block := slices.Index(hil.Measured.Words(), c.Block)
		if block < int(last) {
			return s, fmt.Errorf("channel %q stands in block %q behind one of %q", c.Name, c.Block, last)
		}
		last = hil.Block(block)
		role, err := hil.RoleNamed(c.Role)
		if err != nil {
			return s, fmt.Errorf("channel %q: %w", c.Name, err)
		}
		ch := hil.Channel{Signal: engine.Signal{Name: c.Name, Unit: c.Unit}, Owner: c.Owner, Axis: c.Axis, Role: role, Age: c.Age}
		if c.Min != nil && c.Max != nil {
			ch.Range = [2]float64{*c.Min, *c.Max}
		}
		s.SetBlock(last, append(s.Block(last), ch))
	}
	return s, nil
}

// prologue writes what stands before the first chunk: who recorded what with which configuration, schemas and channels.
func prologue(w *mcapWriter, info *hil.Info) {
	s := &info.Schema
	schema, _ := json.Marshal(schemaJSON{Owners(s), Channels(s)}) // strings and finite numbers: cannot fail
	w.metadata(infoName, []kv{
		{"format", recordFormat},
		{"run", info.Run},
		{"version", info.Version},
		{"config_hash", info.ConfigHash},
		{"rig", s.Rig},
		{"rate_hz", strconv.FormatFloat(s.Rate, 'g', -1, 64)},
		{"start", info.Start.UTC().Format(time.RFC3339Nano)},
		{"mono_ns", strconv.FormatInt(info.Mono, 10)},
		{"dry_run", strconv.FormatBool(info.DryRun)},
		{"note", info.Note},
		{"schema", string(schema)},
	})
	w.attachment(uint64(max(0, info.Start.UnixNano())), runConfig, "application/yaml", info.Config)
	add := func(id uint16, name string, schema []byte) {
		w.channel(mcapChannel{id: id, schema: id, topic: runTopics[id], encoding: "json"},
			mcapSchema{id: id, name: name, encoding: "jsonschema", data: schema})
	}
	add(chRows, "hil.Row", rowSchema(s))
	add(chEvents, "hil.Event", objectSchema("hil.Event", []property{
		{"timestamp", "number", "s", "seconds since 1970"},
		{"seq", "integer", "", "tick at which it happened, 0 if none"},
		{"level", "string", "", "info, warn or error"},
		{"code", "string", "", "documented in docs/reference/errors.md"},
		{"text", "string", "", ""},
	}))
	add(chParams, "hil.Params", objectSchema("hil.Params", []property{
		{"timestamp", "number", "s", "seconds since 1970"},
		{"t", "number", "s", "when the block came into force, loop's clock"},
		{"gen", "integer", "", "generation, as in the rows"},
		{"names", "array", "", "names in the order of the block"},
		{"values", "object", "", "name to value in SI; null is explained by nonfinite"},
	}))
	add(chClock, "hil.Clock", objectSchema("hil.Clock", []property{
		{"timestamp", "number", "s", "wall clock, seconds since 1970"},
		{"t", "number", "s", "the loop's clock at the same moment"},
		{"width_us", "number", "us", "the two readings are this close"},
		{"drift_us", "number", "us", "wall clock minus what start and t make of it: steps and drift since the start"},
	}))
}

// property is one entry of a JSON Schema. Types stay single words, since viewers do not take unions; a signal may be null
// all the same.
type property struct{ name, kind, unit, doc string }

func rowSchema(s *hil.Schema) []byte {
	var ps []property
	for _, f := range rowFields {
		ps = append(ps, property{f.name, f.kind, f.unit, f.doc})
	}
	for b := hil.Measured; b <= hil.Commanded; b++ {
		for _, c := range s.Block(b) {
			ps = append(ps, property{c.Name, "number", c.Unit, b.String()})
		}
	}
	return objectSchema("hil.Row", ps)
}

// objectSchema keeps the order of the properties, which a map would lose.
func objectSchema(title string, ps []property) []byte {
	b := []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":` + quote(title) + `,"type":"object","properties":{`)
	for i, p := range ps {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `%s:{"type":%q`, quote(p.name), p.kind)
		switch p.kind { // viewers want to be told
		case "array":
			b = append(b, `,"items":{"type":"string"}`...)
		case "object":
			b = append(b, `,"properties":{}`...)
		}
		if p.unit != "" {
			b = fmt.Appendf(b, `,"unit":%s`, quote(p.unit))
		}
		doc := p.doc
		if p.unit != "" && doc != "" {
			doc = p.unit + ", " + doc
		} else if doc == "" {
			doc = p.unit
		}
		b = fmt.Appendf(b, `,"description":%s}`, quote(doc))
	}
	return append(b, "}}"...)
}

// eventJSON is an event on file.
type eventJSON struct {
	Timestamp json.Number `json:"timestamp"` // s since 1970; with nine digits in recordings
	Seq       uint64      `json:"seq"`
	Level     string      `json:"level"`
	Code      string      `json:"code"`
	Text      string      `json:"text"`
}

// encodeEvent writes an event; timestamp is its time in s since 1970, with as many digits as are wanted.
func encodeEvent(e hil.Event, timestamp []byte) []byte {
	b, _ := json.Marshal(eventJSON{json.Number(timestamp), e.Seq, e.Level, e.Code, e.Text})
	return b
}

// paramsJSON is a parameter block on file. Entries of V without a name are kept as "#17" unless they are zero.
type paramsJSON struct {
	Timestamp json.Number          `json:"timestamp"`
	T         json.Number          `json:"t"`
	Gen       uint32               `json:"gen"`
	Names     []string             `json:"names"`
	Values    map[string]*float64  `json:"values"`
	Models    map[string]*axis.Set `json:"models,omitempty"` // adopted, by the number of the axis, from 0
	Nonfinite map[string]string    `json:"nonfinite,omitempty"`
}

func encodeParams(p hil.Params, names []string, t, wall int64) []byte {
	j := paramsJSON{Timestamp: seconds(t + wall), T: seconds(t), Gen: p.Gen, Names: append([]string{},
		names[:min(len(names), hil.MaxParams)]...), Values: map[string]*float64{}, Models: map[string]*axis.Set{}, Nonfinite: map[string]string{}}
	for i, x := range p.V {
		name := "#" + strconv.Itoa(i)
		if i < len(names) {
			name = names[i]
		} else if math.Float64bits(x) == 0 {
			continue
		}
		if j.Values[name] = numeric.OrNull(x); j.Values[name] == nil {
			j.Nonfinite[name] = string(appendKind(nil, x))
		}
	}
	for i := range p.Sets { // models that took the place of those of the file
		if set := p.Sets[i].Set(); set != nil {
			j.Models[strconv.Itoa(i)] = set
		}
	}
	b, _ := json.Marshal(j) // finite numbers, texts and JSON: cannot fail
	return b
}

// ParamsAt is a parameter block and when it came into force.
type ParamsAt struct {
	T     int64 // ns  the loop's clock
	Names []string
	hil.Params
}

func decodeParams(data []byte) (p ParamsAt, err error) {
	var j paramsJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return p, err
	}
	var ok bool
	if p.T, ok = parseDecimal([]byte(j.T), 9); !ok {
		return p, fmt.Errorf("params: t %q is not a time", j.T)
	}
	p.Gen, p.Names = j.Gen, j.Names
	for name, v := range j.Values {
		i := indexOfParam(name, p.Names)
		if i < 0 {
			return p, fmt.Errorf("params: value %q has no place in the block", name)
		}
		if v != nil {
			p.V[i] = *v
		} else if p.V[i], ok = parseKind([]byte(j.Nonfinite[name])); !ok {
			p.V[i] = math.NaN()
		}
	}
	for key, set := range j.Models {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= hil.MaxAxes {
			return p, fmt.Errorf("params: the model of axis %q has no place in the block", key)
		}
		if err := p.Sets[i].Encode(set); err != nil {
			return p, fmt.Errorf("params: the model of axis %q: %w", key, err)
		}
	}
	return p, nil
}

func indexOfParam(name string, names []string) int {
	for i, n := range names {
		if n == name && i < hil.MaxParams {
			return i
		}
	}
	if len(name) > 1 && name[0] == '#' {
		if i, err := strconv.Atoi(name[1:]); err == nil && i >= 0 && i < hil.MaxParams {
			return i
		}
	}
	return -1
}

// appendClock writes the wall clock and the loop's clock at one moment, how close the two readings are, and the drift since the start, all
// in ns.
func appendClock(b []byte, wall, t, width, drift int64) []byte {
	b = appendDecimal(append(b, `{"timestamp":`...), wall, 9)
	b = appendDecimal(append(b, `,"t":`...), t, 9)
	b = appendDecimal(append(b, `,"width_us":`...), width, 3)
	b = appendDecimal(append(b, `,"drift_us":`...), drift, 3)
	return append(b, '}')
}

// seconds writes ns as decimal seconds with nine digits: exact, and no integer above 2^53.
func seconds(ns int64) json.Number { return json.Number(appendDecimal(nil, ns, 9)) }
