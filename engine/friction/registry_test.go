package friction

import (
	"reflect"
	"testing"
)

// A law knows its name, and a copy of it is another law with the same numbers.
func TestNamesAndCopies(t *testing.T) {
	all := map[string]Model{}
	for _, info := range Laws() {
		all[info.Name] = info.NewLaw()
		back := info.NewLaw()
		if l, err := NewTwoSided(info.NewLaw(), back); err == nil {
			all[info.Name+" by direction"] = l
			if got := NameOf(l); got != info.Name {
				t.Errorf("%s by direction is called %s", info.Name, got)
			}
		}
		if got := NameOf(info.NewLaw()); got != info.Name {
			t.Errorf("%s is called %s", info.Name, got)
		}
	}
	for name, law := range all {
		c := Clone(law)
		if c == law || reflect.TypeOf(c) != reflect.TypeOf(law) || !reflect.DeepEqual(c.Params(), law.Params()) {
			t.Errorf("the copy of %s is %T with %v", name, c, c.Params())
			continue
		}
		theta := values(c)
		for i, p := range c.Params() {
			if p.Name == "Fc" || p.Name == "Fv" || p.Name == "sigma2" || p.Name == "Fc"+Backward {
				theta[i] /= 2
			}
		}
		before := values(law)
		if err := c.SetParams(theta); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(values(law), before) {
			t.Errorf("%s changes with its copy", name)
		}
	}
}
