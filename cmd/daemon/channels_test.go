package daemon

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/hil"
)

// A dry run says of every channel what it reads, how often, how old, how noisy, and which way it moves.
func TestChannelsOfADryRun(t *testing.T) {
	names := []string{"up", "down", "noisy", "held", "rare", "silent", "stopped", "sick"}
	s := &hil.Schema{}
	for _, n := range names {
		s.Meas = append(s.Meas, hil.Of("drive", engine.Signal{Name: n, Unit: "A"})...)
	}
	s.Meas = append(s.Meas, hil.Of("drive", engine.Signal{Name: "age", Unit: "s"})...)
	s.Meas[len(s.Meas)-1].Role = hil.RoleAge
	for i := range s.Meas {
		s.Meas[i].Age = "drive.age"
	}
	c := newChannels(s)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := func(from, to int) string {
		for k := from; k < to; k++ {
			r := hil.Row{T: int64(k+1) * 1e6, FreshSignals: hil.Fresh{0b10001111}}
			x := float64(k)
			if k%10 == 0 {
				hil.SetFresh(&r.FreshSignals, 4)
			}
			if k < 500 {
				hil.SetFresh(&r.FreshSignals, 6)
			}
			copy(r.X[:], []float64{2e-3*x + 0.01*rng.NormFloat64(), -2e-3 * x, 5 + 0.1*rng.NormFloat64(), 7, 3, 0, 1, math.NaN(), 250e-6})
			c.see(&r)
		}
		return c.table()
	}
	first, second := rows(0, 1001), rows(1001, 2001)
	for name, want := range map[string][2]string{
		"up": {`(1\.9|2\.0)\d+ A +1000 Hz +250µs +0\.0(09[6-9]|10[0-4]?|1) A +0 % +up, \+(1\.9|2)\S* A`,
			`(3\.9|4\.0)\d+ A +1000 Hz +250µs .* up, \+(1\.9|2)\S* A`},
		"down":    {`-2 A +1000 Hz +250µs +\S+ A +0 % +down, -2 A`, `-4 A +1000 Hz .* down, -2 A`},
		"noisy":   {`\S+ A +1000 Hz +250µs +0\.(09[6-9]|10[0-4]?|1) A +0 % +still`, `1000 Hz .* still`},
		"held":    {`7 A +1000 Hz +250µs +0 A +100 % +still`, `7 A +1000 Hz +250µs +0 A +100 % +still`},
		"rare":    {`3 A +100 Hz +250µs +0 A +99 % +still`, `3 A +100 Hz +250µs`},
		"silent":  {`never came`, `never came`},
		"stopped": {`1 A +499 Hz +501.25ms .* still`, `1 A +0 Hz +1.50125s .* no sample came`},
		"sick":    {`NaN A +1000 Hz .* not a number`, `NaN A +1000 Hz .* not a number`},
	} {
		for i, text := range []string{first, second} {
			line := ""
			for l := range strings.Lines(text) {
				if strings.HasPrefix(l, "drive."+name+" ") {
					line = l
				}
			}
			if !regexp.MustCompile(want[i]).MatchString(line) {
				t.Errorf("table %d: %q, want %s %s", i+1, line, name, want[i])
			}
		}
	}
	if !strings.Contains(first, "in 1.0 s it moved") {
		t.Errorf("the head of the table: %s", first)
	}
}
