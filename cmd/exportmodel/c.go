package exportmodel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// places is the number of speeds in the table of the C header.
const places = 48

// c writes a C99 header: constants, the steady curve, a table of it, and the step of the bristle.
func (f *file) c() error {
	id, top := f.name+"_friction", f.top()
	upper := strings.ToUpper(id)
	var bad []string
	num := func(x float64) string {
		s := strconv.FormatFloat(x, 'g', -1, 32)
		if math.IsInf(float64(float32(x)), 0) || x != 0 && math.Abs(x) < 1.2e-38 {
			bad = append(bad, fmt.Sprintf("%g", x))
		}
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s + "f"
	}
	define := func(name string, x float64, unit, doc string) {
		f.printf("#define %s_%s %s /* %s  %s */\n", upper, name, num(x), unit, doc)
	}

	// head
	f.printf("/*\n")
	for _, l := range f.notes() {
		f.printf(" * %s\n", strings.NewReplacer("*/", "* /", "/*", "/ *").Replace(l))
	}
	f.printf(" *\n * %s_steady(v)      friction of long sliding at the speed v: what a feed-forward adds\n", id)
	f.printf(" * %s_lookup(v)      the same by straight lines through a table, without exp and pow\n", id)
	if f.bristle != nil {
		f.printf(" * %s_step(s, v, dt) the bristle: mean friction over a step, exact for constant v and stable for any dt\n", id)
	}
	f.printf(" */\n#ifndef %s_H\n#define %s_H\n\n#include <math.h>\n\n", upper, upper)

	// constants
	sets := []struct {
		ending, doc string
		side
	}{{"", "", f.fore}}
	if f.sided() {
		sets = append(sets, sets[0])
		sets[0].doc, sets[1].doc, sets[1].ending, sets[1].side = " for v > 0", " for v < 0", "_BACK", f.back
	}
	for _, s := range sets {
		define("FC"+s.ending, s.fc, f.force, "Coulomb friction"+s.doc)
		define("FS"+s.ending, s.fs, f.force, "break-away friction"+s.doc)
		define("FV"+s.ending, s.fv, f.damping, "viscous friction"+s.doc)
	}
	define("OFFSET", f.offset, f.force, "constant "+f.forceName+" against the positive direction")
	if f.fall != none {
		define("VS", f.vs, f.speed, "Stribeck velocity")
	}
	if b := f.bristle; b != nil {
		define("SIGMA0", b.sigma0, f.stiffness, "stiffness of the bristle")
		define("SIGMA1", b.sigma1, f.damping, "damping of the bristle at rest")
	}
	f.printf("\n")

	// level and viscosity of the direction of v
	pick := func(name string) string {
		if f.sided() {
			return fmt.Sprintf("(v < 0.0f ? %s_%s_BACK : %s_%s)", upper, name, upper, name)
		}
		return upper + "_" + name
	}
	fn := func(head, doc string, body ...string) {
		f.printf("/* %s */\nstatic inline float %s_%s\n{\n    %s\n}\n\n", doc, id, head, strings.Join(body, "\n    "))
	}
	level := "return fc;"
	if f.root != 0 {
		level = fmt.Sprintf("return fc - %s * sqrtf(fabsf(v));", num(f.root))
	}
	body := []string{fmt.Sprintf("const float fc = %s;", pick("FC"))}
	if !f.sided() && f.fall == none && f.root == 0 {
		body = append(body, "(void)v;")
	}
	if f.fall != none {
		body = append(body, fmt.Sprintf("const float r = fabsf(v) * %s; /* |v|/vs */", num(1/f.vs)))
		share := "expf(-r * r)"
		switch {
		case f.fall == lorentz:
			share = "1.0f / (1.0f + r * r)"
		case f.delta == 1:
			share = "expf(-r)"
		case f.delta != 2:
			share = fmt.Sprintf("expf(-powf(r, %s))", num(f.delta))
		}
		level = fmt.Sprintf("return fc + (%s - fc) * %s;", pick("FS"), share)
	}
	viscous := fmt.Sprintf("%s * v", pick("FV"))
	if f.power != 1 {
		viscous = fmt.Sprintf("copysignf(%s * powf(fabsf(v), %s), v)", pick("FV"), num(f.power))
	}
	if f.curve == nil {
		fn("level(float v)", "friction without its viscous part, "+f.force+", at v ("+f.speed+")", append(body, level)...)
	}

	// table
	speeds, forward, backward, worst := f.table(top)
	array := func(name, unit string, xs []float64) {
		f.printf("static const float %s_table_%s[%d] = { /* %s */\n", id, name, len(xs), unit)
		for i := 0; i < len(xs); i += 8 {
			f.printf("   ")
			for _, x := range xs[i:min(i+8, len(xs))] {
				f.printf(" %s,", num(x))
			}
			f.printf("\n")
		}
		f.printf("};\n")
	}
	f.printf("/* Friction over speed, without the offset. Straight lines between the speeds are off by %.2g %s at most, up to %.4g %s;\n * behind the last one the line goes on. */\n", worst, f.force, top, f.speed)
	array("v", f.speed, speeds)
	array("f", f.force, forward)
	table := id + "_table_f"
	if f.sided() {
		array("f_back", f.force, backward)
		table = fmt.Sprintf("(v < 0.0f ? %s_table_f_back : %s_table_f)", id, id)
	}
	f.printf("\n")
	fn("lookup(float v)", "friction of long sliding, "+f.force+", at v ("+f.speed+") by the table; at rest the offset",
		fmt.Sprintf("const float *x = %s_table_v, *y = %s, s = fabsf(v);", id, table),
		fmt.Sprintf("int lo = 0, hi = %d;", len(speeds)-1),
		fmt.Sprintf("if (v == 0.0f)\n        return %s_OFFSET;", upper),
		"while (hi - lo > 1) {\n        const int mid = (lo + hi) / 2;\n        if (s < x[mid])\n            hi = mid;\n        else\n            lo = mid;\n    }",
		fmt.Sprintf("return copysignf(y[lo] + (y[hi] - y[lo]) * (s - x[lo]) / (x[hi] - x[lo]), v) + %s_OFFSET;", upper))

	// steady curve
	switch {
	case f.curve != nil:
		fn("steady(float v)", "friction of long sliding, "+f.force+", at v ("+f.speed+"): this law has no short formula, so the table stands for it",
			fmt.Sprintf("return %s_lookup(v);", id))
	case f.root != 0:
		fn("steady(float v)", "friction of long sliding, "+f.force+", at v ("+f.speed+"); at rest the offset. Where the curve is below zero there is none",
			fmt.Sprintf("const float f = %s_level(v) + %s * fabsf(v);", id, pick("FV")),
			fmt.Sprintf("return (v == 0.0f || f < 0.0f ? 0.0f : copysignf(f, v)) + %s_OFFSET;", upper))
	default:
		fn("steady(float v)", "friction of long sliding, "+f.force+", at v ("+f.speed+"); at rest the offset",
			fmt.Sprintf("if (v == 0.0f)\n        return %s_OFFSET;", upper),
			fmt.Sprintf("return copysignf(%s_level(v), v) + %s + %s_OFFSET;", id, viscous, upper))
	}

	// bristle
	if b := f.bristle; b != nil {
		f.printf("/* Mean deflection of the bristles, %s; 0: relaxed. */\ntypedef struct {\n    float z;\n} %s_state;\n\n", f.length, id)
		rate := fmt.Sprintf("%s_SIGMA0 / g", upper)
		if b.path != 0 {
			rate = num(1 / b.path)
		}
		sigma1 := upper + "_SIGMA1"
		if b.vd != 0 {
			sigma1 += fmt.Sprintf(" * expf(-(v * v) * %s)", num(1/(b.vd*b.vd)))
		}
		fn(fmt.Sprintf("step(%s_state *s, float v, float dt)", id),
			"mean friction, "+f.force+", over a step of dt > 0 (s) at the mean speed v ("+f.speed+"), and the bristle at its end",
			fmt.Sprintf("const float g = %s_level(v);", id),
			fmt.Sprintf("const float a = fabsf(v) * dt * %s; /* relaxation in this step */", rate),
			"const float gone = -expm1f(-a);",
			"/* 1 - gone/a, by its series where the difference would cancel */",
			"const float mean = a < 0.25f ? a * (0.5f - a * (1.0f / 6.0f - a * (1.0f / 24.0f - a * (1.0f / 120.0f)))) : 1.0f - gone / a;",
			fmt.Sprintf("const float force = %s_SIGMA0 * s->z, miss = copysignf(g, v) - force;", upper),
			fmt.Sprintf("const float dz = miss * gone / %s_SIGMA0;", upper),
			"s->z += dz;",
			fmt.Sprintf("return force + miss * mean + %s * (dz / dt) + %s + %s_OFFSET;", sigma1, viscous, upper))
	}
	f.printf("#endif\n")
	if bad != nil {
		return fmt.Errorf("the numbers %s do not fit into a float of C", strings.Join(bad, ", "))
	}
	return nil
}

// top is the speed up to which the table goes (m/s or rad/s).
func (f *file) top() float64 {
	switch {
	case f.vs > 0:
		return 100 * f.vs
	case f.curve != nil:
		return 100 * f.Law.Stiffness().Speed
	}
	return 10
}

// table is the steady curve without the offset at speeds that lie the closer the slower (m/s, N), forward and backward, and the largest error of
// straight lines between them (N).
func (f *file) table(top float64) (speeds, forward, backward []float64, worst float64) {
	at := func(v float64) float64 { return math.Abs(f.steady(v) - f.offset) }
	for i := range places {
		v := top * math.Pow(10, 4*(float64(i)/(places-1)-1))
		if i == 0 {
			v = 0
		}
		s := max(v, math.SmallestNonzeroFloat64) // the limit of sliding at rest
		if f.curve != nil {
			s = max(v, top*1e-9)
		}
		speeds, forward, backward = append(speeds, v), append(forward, at(s)), append(backward, at(-s))
		if i == 0 {
			continue
		}
		for k := 1; k < 16; k++ {
			q := float64(k) / 16
			s := speeds[i-1] + q*(v-speeds[i-1])
			worst = max(worst, math.Abs(forward[i-1]+q*(forward[i]-forward[i-1])-at(s)), math.Abs(backward[i-1]+q*(backward[i]-backward[i-1])-at(-s)))
		}
	}
	return speeds, forward, backward, worst
}
