package bristle

import (
	"context"
	"fmt"
	"testing"

	"hilrig/identify/fit"
)

func TestProf(t *testing.T) {
	b := benches()[1]
	for range 3 {
	last := ""
	s, err := Kalman(context.Background(), b.draw(100), Params(false), Options{Workers: 1}, func(p fit.Progress) {
		if p.Phase != last { fmt.Println(p.Phase, p.Simulated); last = p.Phase }
	})
	fmt.Println(err, s.Evaluations, s.Compute)
	}
}
