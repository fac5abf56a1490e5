package contact

import (
	"math"
	"testing"
)

// rocker is a body (1 kg) that stands on its two ends, 1 m to either side: y up, phi turning. Its moment of inertia is so large
// that the stop of one end lifts the other.
type rocker struct{ j float64 }

func (r rocker) DOF() int                                     { return 2 }
func (r rocker) Mass(_ float64, _, m []float64)               { m[0], m[1], m[2], m[3] = 1, 0, 0, r.j }
func (r rocker) Force(_ float64, _, _ []float64, f []float64) { f[0], f[1] = -9.81, 0 }

func (r rocker) Contacts(_ float64, q, _ []float64, reach float64, set *Set) {
	set.Clear()
	for i, a := range [2]float64{-1, 1} {
		if gap := q[0] + a*q[1]; gap <= reach {
			k := set.Add(uint32(i+1), Law{}, gap)
			copy(set.RowN(k), []float64{1, a})
		}
	}
}

// Without restitution an end leaves with the share (J − 1)/(J + 1) of the speed at which the other one hits: the body rocks from
// √(2·2g/(J + 1)·2 µm) down to VChatter, and then stands on both ends.
func TestRockingEndsBelowVChatter(t *testing.T) {
	const j, chatter, tilt = 50, 1e-5, 1e-6
	e, err := NewEventDriven(rocker{j}, EventOptions{VTh: 1, VChatter: chatter})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(0, []float64{tilt, tilt}, []float64{0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(1, nil); err != nil {
		t.Fatal(err)
	}
	fall := math.Sqrt(2 * (2 * 9.81 / (j + 1)) * 2 * tilt)
	want := math.Ceil(math.Log(chatter/fall) / math.Log((j-1.)/(j+1.)))
	if math.Abs(float64(e.Impacts)-want) > 1 {
		t.Errorf("%d impacts, want %g", e.Impacts, want)
	}
	if f := e.Forces(nil); len(f) != 2 || math.Abs(f[0].N-9.81/2) > 1e-9 || math.Abs(f[1].N-9.81/2) > 1e-9 {
		t.Errorf("at the end %+v", f)
	}
}
