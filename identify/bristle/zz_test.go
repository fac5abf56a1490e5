package bristle

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hilrig/identify/fit"
)

func TestZ(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("DRAWS"))
	only := os.Getenv("RIG")
	for _, b := range benches() {
		if only != "" && !strings.Contains(b.name, only) {
			continue
		}
		var z [][count]float64
		begin := time.Now()
		extra := ""
		hold := 0
		in := 0
		white := 0
		for seed := range uint64(n) {
			s, err := Kalman(context.Background(), b.draw(100+seed), Params(false), Options{Workers: 1}, nil)
			if err != nil {
				fmt.Println(b.name, seed, err)
				continue
			}
			a, err := fit.Assess(s)
			if err != nil {
				fmt.Println(err)
				continue
			}
			var q [count]float64
			if a.Residual.White {
				white++
			}
			for i := range s.Params {
				ci := a.Interval(i)
				if ci != nil && ci[0] <= b.truth[i] && b.truth[i] <= ci[1] {
					hold++
				}
				q[i] = (s.Params[i].Value - b.truth[i]) / *a.Err(i)
			}
			if x, l := s.Extra["innovation"].(float64), s.Extra["innovation_limit"].(float64); math.Abs(x-1) < l {
				in++
			}
			z = append(z, q)
			extra = fmt.Sprint(s.Extra["force_noise"], " ", s.Extra["position_noise"], " ", s.Extra["hold"], s.Extra["innovation"], " sub ", s.Extra["substeps"], " share ", s.Extra["force_noise_sensor"])
		}
		fmt.Printf("%s: hold %.1f %% of %d, innovation ok %d, white %d, %.1f s each; %s\n", b.name, 100*float64(hold)/float64(len(z)*count), len(z), in, white, time.Since(begin).Seconds()/float64(n), extra)
		for i := range count {
			m, v, c := 0.0, 0.0, 0
			for _, q := range z {
				m += q[i] / float64(len(z))
				if math.Abs(q[i]) < 1.96 {
					c++
				}
			}
			for _, q := range z {
				v += (q[i] - m) * (q[i] - m) / float64(len(z))
			}
			fmt.Printf("   %-7s mean z %+.2f sd %.2f  in %d\n", names[i], m, math.Sqrt(v), c)
		}
	}
}
