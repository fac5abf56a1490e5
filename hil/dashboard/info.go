package dashboard

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"time"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// infoJSON is /api/info: all that the page must know before the first message.
type infoJSON struct {
	Rig        string            `json:"rig"`
	Version    string            `json:"version"`
	ConfigHash string            `json:"config_hash,omitempty"`
	Start      time.Time         `json:"start"`
	RateHz     float64           `json:"rate_hz"`
	DryRun     bool              `json:"dry_run"`
	Note       string            `json:"note,omitempty"`
	Topics     string            `json:"topics"` // "hil/demo": prefix of all topics
	Owners     []sink.Owner      `json:"owners"`
	Channels   []sink.Channel    `json:"channels"`
	Axes       []Axis            `json:"axes"`
	Laws       []lawJSON         `json:"laws"`
	Statuses   []string          `json:"statuses"` // of a step of a model, by number
	Advice     map[string]string `json:"advice"`   // cause of a trip → what to do
	History    historyJSON       `json:"history"`
	Recording  *recordingJSON    `json:"recording,omitempty"` // what a view shows; absent: a rig
	Commands   commandsJSON      `json:"commands"`
}

// Axis is what is known of an axis beside its estimates, all in SI; curves are points of speed and steady friction, speeds rising.
type Axis struct {
	Name       string             `json:"name"`
	Model      map[string]float64 `json:"model"`           // configured, by the names of estimates: J, Fc, Fv, offset
	Truth      map[string]float64 `json:"truth,omitempty"` // of the virtual rig, the same names; nil for a real rig
	Curve      [][2]float64       `json:"curve"`
	TruthCurve [][2]float64       `json:"truth_curve,omitempty"`
	Carries    string             `json:"carries,omitempty"` // what the estimated friction holds beside friction, and nothing tells apart
}

// commandsJSON says what this very client may do.
type commandsJSON struct {
	Stop        bool   `json:"stop"`
	AllCommands bool   `json:"all"`
	Reason      string `json:"reason,omitempty"` // why not all
}

// describe turns the options into what the page reads.
func describe(opt *Options) infoJSON {
	in := &opt.Info
	out := infoJSON{
		Rig: in.Schema.Rig, Version: in.Version, ConfigHash: in.ConfigHash, Start: in.Start, RateHz: in.Schema.Rate,
		DryRun: in.DryRun, Note: in.Note, Topics: opt.Prefix + "/" + in.Schema.Rig,
		Owners: sink.Owners(&in.Schema), Channels: sink.Channels(&in.Schema), Axes: make([]Axis, len(opt.Axes)), Laws: laws(),
		Advice: map[string]string{},
	}
	for s := engine.OK; s <= engine.Lost; s++ {
		out.Statuses = append(out.Statuses, s.String())
	}
	for c := hil.CauseEstop; c.String() != hil.Cause(math.MaxUint8).String(); c++ {
		out.Advice[c.String()] = c.Advice()
	}
	for i, a := range opt.Axes {
		out.Axes[i] = Axis{Name: a.Name, Carries: a.Carries, Model: finiteValues(a.Model), Truth: finiteValues(a.Truth), Curve: finitePoints(a.Curve),
			TruthCurve: finitePoints(a.TruthCurve)}
	}
	if out.History.Reason = noRecording; opt.History != nil {
		out.History = historyJSON{Longest: opt.History.Longest(in.Schema.Rate)}
	}
	return out
}

// finiteValues leaves out what JSON cannot carry.
func finiteValues(m map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		if numeric.IsFinite(v) {
			out[k] = v
		}
	}
	return out
}

// finitePoints leaves out points that JSON cannot carry.
func finitePoints(points [][2]float64) [][2]float64 {
	return slices.DeleteFunc(slices.Clone(points), func(p [2]float64) bool { return !numeric.IsFinite(p[0]) || !numeric.IsFinite(p[1]) })
}

// getInfo serves the description, with what the asking client may command.
func (s *Server) getInfo(w http.ResponseWriter, r *http.Request) {
	out := s.info
	out.Commands = commandsJSON{Stop: s.opt.Command != nil, Reason: s.refusal(r)}
	out.Commands.AllCommands = out.Commands.Reason == ""
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
