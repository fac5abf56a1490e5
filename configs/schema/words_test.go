package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"hilrig/configs/schema"
)

// gait is a number that files name by a word.
type gait uint8

func (gait) Words() []string { return []string{"walk", "trot", "gallop"} }

type horse struct {
	Gait  gait   `yaml:"gait" doc:"how it goes"`
	Gaits []gait `yaml:"gaits,omitempty" doc:"those it can"`
}

func none(*schema.Report) {}

func TestNumbersWithWords(t *testing.T) {
	var h horse
	if _, err := schema.Load("horse.yaml", []byte("gait: trot\ngaits: [gallop, walk]\n"), &h, none); err != nil {
		t.Fatal(err)
	}
	if h.Gait != 1 || len(h.Gaits) != 2 || h.Gaits[0] != 2 || h.Gaits[1] != 0 {
		t.Errorf("read as %+v", h)
	}
	text, err := schema.Marshal(&h)
	if err != nil || !strings.Contains(string(text), "gait: trot\n") || !strings.Contains(string(text), "[gallop, walk]") {
		t.Errorf("written as %q, %v", text, err)
	}
	for given, want := range map[string]string{"gait: trott\n": `did you mean "trot"?`, "gait: 1\n": "gait: ", "gait: [trot]\n": "gait: "} {
		again := horse{Gait: 2}
		if _, err := schema.Load("horse.yaml", []byte(given), &again, none); err == nil || !strings.Contains(err.Error(), want) ||
			again.Gait != 2 {
			t.Errorf("%q: %v, gait %d", given, err, again.Gait)
		}
	}
	shape, err := json.Marshal(schema.SchemaOf(reflect.TypeFor[gait](), reflect.ValueOf(gait(2)),
		schema.FieldsOf(reflect.TypeFor[horse]())[0]))
	if err != nil || !strings.Contains(string(shape), `["walk","trot","gallop"]`) || !strings.Contains(string(shape), `"string"`) {
		t.Errorf("schema %s, %v", shape, err)
	}
}
