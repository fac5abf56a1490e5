package identify

import (
	"math"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// drivenKinds are records whose force is lost in part on its way, or whose motion tells one force from another badly.
var drivenKinds = []kind{
	{name: "dead zone of the force", make: func(b *bench) trial {
		return edited(drivetrain{}.record(b, b.tones(0.6, 1.9, 4.3)), func(d *record.Record) {
			lost := 0.05 * rmsOf(d.Force)
			for k, f := range d.Force {
				d.Force[k] = math.Copysign(math.Max(math.Abs(f)-lost, 0), f)
			}
		})
	}},
	{name: "force that stays behind", make: func(b *bench) trial {
		return edited(drivetrain{}.record(b, b.tones(0.6, 1.9, 4.3)), func(d *record.Record) {
			play, at := 0.05*rmsOf(d.Force), d.Force[0]
			for k, f := range d.Force {
				at = math.Min(math.Max(at, f-play), f+play)
				d.Force[k] = at
			}
		})
	}},
	{name: "to and fro at one speed", make: func(b *bench) trial { b.toAndFro(0.08); return b.record(nil) }},
	{name: "to and fro at one speed, position behind 6 ms", make: func(b *bench) trial {
		b.toAndFro(0.08)
		return b.record(func(_ *independent.Trace, d *record.Record) {
			d.Position = behind(d.Position, b.dt, 6e-3)
			b.count(d.Position)
		})
	}},
	{name: "to and fro at one speed, force behind 6 ms", make: func(b *bench) trial {
		b.toAndFro(0.08)
		return b.record(func(_ *independent.Trace, d *record.Record) { d.Force = behind(d.Force, b.dt, 6e-3) })
	}},
}

// toAndFro is a reference of one speed that turns within the given time (s).
func (b *bench) toAndFro(turn float64) {
	speed, half := 0.25+0.15*b.rng.Float64(), 0.35+0.1*b.rng.Float64()
	b.ref = func(t float64) float64 {
		in := math.Mod(t+half/2, 2*half)
		side := 1.0
		if in > half {
			in, side = in-half, -1
		}
		from := math.Abs(in - half/2) // s, from the middle of the way
		way := math.Copysign(speed*from, in-half/2)
		if late := from - (half-turn)/2; late > 0 { // the speed falls evenly to zero
			way = math.Copysign(speed*(from-late*late/turn), in-half/2)
		}
		return side * way * smoothstep(t/0.3)
	}
}

func rmsOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}

// No value of such a record is identified with an interval that misses it, under any verdict.
func TestForceThatIsLost(t *testing.T) {
	for _, k := range drivenKinds {
		told := 0
		for seed := range uint64(4) {
			tr := k.make(newBench(100*seed+31, 10))
			o := attempt(kind{}, tr)
			if o.result == nil {
				continue
			}
			if o.verdict == Identified {
				told++
			}
			for i := range o.result.Parameters {
				p := &o.result.Parameters[i]
				truth, known := tr.truth[p.Name]
				if !known || p.CI == nil || p.Worth != string(Identified) || p.Name == "offset" {
					continue
				}
				mid, half := (p.CI[0]+p.CI[1])/2, (p.CI[1]-p.CI[0])/2
				if math.Abs(truth-mid) > clearly*half && math.Abs(p.Value-truth) > off*math.Abs(truth) {
					t.Errorf("%s, seed %d: %s is %.4g (%.4g), true %.4g, identified; the record is %s", k.name, seed, p.Name, p.Value, *p.CI, truth,
						o.verdict)
				}
			}
		}
		t.Logf("%s: %d identified", k.name, told)
	}
}
