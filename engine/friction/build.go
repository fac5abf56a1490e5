package friction

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Build makes the law of a name with all its parameters, by their names. Names that end in Backward are those for v < 0: the ones
// among them that are left out are as forward.
func Build(name string, values map[string]float64) (Model, error) {
	info, ok := Find(name)
	if !ok {
		return nil, fmt.Errorf("law %q is not known", name)
	}
	law := info.NewLaw()
	names := lawParams()[info.Name]
	theta := make([]float64, len(names))
	var missing, sided []string
	for i, p := range names {
		v, given := values[p]
		if theta[i] = v; !given {
			missing = append(missing, p)
		}
		if _, given := values[p+Backward]; given {
			sided = append(sided, p)
		}
	}
	switch {
	case missing != nil:
		return nil, fmt.Errorf("law %s: %s missing; a law is one whole set of parameters", name, strings.Join(missing, ", "))
	case len(values) > len(names)+len(sided):
		return nil, fmt.Errorf("law %s: some of %s are no parameters of it; it has %s", name,
			strings.Join(slices.Sorted(maps.Keys(values)), ", "), strings.Join(names, ", "))
	}
	if err := law.SetParams(theta); err != nil {
		return nil, err
	}
	if sided == nil {
		return law, nil
	}
	for i, p := range names {
		if v, given := values[p+Backward]; given {
			theta[i] = v
		}
	}
	back := info.NewLaw()
	if err := back.SetParams(theta); err != nil {
		return nil, fmt.Errorf("backward: %w", err)
	}
	return NewTwoSided(law, back, sided...)
}

// Values are the parameters of a law by their names, as Build takes them.
func Values(m Model) map[string]float64 {
	out := map[string]float64{}
	for _, p := range m.Params() {
		out[p.Name] = p.Value
	}
	return out
}

// lawParams are the names of the parameters of every law, in their order.
var lawParams = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, info := range registry {
		for _, p := range info.NewLaw().Params() {
			all[info.Name] = append(all[info.Name], p.Name)
		}
	}
	return all
})
