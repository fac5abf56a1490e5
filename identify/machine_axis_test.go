package identify

import (
	"context"
	"slices"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Sensors of torque on the link know no rotor: an armature that makes nothing of the torques rejects nothing, late or not.
func TestTorqueOnTheLink(t *testing.T) {
	for seed := range uint64(4) {
		b := newArmBench(seed+40, 2)
		b.n = 5000
		for i := range b.arm.Links {
			b.arm.Links[i].Rotor = 0
		}
		recs := lateBy(1e-3)(b)
		m, err := b.model(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fitArm(m, b.spec, recs)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Rejected {
			t.Errorf("seed %d: %s: %v", seed, r.Verdict, r.Because())
		}
	}
}

// A joint that moves in one direction gives neither its Coulomb friction nor its offset; the others give theirs.
func TestJointThatMovesOneWay(t *testing.T) {
	b := newArmBench(77, 2)
	b.n, b.wrong = 5000, 1
	recs := armKinds[slices.IndexFunc(armKinds, func(k armKind) bool { return k.name == "one direction" })].make(b)
	m, err := b.model(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fitArm(m, b.spec, recs)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"l1.Fc": true, "l2.Fc": false, "l2.offset": false} {
		if p, ok := r.Param(name); !ok || (p.Worth == string(Identified)) != want || !want && p.Worth != NotIdentifiable {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if r.Verdict == Identified {
		t.Error("identified")
	}
}

// A machine of one joint and the same record as an axis have the same values, within their intervals, and the same verdict.
func TestMachineOfOneJointIsAnAxis(t *testing.T) {
	kinds := []struct {
		name string
		make func(b *armBench) [][]*record.Record
	}{
		{"clean", one((*armBench).led)},
		{"wild samples", spoiled(func(b *armBench, d []*record.Record) {
			for range 3 {
				d[0].Position[500+b.rng.IntN(b.n-1000)] += 0.01
			}
		})},
		{"slow encoder", spoiled(func(b *armBench, d []*record.Record) { // a new position every fourth sample
			x := d[0].Position
			for k := range x {
				x[k] = x[k-k%4]
			}
		})},
		{"one direction", armKinds[slices.IndexFunc(armKinds, func(k armKind) bool { return k.name == "one direction" })].make},
	}
	names := map[string]string{"l1.izz_R": "J", "l1.Fv": "Fv", "l1.Fc": "Fc", "l1.offset": "offset"}
	for _, k := range kinds {
		for seed := range uint64(2) {
			b := newArmBench(seed+90, 1)
			b.count, b.top, b.dt = 0, 3, 1e-3
			recs := k.make(b)
			m, err := b.model(nil)
			if err != nil {
				t.Fatal(err)
			}
			plan := Plan{Methods: Chain{"regress"}, Regress: linear.DefaultSpec(), Model: axis.Spec{Rotary: true}, Seed: 1}
			plan.Regress.Rotary = true
			own, err := fitArm(m, b.spec, recs)
			other, err2 := Run(context.Background(), plan, Records{Fit: recs[0]}, nil, nil)
			if (err == nil) != (err2 == nil) {
				t.Errorf("%s, seed %d: machine %v, axis %v", k.name, seed, err, err2)
			}
			if err != nil || err2 != nil {
				continue
			}
			for name, of := range names {
				x, _ := own.Param(name)
				y, _ := other.Param(of)
				if x == nil || y == nil || x.CI == nil || y.CI == nil {
					t.Errorf("%s, seed %d: no %s", k.name, seed, of)
					continue
				}
				if x.CI[0] > y.CI[1] || y.CI[0] > x.CI[1] {
					t.Errorf("%s, seed %d: %s is %.4g (%.4g to %.4g) as a machine and %.4g (%.4g to %.4g) as an axis", k.name, seed, of, x.Value, x.CI[0], x.CI[1], y.Value, y.CI[0], y.CI[1])
				}
			}
			if own.Verdict != other.Verdict {
				t.Errorf("%s, seed %d: machine %s %v, axis %s %v", k.name, seed, own.Verdict, own.Because(), other.Verdict, other.Because())
			}
		}
	}
}
