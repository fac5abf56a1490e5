package sink

import (
	"encoding/json"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
)

// Channel describes one signal of the rows, in `meta`. Units live here once and in no other topic.
type Channel struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`  // SI, or a display unit the configuration names; "" for a pure number
	Block string   `json:"block"` // meas, est, model or cmd
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
}

// Meta is the payload of the retained topic `meta`: all that a consumer must know once to read the live topics.
type Meta struct {
	Rig        string            `json:"rig"`
	Version    string            `json:"version"`
	ConfigHash string            `json:"config_hash"`
	Rate       float64           `json:"rate"`  // Hz  rows per second
	Start      float64           `json:"start"` // s since 1970
	DryRun     bool              `json:"dry_run"`
	Note       string            `json:"note,omitempty"`
	Commands   string            `json:"commands"` // none, stop or all
	Channels   []Channel         `json:"channels"`
	Topics     map[string]string `json:"topics"` // full topic → what it carries
	Samples    struct {
		Content string  `json:"content"` // "json"
		Batch   float64 `json:"batch"`   // s  samples in one message, as a time
	} `json:"samples"`
}

// topicContent says in one sentence what each topic carries.
var topicContent = [...][2]string{
	{"status", "text: online or offline; retained, last will"},
	{"meta", "this object; retained"},
	{"state", "newest row, one flat object"},
	{"samples", "array of objects, one per row, every row"},
	{"estimate", "running estimates with standard errors (_se), one flat object; retained"},
	{"estimate/report", "array of {name, unit, value, se, ci95}; retained"},
	{"health", "timing and losses, once a second"},
	{"event", "{timestamp, seq, level, code, text}"},
	{"cmd/+", "commands {id, expires, set}"},
	{"cmd/+/ack", "answers {id, ok, error}"},
}

// Channels lists the signals of a schema with their block and, where known, their range.
func Channels(s *hil.Schema, ranges map[string][2]float64) []Channel {
	var out []Channel
	for _, block := range []struct {
		name    string
		signals []engine.Signal
	}{{"meas", s.Meas}, {"est", s.Est}, {"model", s.Model}, {"cmd", s.Cmd}} {
		for _, sig := range block.signals {
			c := Channel{Name: sig.Name, Unit: sig.Unit, Block: block.name}
			if r, ok := ranges[sig.Name]; ok {
				c.Min, c.Max = numeric.OrNull(r[0]), numeric.OrNull(r[1])
			}
			out = append(out, c)
		}
	}
	return out
}

func metaJSON(o *PublisherOptions, root string) ([]byte, error) {
	in := o.Info
	m := Meta{
		Rig: in.Schema.Rig, Version: in.Version, ConfigHash: in.ConfigHash, Rate: in.Schema.Rate,
		Start: float64(in.Start.UnixMicro()) * 1e-6, DryRun: in.DryRun, Note: in.Note, Commands: o.Commands,
		Channels: Channels(&in.Schema, o.Ranges), Topics: make(map[string]string),
	}
	m.Samples.Content, m.Samples.Batch = "json", o.Batch
	for _, t := range topicContent {
		m.Topics[root+t[0]] = t[1]
	}
	return json.Marshal(m)
}

// estimates knows where in a row the running estimates are: the signals of the est block called rls.<name>, with the
// standard error of <name> in rls.<name>_se.
type estimates struct {
	at     []int    // place in Row.X
	keys   [][]byte // `,"J":`
	report []reported
}

type reported struct {
	name, unit string
	value, se  int // place in Row.X
}

const estimatePrefix = "rls."

// z95 is the 97.5 % point of the normal distribution, for two-sided 95 % intervals.
const z95 = 1.959963984540054

func newEstimates(s *hil.Schema) estimates {
	var e estimates
	first := len(s.Meas)
	place := make(map[string]int)
	for i, sig := range s.Est {
		if name, ok := strings.CutPrefix(sig.Name, estimatePrefix); ok {
			place[name] = first + i
			e.at = append(e.at, first+i)
			e.keys = append(e.keys, []byte(","+quote(name)+":"))
		}
	}
	for _, sig := range s.Est {
		name := strings.TrimPrefix(sig.Name, estimatePrefix)
		at, known := place[name]
		se, paired := place[name+"_se"]
		if known && paired {
			e.report = append(e.report, reported{name, sig.Unit, at, se})
		}
	}
	return e
}

// flat appends {"timestamp":…,"J":…,"J_se":…,…,"excited":true}.
func (e *estimates) flat(b []byte, enc *encoder, r *hil.Row) []byte {
	b = append(b, `{"timestamp":`...)
	b = appendSeconds(b, enc.zero+r.T)
	for i, at := range e.at {
		b = append(b, e.keys[i]...)
		b = appendNumber(b, r.X[at])
	}
	if r.Flags&hil.FlagUnexcited != 0 {
		return append(b, `,"excited":false}`...)
	}
	return append(b, `,"excited":true}`...)
}

// full is the array of estimate/report: value, standard error and 95 % interval with the unit beside them.
func (e *estimates) full(r *hil.Row) ([]byte, error) {
	type entry struct {
		Name  string      `json:"name"`
		Unit  string      `json:"unit"`
		Value *float64    `json:"value"`
		SE    *float64    `json:"se"`
		CI95  [2]*float64 `json:"ci95"`
	}
	out := make([]entry, 0, len(e.report))
	for _, p := range e.report {
		v, se := r.X[p.value], r.X[p.se]
		out = append(out, entry{p.name, p.unit, numeric.OrNull(v), numeric.OrNull(se), [2]*float64{numeric.OrNull(v - z95*se), numeric.OrNull(v + z95*se)}})
	}
	return json.Marshal(out)
}
