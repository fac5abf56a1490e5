package hil

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Order is the JSON of a command, over MQTT and from the page. What is left out is not there; null is refused: it would read as 0.
type Order struct {
	ID      string             `json:"id"`
	Expires *float64           `json:"expires"` // s since 1970; absent: never
	Set     map[string]float64 `json:"set"`     // for "set": parameter → value in SI
	Adopt   *Adopt             `json:"adopt"`   // for "adopt": the model of an axis
	Confirm bool               `json:"confirm"` // for "set" and "adopt": somebody has read what the reply asked

	Identify *Identify `json:"identify"` // for "identify": what is to be fitted
	Accept   string    `json:"accept"`   // for "accept": id of a result
}

// numbers are the objects of an order that hold numbers alone.
var numbers = []string{"set.", "adopt.params.", "adopt.motor."}

// DecodeOrder reads one JSON object: unknown keys, null anywhere, a key that stands twice, and text for a number are refused by their path.
// An empty body is io.EOF.
func DecodeOrder(data []byte) (o Order, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return o, io.EOF
	}
	words := json.NewDecoder(bytes.NewReader(data))
	words.UseNumber()
	var bad *orderProblem
	if err := checkJSON(words, ""); errors.As(err, &bad) { // what is no JSON is told below
		return o, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return Order{}, err
	}
	if d.More() {
		return Order{}, errors.New("something follows the JSON object")
	}
	return o, nil
}

// orderProblem is JSON that is no order.
type orderProblem struct{ path, text string }

func (p *orderProblem) Error() string {
	if p.path == "" {
		return p.text
	}
	return p.path + ": " + p.text
}

// checkJSON reads one value, and refuses what an order must not hold.
func checkJSON(d *json.Decoder, path string) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case nil:
		return &orderProblem{path, "null is no value; leave the key out, or give one"}
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if err := checkJSON(d, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	case json.Delim('{'):
		return checkObject(d, path)
	}
	for _, of := range numbers {
		if _, number := t.(json.Number); strings.HasPrefix(path, of) && !number {
			return &orderProblem{path, fmt.Sprintf("%v is no number", quoted(t))}
		}
	}
	return nil
}

func checkObject(d *json.Decoder, path string) error {
	var keys []string
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, at := t.(string), ""
		if at = key; path != "" {
			at = path + "." + key
		}
		for _, k := range keys {
			if strings.EqualFold(k, key) { // encoding/json takes either for a field
				return &orderProblem{at, "the key stands twice"}
			}
		}
		keys = append(keys, key)
		if err := checkJSON(d, at); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// quoted is a JSON word as it is written.
func quoted(t json.Token) string {
	text, _ := json.Marshal(t) // a string or a bool
	return string(text)
}
