package dashboard

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"hilrig/engine/numeric"
	"hilrig/hil/sink"
)

// infoJSON is /api/info: all that the page must know before the first message.
type infoJSON struct {
	Rig        string             `json:"rig"`
	Version    string             `json:"version"`
	ConfigHash string             `json:"config_hash,omitempty"`
	Start      time.Time          `json:"start"`
	RateHz     float64            `json:"rate_hz"`
	DryRun     bool               `json:"dry_run"`
	Note       string             `json:"note,omitempty"`
	Topics     string             `json:"topics"` // "hil/demo": prefix of all topics
	Owners     []sink.Owner       `json:"owners"`
	Channels   []sink.Channel     `json:"channels"`
	Model      map[string]float64 `json:"model"`           // SI
	Truth      map[string]float64 `json:"truth,omitempty"` // SI, virtual rig only
	Curve      [][2]float64       `json:"curve"`           // speed and steady friction of the model
	TruthCurve [][2]float64       `json:"truth_curve,omitempty"`
	MQTT       *mqttJSON          `json:"mqtt"` // null: no broker a browser can reach; poll
	Commands   commandsJSON       `json:"commands"`
}

type mqttJSON struct {
	URL      string `json:"url,omitempty"` // "": /mqtt on this server
	User     string `json:"user"`
	Password string `json:"password,omitempty"`
}

// commandsJSON says what this very client may do.
type commandsJSON struct {
	Stop   bool   `json:"stop"`
	All    bool   `json:"all"`
	Reason string `json:"reason,omitempty"` // why not all
}

// describe turns the options into what the page reads.
func describe(opt *Options) infoJSON {
	in := &opt.Info
	out := infoJSON{
		Rig: in.Schema.Rig, Version: in.Version, ConfigHash: in.ConfigHash, Start: in.Start, RateHz: in.Schema.Rate,
		DryRun: in.DryRun, Note: in.Note, Topics: opt.Prefix + "/" + in.Schema.Rig,
		Owners: sink.Owners(&in.Schema), Channels: sink.Channels(&in.Schema), Model: finite(opt.Model), Truth: finite(opt.Truth), Curve: finitePoints(opt.Curve), TruthCurve: finitePoints(opt.TruthCurve),
	}
	if opt.MQTT != nil || opt.BrokerURL != "" {
		out.MQTT = &mqttJSON{User: opt.User, Password: opt.Password}
		if opt.MQTT == nil {
			out.MQTT.URL = opt.BrokerURL
		}
	}
	return out
}

// finite leaves out what JSON cannot carry.
func finite(m map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		if numeric.Finite(v) {
			out[k] = v
		}
	}
	return out
}

// finitePoints leaves out points that JSON cannot carry.
func finitePoints(points [][2]float64) [][2]float64 {
	return slices.DeleteFunc(slices.Clone(points), func(p [2]float64) bool { return !numeric.Finite(p[0]) || !numeric.Finite(p[1]) })
}

// getInfo serves the description, with what the asking client may command.
func (s *Server) getInfo(w http.ResponseWriter, r *http.Request) {
	out := s.info
	out.Commands = commandsJSON{Stop: s.opt.Command != nil, Reason: s.refusal(r)}
	out.Commands.All = out.Commands.Reason == ""
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(out)
}
