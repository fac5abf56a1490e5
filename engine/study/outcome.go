package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// Metric is one number that a run gives, or a text, such as a verdict.
type Metric struct {
	Name, Unit string
	Value      float64
	Text       string
}

// metricJSON is a metric on disk; what is no finite number is null.
type metricJSON struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit,omitempty"`
	Value *float64 `json:"value"`
	Text  string   `json:"text,omitempty"`
}

// MarshalJSON writes a number that is not finite as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	out := metricJSON{Name: m.Name, Unit: m.Unit, Text: m.Text}
	if m.Value-m.Value == 0 {
		out.Value = &m.Value
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as NaN.
func (m *Metric) UnmarshalJSON(data []byte) error {
	var in metricJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Metric{in.Name, in.Unit, math.NaN(), in.Text}
	if in.Value != nil {
		m.Value = *in.Value
	}
	return nil
}

// Outcome is what became of a run. It holds nothing that differs from sitting to sitting, such as the time it took.
type Outcome struct {
	Run     int             `json:"run"`
	Metrics []Metric        `json:"metrics,omitempty"`
	Failure string          `json:"failed,omitempty"` // why there are no metrics
	State   json.RawMessage `json:"state,omitempty"`  // what tasks after its own begin from
}

// valid tells whether an outcome says anything.
func (o *Outcome) valid() bool { return len(o.Metrics) > 0 || o.Failure != "" }

// strictly reads a line of JSON that has no other keys and nothing behind.
func strictly(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more on the line")
	}
	return nil
}
