package configs

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"hilrig/engine/plant/manipulator"
)

const manipulatorHead = `# Files of a chain on a beam

` + "`hil simulate FILE`" + ` takes a file with the key ` + "`manipulator`" + ` and lets the tip of a chain slide on an elastic beam:
[manipulator.yaml](../../configs/manipulator.yaml). What the numbers mean stands in [beam.md](beam.md). Numbers have units as in [config.md](config.md). This page is
made from the source: ` + "`make docs`" + `.

`

// docs/reference/beam-files.md is made from the tags.
func TestManipulatorDocs(t *testing.T) {
	c := DefaultManipulatorRun()
	c.Manipulator.Joints = []ManipulatorJoint{{Drive: &ManipulatorDrive{}}}
	current(t, "beam-files.md", manipulatorHead+Tables(c))
}

// The example is the one of the plant, number by number.
func TestManipulatorExample(t *testing.T) {
	c, warnings, err := LoadManipulatorRun("manipulator.yaml")
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	got, want := c.Params(), manipulator.Paper(1)
	if d := got.Joints[0].Drive.Start - want.Joints[0].Drive.Start; math.Abs(d) > 1e-15 {
		t.Errorf("the drive starts off by %g rad", d)
	}
	got.Joints[0].Drive.Start = want.Joints[0].Drive.Start
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// Bad numbers are named with their key, on both sides of their limit.
func TestBadManipulatorFiles(t *testing.T) {
	data, err := os.ReadFile("manipulator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"spring: 15 N/m", "spring: 15 N·m/rad", "manipulator.joints[2].spring: 15 N·m/rad is in N·m/rad"},
		{"spring: 4 N·m/rad", "spring: 4 N/m", "manipulator.joints[1].spring: 4 N/m is in N/m"},
		{"rest: 250 mm", "rest: 250 mrad", "manipulator.joints[2].rest"},
		{"kind: prismatic", "kind: screw", "manipulator.joints[2].kind"},
		{"mass: 0.5 kg", "mass: -0.5 kg", "manipulator.joints[1].mass"},
		{"inertia: 0.01 kg·m²", "inertia: 0 kg·m²", ""},
		{"drive: {start: -120 deg, rate: 1 rad/s, ramp: 0.1 s}", "drive: {start: -120 deg, rate: 1 rad/s, ramp: -0.1 s}",
			"manipulator.joints[0].drive.ramp"},
		{"drive: {start: -120 deg, rate: 1 rad/s, ramp: 0.1 s}", "drive: {start: -120 deg, rate: 1 rad/s, ramp: 0 s}", ""},
		{"elements: 10", "elements: 1001", "beam.elements"},
		{"elements: 10", "elements: 1000", ""},
		{"right: {kind: clamped}", "right: {kind: welded}", "beam.right.kind"},
		{"right: {kind: clamped}", "right: {kind: clamped, spring: 3 N/m}", "beam.right: stiffness is given to a support that is clamped"},
		{"right: {kind: clamped}", "right: {kind: elastic, spring: 3 N/m}", ""},
		{"young: 2.1e8 Pa", "young: 0 Pa", "beam.young"},
		{"duration: 1 s", "duration: 0 s", "duration"},
		{"every: 2 ms", "every: 2 ns", "rows in 1 s, at most"},
		{"every: 2 ms", "every: 2 ms\nmethod: {kind: step, step: 3 ms}", "no whole number of steps"},
		{"every: 2 ms", "every: 3 ms\nmethod: {kind: step, step: 1.5 ms}", ""},
		{"every: 2 ms", "every: 2 ms\nmethod: {kind: exact}", "method.kind"},
		{"every: 2 ms", "every: 2 ms\nmethod: {tolerance: 1e-14}", "method.tolerance"},
		{"version: 1", "version: 2", "reads version 1"},
		{"  tip: [300 mm, 0]", "  tip: [300 mm, 0]\n  friction: {law: karnopp, Fc: 1, Fs: 1.5, Fv: 0.4, Dv: 0.001}", "manipulator.friction"},
		{"  tip: [300 mm, 0]", "  tip: [300 mm, 0]\n  friction: {law: lugre, sigma0: 300, sigma1: 2, sigma2: 0.05, Fc: 0.3, Fs: 0.4, vs: 0.05, " +
			"vd: 0, N0: 1}", ""},
	} {
		text := strings.Replace(string(data), c.old, c.new, 1)
		if text == string(data) {
			t.Fatalf("%q is not in the example", c.old)
		}
		_, _, err := ManipulatorRunBytes("manipulator.yaml", []byte(text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}
