package identify

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/configs/schema"
)

// Every setting of an identification reaches the plan that is carried out. What is listed is used elsewhere: by the reader of
// records, by the gate, by the comparison, or for people.
func TestEveryKeyHasAnEffect(t *testing.T) {
	elsewhere := []string{"version", "name", "description", "data.", "loop.", "validate", "require_fit", "compare"}
	base := func() *configs.Identify {
		c := configs.DefaultIdentify()
		c.Model.Controller = &configs.IdentifyController{Kp: 1, Kv: "2 N·s/m", Limit: "3 N", Mean: 1}
		c.Data.Columns.Force.Unit = "N"
		return c
	}
	print := func(c *configs.Identify) string {
		p := PlanOf(c, 1)
		return fmt.Sprintf("%+v %+v", p, *p.Model.Controller)
	}
	was := print(base())
	// other numbers and words, key by key
	var walk func(path string, at func(c *configs.Identify) reflect.Value)
	walk = func(path string, at func(c *configs.Identify) reflect.Value) {
		for _, e := range elsewhere {
			if path == strings.TrimSuffix(e, ".") || strings.HasSuffix(e, ".") && strings.HasPrefix(path, e) {
				return
			}
		}
		v := at(base())
		switch {
		case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
			walk(path, func(c *configs.Identify) reflect.Value { return at(c).Elem() })
			return
		case v.Kind() == reflect.Struct:
			for _, f := range schema.FieldsOf(v.Type()) {
				key := f.Key
				if path != "" {
					key = path + "." + key
				}
				walk(key, func(c *configs.Identify) reflect.Value { return at(c).FieldByIndex(f.Index) })
			}
			return
		}
		if path == "parameters" {
			return // names of their own
		}
		c := base()
		x := at(c)
		switch x.Kind() {
		case reflect.Bool:
			x.SetBool(!x.Bool())
		case reflect.Int:
			x.SetInt(x.Int() + 7)
		case reflect.Uint8: // a word
			x.SetUint(x.Uint() + 1)
		case reflect.Float64:
			x.SetFloat(x.Float() + 7)
		case reflect.String:
			other := map[string]string{
				"axis": "rotary", "form": "weak", "model.lag": "free", "model.law": "dahl", "model.controller.kv": "5 N·s/m",
				"model.controller.limit": "4 N",
			}
			x.SetString(other[path])
		case reflect.Pointer:
			x.Set(reflect.New(x.Type().Elem()))
		case reflect.Slice:
			x.Set(reflect.Append(x, reflect.New(x.Type().Elem()).Elem()))
		default:
			t.Fatalf("%s is a %s", path, x.Kind())
		}
		if print(c) == was {
			t.Errorf("%s changes nothing", path)
		}
	}
	walk("", func(c *configs.Identify) reflect.Value { return reflect.ValueOf(c).Elem() })
}
