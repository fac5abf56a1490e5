package sink

import (
	"encoding/json"

	"hilrig/engine/numeric"
	"hilrig/hil"
)

// Owner is who channels belong to.
type Owner struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // device, axis or model
	Title string `json:"title,omitempty"`
}

// Channel describes one signal of the rows: in `meta`, in recordings and to the page. Units live here once and in no topic.
type Channel struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`  // SI, or a display unit the configuration names; "" for a pure number
	Block string   `json:"block"` // measured, estimated, modelled or command
	Owner string   `json:"owner"`
	Axis  string   `json:"axis,omitempty"` // that has it, or uses the signal of a device
	Role  string   `json:"role"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	Age   string   `json:"age,omitempty"` // measured: the channel with the age of its samples
}

// Meta is the payload of the retained topic `meta`: all that a consumer must know once to read the live topics.
type Meta struct {
	Rig        string            `json:"rig"`
	Run        string            `json:"run"` // id of the run: every batch of samples names it
	Version    string            `json:"version"`
	ConfigHash string            `json:"config_hash"`
	Rate       float64           `json:"rate"`  // Hz  rows per second
	Start      float64           `json:"start"` // s since 1970
	DryRun     bool              `json:"dry_run"`
	Note       string            `json:"note,omitempty"`
	Commands   string            `json:"commands"` // none, stop or all
	Owners     []Owner           `json:"owners"`
	Channels   []Channel         `json:"channels"`
	Topics     map[string]string `json:"topics"` // full topic → what it carries
	Samples    struct {
		Content string  `json:"content"` // "json"
		Batch   float64 `json:"batch"`   // s  samples in one message, as a time
	} `json:"samples"`
}

// topicContent says in one sentence what each topic carries.
var topicContent = [...][2]string{
	{"status", "object: state (online, offline), run, host, pid, id; retained, last will"},
	{"probe", "object like status: a daemon that starts asks who has this name"},
	{"probe/ack", "object like status: the daemon that has it answers"},
	{"meta", "this object; retained"},
	{"params", "object: parameters and models in force; retained"},
	{"state", "newest row, one flat object"},
	{"samples", "array of objects, one per row, every row"},
	{"estimate", "running estimates with standard errors (_se), one flat object; retained"},
	{"estimate/report", "array of {axis, name, unit, value, se, ci95}; retained"},
	{FitStatusTopic, "object: where the identification beside the loop is; retained"},
	{FitResultTopic, "object: its newest result, null before there is one; retained"},
	{"health", "timing and losses, once a second"},
	{"event", "{timestamp, seq, level, code, text}"},
	{"cmd/+", "commands {id, expires, and what belongs to the command}"},
	{"cmd/+/ack", "answers {id, ok, error}"},
}

// Owners lists who the channels of a schema belong to.
func Owners(s *hil.Schema) []Owner {
	out := []Owner{}
	for _, o := range s.Owners {
		out = append(out, Owner{o.Name, o.Kind.String(), o.Title})
	}
	return out
}

// Channels lists the channels of a schema with their block.
func Channels(s *hil.Schema) []Channel {
	out := []Channel{}
	for b := hil.Measured; b <= hil.Commanded; b++ {
		for _, c := range s.Block(b) {
			ch := Channel{Name: c.Name, Unit: c.Unit, Block: b.String(), Owner: c.Owner, Axis: c.Axis, Role: c.Role.String(), Age: c.Age}
			if c.Range[0] < c.Range[1] {
				ch.Min, ch.Max = numeric.OrNull(c.Range[0]), numeric.OrNull(c.Range[1])
			}
			out = append(out, ch)
		}
	}
	return out
}

func metaJSON(o *PublisherOptions, root string) ([]byte, error) {
	in := o.Info
	m := Meta{
		Rig: in.Schema.Rig, Run: in.Run, Version: in.Version, ConfigHash: in.ConfigHash, Rate: in.Schema.Rate,
		Start: float64(in.Start.UnixMicro()) * 1e-6, DryRun: in.DryRun, Note: in.Note, Commands: o.Commands,
		Owners: Owners(&in.Schema), Channels: Channels(&in.Schema), Topics: make(map[string]string),
	}
	m.Samples.Content, m.Samples.Batch = "json", o.Batch
	for _, t := range topicContent {
		m.Topics[root+t[0]] = t[1]
	}
	return json.Marshal(m)
}

// estimates knows where in a row the running estimates are: parameters, their standard errors, how many windows they rest on.
type estimates struct {
	columns []int    // place in Row.X
	keys    [][]byte // `,"shaft.rls.J":`
	report  []reported
}

type reported struct {
	axis, name, unit string
	value, se        int // place in Row.X
}

// z95 is the 97.5 % point of the normal distribution, for two-sided 95 % intervals.
const z95 = 1.959963984540054

func newEstimates(s *hil.Schema) estimates {
	var e estimates
	first := 0
	for block := hil.Measured; block <= hil.Modelled; block++ { // those of axes are estimated, those of models beside the rig modelled
		channels := s.Block(block)
		for i, c := range channels {
			if c.Role == hil.RoleParameter || c.Role == hil.RoleStdErr || c.Role == hil.RoleCount {
				e.columns = append(e.columns, first+i)
				e.keys = append(e.keys, []byte(","+quote(c.Name)+":"))
			}
		}
		first += len(channels)
		at, parameters := s.FindAll(block, hil.RoleParameter)
		errors, _ := s.FindAll(block, hil.RoleStdErr)
		for i, c := range parameters {
			e.report = append(e.report, reported{c.Axis, c.Short(), c.Unit, at[i], errors[i]})
		}
	}
	return e
}

// appendFlat appends {"timestamp":…,"shaft.rls.J":…,"shaft.rls.J_se":…,…,"excited":true}.
func (e *estimates) appendFlat(b []byte, enc *encoder, r *hil.Row) []byte {
	b = append(b, `{"timestamp":`...)
	b = appendSeconds(b, enc.zero+r.T)
	for i, at := range e.columns {
		b = append(b, e.keys[i]...)
		b = appendNumber(b, r.X[at])
	}
	if r.Flags&hil.FlagUnexcited != 0 {
		return append(b, `,"excited":false}`...)
	}
	return append(b, `,"excited":true}`...)
}

// fullReport is the array of estimate/report: value, standard error and 95 % interval with the unit beside them.
func (e *estimates) fullReport(r *hil.Row) ([]byte, error) {
	type entry struct {
		Axis  string      `json:"axis"`
		Name  string      `json:"name"`
		Unit  string      `json:"unit"`
		Value *float64    `json:"value"`
		SE    *float64    `json:"se"`
		CI95  [2]*float64 `json:"ci95"`
	}
	out := make([]entry, 0, len(e.report))
	for _, p := range e.report {
		v, se := r.X[p.value], r.X[p.se]
		out = append(out, entry{p.axis, p.name, p.unit, numeric.OrNull(v), numeric.OrNull(se),
			[2]*float64{numeric.OrNull(v - z95*se), numeric.OrNull(v + z95*se)}})
	}
	return json.Marshal(out)
}
