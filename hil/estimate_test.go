package hil

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
)

// sampledBy is a controller fed by hand: position, current and the age of both.
type sampledBy struct {
	*Controller
	r Row
	k Blocks
}

func newSampledBy(t *testing.T) *sampledBy {
	b, _ := spoiledBench(t, 8)
	s := b.controller.s
	s.Meas = append(s.Meas[:2:2], engine.Signal{Name: "link.age", Unit: "s"})
	s.Guard.Meas = append(s.Guard.Meas[:2:2], MeasLimit{Age: true})
	s.Age = 2
	c, err := NewController(s)
	if err != nil {
		t.Fatal(err)
	}
	p := &sampledBy{Controller: c}
	p.k.Meas, p.k.Est, p.k.Model, p.k.Cmd = c.schema.Blocks(&p.r)
	p.r.T = 5e9
	return p
}

// tick is a millisecond later: which of position (1) and current (2) are new, the position (rad), the age of the samples (s).
func (p *sampledBy) tick(fresh uint64, theta, age float64) {
	p.r.T += 1e6
	p.r.Fresh, p.r.Flags = fresh, 0
	if fresh != 0 {
		p.r.Fresh |= 4
	}
	p.k.Meas[0], p.k.Meas[1], p.k.Meas[2] = theta, 0, age
	p.estimate(&p.r, &p.k)
}

// What a sample is used for: the least squares get position and current together or not at all, a position that is missing makes the
// estimate old although currents come, and what is refused is told, whether by its range or by what the axis can do.
func TestUseOfSamples(t *testing.T) {
	p := newSampledBy(t)
	for range 200 {
		p.tick(3, 0.5, 0)
	}
	if p.missing != 0 || p.stale() || !p.came || p.r.Flags&FlagRefused != 0 || p.r.Flags&FlagUnexcited == 0 {
		t.Fatalf("at rest: missing %g, age %g, came %v, flags %b", p.missing, p.age, p.came, p.r.Flags)
	}
	for n := 1; n <= 8; n++ {
		p.tick(2, 0.5, 0)
		if want := float64(n) * 1e-3; math.Abs(p.missing-want) > 1e-9 || math.Abs(p.age-want) > 1e-9 || p.stale() != (n > 5) || p.came {
			t.Errorf("%d currents alone: missing %g s, age %g s, came %v", n, p.missing, p.age, p.came)
		}
	}
	p.tick(1, 0.5, 0)
	if math.Abs(p.missing-9e-3) > 1e-9 || p.age != 0 || !p.came {
		t.Errorf("a position alone: missing %g s, age %g s, came %v", p.missing, p.age, p.came)
	}
	p.tick(0, 0.5, 1e-3)
	if p.came || math.Abs(p.age-1e-3) > 1e-12 {
		t.Errorf("no sample: came %v, age %g s", p.came, p.age)
	}
	p.tick(3, 0.5, 0)
	if p.missing != 0 {
		t.Errorf("both: missing %g s", p.missing)
	}
	for _, theta := range []float64{101, 3} { // out of range, out of reach
		p.tick(3, theta, 0)
		if p.r.Flags&FlagRefused == 0 || p.came || p.missing == 0 {
			t.Errorf("%g rad: flags %b, came %v, missing %g s", theta, p.r.Flags, p.came, p.missing)
		}
		for range 20 {
			p.tick(3, 0.5, 0)
		}
		if p.r.Flags&FlagRefused != 0 {
			t.Errorf("%g rad: still refused", theta)
		}
	}
}

// The estimate is carried from the sample to now, 20 periods far and no further.
func TestCarriedToNow(t *testing.T) {
	for _, c := range []struct {
		age     float64 // s
		carried bool
	}{{0, false}, {1e-3, true}, {19.9e-3, true}, {20e-3, false}, {50e-3, false}} {
		p := newSampledBy(t)
		p.before = Run
		const omega = 3.0
		theta := 0.0
		for n := range 400 {
			p.k.Cmd[0] = p.s.Motor.K * omega
			theta = omega * 1e-3 * float64(n)
			p.tick(3, theta, c.age)
		}
		var x [4]float64
		p.kf.State(x[:])
		moved := p.k.Est[ePos] - x[0]
		if c.carried && math.Abs(moved-omega*c.age) > 0.1*omega*c.age || !c.carried && moved != 0 {
			t.Errorf("samples %g s old: carried by %g rad, at %g rad/s", c.age, moved, x[1])
		}
	}
	p := newSampledBy(t) // nothing yet: nothing to carry
	p.tick(0, 0, 1e-3)
	if p.k.Est[ePos] != 0 || p.k.Est[eVel] != 0 {
		t.Errorf("before the first sample: %v", p.k.Est[:4])
	}
}

// The voltage of a stretch of time: pieces that follow one another and together are the integral of the held commands, whether or not
// several commands make one piece; a sampling period has nine pieces at most beside those cut at its ends.
func TestVoltageBetween(t *testing.T) {
	c := commands{tick: 1e-3}
	for k := range 100 {
		c.add(math.Sin(0.7*float64(k)), 1)
	}
	held := func(ago float64) float64 { return c.mean(int(ago/c.tick), int(ago/c.tick)) } // of the tick that ended so many s ago or later
	for _, period := range []float64{1e-3, 10e-3, 20e-3, 50e-3} {
		group := max(1, int(period/c.tick/8))
		for _, from := range []float64{0.7e-3, 2.3e-3, 17.25e-3, 50.5e-3} {
			for _, to := range []float64{0, 0.4e-3, 1.6e-3} {
				if to >= from {
					continue
				}
				span, sum, pieces := 0.0, 0.0, 0
				c.between(from, to, period, func(dt, u float64) {
					if dt <= 0 {
						t.Fatalf("a piece of %g s", dt)
					}
					span, sum, pieces = span+dt, sum+u*dt, pieces+1
				})
				want, fine := 0.0, 1e-6
				for ago := to + fine/2; ago < from; ago += fine {
					want += held(ago) * fine
				}
				if math.Abs(span-(from-to)) > 1e-12 {
					t.Errorf("period %g, %g to %g s ago: pieces of %g s", period, from, to, span)
				}
				// a group that is cut stands for its mean
				if off := math.Abs(sum - want); group == 1 && off > 1e-6 || off > 2*float64(group)*c.tick {
					t.Errorf("period %g, %g to %g s ago: %g V·s, want %g", period, from, to, sum, want)
				}
				if most := int((from-to)/c.tick/float64(group)) + 2; pieces > most {
					t.Errorf("period %g, %g to %g s ago: %d pieces, want %d at most", period, from, to, pieces, most)
				}
			}
		}
	}
}

// The raster follows an oscillator 3 % off, and no more than 5 %; how far samples lie off it is known.
func TestRasterOfSamples(t *testing.T) {
	const nominal = 1e-3
	for _, c := range []struct{ real, want float64 }{{1.03, 1.03}, {0.97, 0.97}, {1, 1}} {
		var s sampleTime
		for k := range 20000 {
			s.advance(int64(float64(k)*c.real*1e6), nominal)
		}
		if got := s.period / 1e6; math.Abs(got-c.want) > 1e-4 || math.Sqrt(s.off2) > 1e-3*1e6 {
			t.Errorf("%g: period %g, samples %g ns off", c.real, got, math.Sqrt(s.off2))
		}
	}
	for _, real := range []float64{1.2, 0.8} {
		var s sampleTime
		for k := range 20000 {
			s.advance(int64(float64(k)*real*1e6), nominal)
			if p := s.period / 1e6; p > 1.05+1e-12 || p < 0.95-1e-12 {
				t.Fatalf("%g: period %g", real, p)
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for _, sd := range []float64{0.02, 0.1} { // of a period
		var s sampleTime
		mean := 0.0
		for k := range 4000 {
			s.advance(int64((float64(k)+sd*rng.NormFloat64())*1e6), nominal)
			if k >= 1000 {
				mean += s.off2 / 3000
			}
		}
		if got := math.Sqrt(mean) / 1e6; math.Abs(got/sd-1) > 0.1 {
			t.Errorf("scatter of %g periods is taken for %g", sd, got)
		}
	}
	var s sampleTime // a clock that is set counts as five periods at most
	for k := range 1000 {
		s.advance(int64(k)*1e6, nominal)
	}
	s.advance(int64(0.3e9), nominal) // back
	if got := math.Sqrt(s.off2) / 1e6; math.Abs(got-0.5) > 1e-3 {
		t.Errorf("after a jump of the clock samples are %g periods off, want 0.5: five in one of a hundred", got)
	}
}
