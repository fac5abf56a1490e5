package bristle

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"hilrig/identify/record"
)

func TestProf(t *testing.T) {
	for _, b := range benches() {
		if !strings.Contains(b.name, os.Getenv("RIG")) {
			continue
		}
		s, err := Kalman(context.Background(), []*record.Record{b.draw(100)}, Params(false), Options{Workers: 1}, nil)
		fmt.Println(b.name, err, s.Evaluations, s.Compute, s.Extra["force_noise_sensor"], s.Params[0].Value)
	}
}

func TestPre(t *testing.T) {
	bs, known := presliders()
	for i, b := range bs {
		if !strings.Contains(b.name, os.Getenv("RIG")) {
			continue
		}
		s, err := Presliding(context.Background(), []*record.Record{b.draw(1)}, fixed(Params(false), known[i]), Options{Workers: 1}, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		off, _ := within(t, s, &b.truth)
		fmt.Printf("%s %d %v %.3v %.2f %.4g\n", b.name, s.Evaluations, s.Compute, s.Extra["force_noise_sensor"], off, s.Params[0].Value)
	}
}
