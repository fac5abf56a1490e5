package sink

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"hilrig/hil"
)

// encoder writes rows as JSON without allocating: keys are quoted once, numbers are appended. Every number is finite or
// null, because JSON knows neither NaN nor infinity, and no integer exceeds 2⁵³, because JavaScript would round it.
type encoder struct {
	zero int64    // ns  Unix time at zero of the loop's clock
	keys [][]byte // `,"drive.rotor.angle":` for each signal of the row, in the order of Row.X
	run  []byte   // `,"run":"…","epoch":`
}

// reserved are the keys that the payloads use beside the signals.
var reserved = map[string]bool{"timestamp": true, "seq": true, "run": true, "epoch": true, "mode": true, "armed": true, "late_us": true,
	"busy_us": true}

func newEncoder(info *hil.Info) (*encoder, error) {
	e := &encoder{zero: info.Start.UnixNano() - info.Mono, run: []byte(`,"run":` + quote(info.Run) + `,"epoch":`)}
	seen := make(map[string]bool)
	for _, sig := range info.Schema.Signals() {
		switch {
		case sig.Name == "":
			return nil, fmt.Errorf("mqtt: a signal of rig %s has no name", info.Schema.Rig)
		case reserved[sig.Name]:
			return nil, fmt.Errorf("mqtt: signal %q of rig %s has the name of a key that every message carries; rename it", sig.Name,
				info.Schema.Rig)
		case seen[sig.Name]:
			return nil, fmt.Errorf("mqtt: two signals of rig %s are called %q; one message cannot carry both", info.Schema.Rig, sig.Name)
		}
		seen[sig.Name] = true
		e.keys = append(e.keys, []byte(","+quote(sig.Name)+":"))
	}
	return e, nil
}

// sample appends {"timestamp":…,"seq":…,"run":…,"epoch":…,<signal>:…}.
func (e *encoder) sample(b []byte, r *hil.Row) []byte { return append(e.signals(b, r), '}') }

// state appends a sample with the condition of the loop: one flat object, as dashboards want it.
func (e *encoder) state(b []byte, r *hil.Row) []byte {
	b = e.signals(b, r)
	b = append(b, `,"mode":"`...)
	b = append(b, r.Mode.String()...)
	b = append(b, `","armed":`...)
	b = strconv.AppendBool(b, r.Mode == hil.Armed || r.Mode == hil.Run || r.Mode == hil.Hold)
	b = append(b, `,"late_us":`...)
	b = appendNumber(b, float64(r.Lateness)*1e-3)
	b = append(b, `,"busy_us":`...)
	b = appendNumber(b, float64(r.BusyTime)*1e-3)
	return append(b, '}')
}

func (e *encoder) signals(b []byte, r *hil.Row) []byte {
	b = append(b, `{"timestamp":`...)
	b = appendSeconds(b, e.zero+r.T)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = append(b, e.run...)
	b = strconv.AppendUint(b, uint64(r.Epoch), 10)
	for i, key := range e.keys {
		b = append(b, key...)
		b = appendNumber(b, r.X[i])
	}
	return b
}

// appendSeconds writes ns since 1970 as seconds with six decimals, in integers: a float64 of today's date resolves 0.24 µs
// only, and its shortest decimal form has a varying length.
func appendSeconds(b []byte, ns int64) []byte { return appendDecimal(b, floorDiv(ns+500, 1000), 6) }

// appendNumber writes v with nine significant digits, enough for a 24-bit converter with room to spare; null if it is not
// finite. Whole numbers, frequent in status words and references at rest, take the short way.
func appendNumber(b []byte, v float64) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1e9 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', 9, 64)
}

// quote is a JSON string with its quotes.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("sink: a string cannot be marshalled: " + err.Error())
	}
	return string(b)
}
