package hil

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// Every place of an order refuses null, a key that stands twice, and text for a number, and says where.
func TestDecodeOrderRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`{"set":{"shaft.control.kp":null}}`: "set.shaft.control.kp: null",
		`{"set":null}`:                      "set: null", `{"id":null,"set":{"a":1}}`: "id: null", `{"id":"1","expires":null}`: "expires: null",
		`{"confirm":null}`: "confirm: null",
		`{"adopt":null}`:   "adopt: null", `{"adopt":{"axis":null}}`: "adopt.axis: null",
		`{"adopt":{"axis":"shaft","law":null}}`:                                  "adopt.law: null",
		`{"adopt":{"axis":"shaft","law":"lugre","params":{"Fc":0.1,"Fs":null}}}`: "adopt.params.Fs: null",
		`{"adopt":{"axis":"shaft","law":"lugre","params":null}}`:                 "adopt.params: null",
		`{"adopt":{"axis":"shaft","motor":{"J":null}}}`:                          "adopt.motor.J: null",
		`{"adopt":{"axis":"shaft","motor":null}}`:                                "adopt.motor: null",
		`{"identify":{"axis":"shaft","window_s":null}}`:                          "identify.window_s: null",
		`{"identify":{"methods":["lm",null]}}`:                                   "identify.methods[1]: null", `{"accept":null}`: "accept: null",
		`{"id":"1","x":null}`: "x: null", `null`: "null is no value",
		`{"set":{"shaft.control.kp":0.2,"shaft.control.kp":20}}`:        "set.shaft.control.kp: the key stands twice",
		`{"set":{"a":1},"set":{"a":2}}`:                                 "set: the key stands twice",
		`{"set":{"a":1},"Set":{"a":2}}`:                                 "Set: the key stands twice",
		`{"adopt":{"axis":"a","law":"lugre","params":{"Fc":1,"Fc":2}}}`: "adopt.params.Fc: the key stands twice",
		`{"set":{"shaft.control.kp":"0.2"}}`:                            `set.shaft.control.kp: "0.2" is no number`,
		`{"set":{"a":true}}`:                                            "set.a: true is no number",
		`{"adopt":{"axis":"a","law":"lugre","params":{"Fc":"1"}}}`:      `adopt.params.Fc: "1" is no number`,
		`{"adopt":{"motor":{"J":"1"}}}`:                                 `adopt.motor.J: "1" is no number`,
		`{"set":{"a":NaN}}`:                                             "invalid character", `{"set":{"a":1e999}}`: "1e999",
		`{"set":{"a":{"b":1}}}`: "object",
		`{"set":{"a":[1]}}`:     "array", `{"set":[1]}`: "array",
		`{"sett":{"a":1}}`: "sett", `{"set":{"a":1}} {}`: "something follows", `{"set":{"a":1}`: "unexpected EOF",
		`{"set":{"a":-Infinity}}`: "invalid",
	} {
		if o, err := DecodeOrder([]byte(body)); err == nil || !strings.Contains(err.Error(), want) || len(o.Set) > 0 || o.Adopt != nil {
			t.Errorf("%s: %+v, %v, want %q", body, o, err, want)
		}
	}
	if _, err := DecodeOrder([]byte(" \n")); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
}

// What is left out is not there, and numbers are those that were written.
func TestDecodeOrder(t *testing.T) {
	o, err := DecodeOrder([]byte(`{"id":"7","expires":1.5,"set":{"a":0,"b":-2e-3},"confirm":true}`))
	if err != nil || o.ID != "7" || *o.Expires != 1.5 || len(o.Set) != 2 || o.Set["a"] != 0 || o.Set["b"] != -2e-3 || !o.Confirm ||
		o.Adopt != nil || o.Identify != nil {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = DecodeOrder([]byte(`{"adopt":{"axis":"shaft","law":"lugre","params":{"Fc":0.1}}}`))
	if err != nil || o.Adopt.Axis != "shaft" || o.Adopt.Law != "lugre" || len(o.Adopt.Params) != 1 || o.Adopt.Motor != nil ||
		o.Expires != nil || o.Confirm {
		t.Errorf("%+v, %v", o, err)
	}
}
