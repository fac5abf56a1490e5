package friction

import (
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

// The search for passivity ends whatever the numbers are, also those that Validate refuses: a law without numbers, and each
// number of every law in turn replaced by an extreme.
func TestPassiveEnds(t *testing.T) {
	done := make(chan struct{})
	var now atomic.Value
	now.Store("a law without numbers")
	go func() {
		defer close(done)
		new(LuGre).Passive()
		new(DahlModified).Passive()
		for _, info := range Laws() {
			n := len(info.NewLaw().Params())
			for i := range n {
				for _, x := range []float64{0, -1, 1e308, 1e-308, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()} {
					law := info.NewLaw()
					f, ok := law.(interface{ fields() []field })
					if !ok {
						continue
					}
					fs := f.fields()
					*fs[i].value = x
					now.Store(fmt.Sprint(info.Name, " ", fs[i].name, " ", x))
					law.Passive()
					if l, ok := law.(*LuGre); ok {
						l.Remedy()
					}
				}
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("no end with %s", now.Load())
	}
}
