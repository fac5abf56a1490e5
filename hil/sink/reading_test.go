package sink

import (
	"encoding/json"
	"fmt"
	"time"

	"hilrig/hil"
)

// What tests read back of a recording beside its rows and parameters.

// Events lists all events in the order they were recorded.
func (r *Run) Events() ([]hil.Event, error) { return collect(r, chEvents, decodeEvent) }

// Clocks lists the pairs of wall clock and loop clock.
func (r *Run) Clocks() ([]ClockPair, error) { return collect(r, chClock, decodeClock) }

func decodeEvent(data []byte) (e hil.Event, err error) {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return e, err
	}
	ns, ok := parseDecimal([]byte(j.Timestamp), 9)
	if !ok {
		return e, fmt.Errorf("event: timestamp %q is not a time", j.Timestamp)
	}
	return hil.Event{Time: time.Unix(0, ns).UTC(), Seq: j.Seq, Level: j.Level, Code: j.Code, Text: j.Text}, nil
}

// ClockPair is the wall clock and the loop's clock at one moment.
type ClockPair struct {
	Wall  time.Time
	T     int64         // ns  the loop's clock
	Width time.Duration // the two readings are this close
}

func decodeClock(data []byte) (c ClockPair, err error) {
	var j struct {
		Timestamp, T json.Number
		Width        json.Number `json:"width_us"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return c, err
	}
	wall, ok1 := parseDecimal([]byte(j.Timestamp), 9)
	t, ok2 := parseDecimal([]byte(j.T), 9)
	width, ok3 := parseDecimal([]byte(j.Width), 3)
	if !ok1 || !ok2 || !ok3 {
		return c, fmt.Errorf("clock: %s has no usable times", data)
	}
	return ClockPair{time.Unix(0, wall).UTC(), t, time.Duration(width)}, nil
}
