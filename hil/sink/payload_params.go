package sink

import (
	"encoding/json"
	"time"

	"hilrig/engine/numeric"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// ParamsJSON is what the topic params and the page say of the parameters in force: the numbers with their units and limits, the model of
// every axis, and who asked for the newest change. models are those of the file, by axis; nil: an axis without one.
func ParamsJSON(p *hil.Params, live []axis.Param, axes []string, models []*axis.Set, from string, now time.Time) ([]byte, error) {
	type number struct {
		Value float64  `json:"value"`
		Unit  string   `json:"unit"`
		Min   *float64 `json:"min"` // null: none
		Max   *float64 `json:"max"`
	}
	type model struct {
		axis.Set
		Source string `json:"source"` // file, or command
	}
	out := struct {
		Timestamp float64           `json:"timestamp"`
		Gen       uint32            `json:"gen"`
		Source    string            `json:"from"`
		Params    map[string]number `json:"params"`
		Models    map[string]model  `json:"models"`
	}{float64(now.UnixMicro()) / 1e6, p.Gen, from, map[string]number{}, map[string]model{}}
	for i, l := range live {
		out.Params[l.Name] = number{p.V[i], l.Unit, numeric.OrNull(l.Lo), numeric.OrNull(l.Hi)}
	}
	for i, name := range axes {
		m := model{Source: "file"}
		switch set := p.Sets[i].Set(); {
		case set != nil:
			m.Source, m.Set = "command", *set
		case models[i] == nil:
			continue
		default:
			m.Set = *models[i]
		}
		out.Models[name] = m
	}
	return json.Marshal(out)
}

// RetainedTopic is a topic whose newest message is retained, whoever made it.
type RetainedTopic int

const (
	RetainedParams RetainedTopic = iota
	RetainedFitStatus
	RetainedFitResult
)

func (k RetainedTopic) String() string { return retainedTopics[k] }

var retainedTopics = [...]string{RetainedParams: "params", RetainedFitStatus: FitStatusTopic, RetainedFitResult: FitResultTopic}

// Topics of an identification below the root of the rig.
const (
	FitStatusTopic = "identify/status"
	FitResultTopic = "identify/result"
)

// PublishRetained publishes a message on one of these topics, retained: at once, and again with every connection.
func (p *Publisher) PublishRetained(topic RetainedTopic, body []byte) {
	p.retained[topic].Store(&body)
	select {
	case p.news <- struct{}{}:
	default:
	}
}
