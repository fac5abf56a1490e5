package schema

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/unit"
	"pgregory.net/rapid"
)

// The expected factors follow from the definitions of the units, written out by hand.
func TestParseUnit(t *testing.T) {
	for _, c := range []struct {
		text   string
		factor float64
		si     string
		same   string // a unit of the same dimension
	}{
		{"", 1, "", "1"},
		{"1", 1, "", "%"},
		{"mN·m/A", 1e-3, "N·m/A", "kg·m²/(s²·A)"},
		{"mNm/A", 1e-3, "N·m/A", "N·m/A"},
		{"mV/rpm", 1e-3 * 60 / (2 * math.Pi), "V/(rad/s)", "V·s/rad"},
		{"g·cm²", 1e-7, "kg·m²", "kg·m²"},
		{"kg", 1, "kg", "g"},
		{"rpm", 2 * math.Pi / 60, "rad/s", "deg/s"},
		{"deg/s", math.Pi / 180, "rad/s", "rad/s"},
		{"turn", 2 * math.Pi, "rad", "°"},
		{"krad/s²", 1e3, "rad/s²", "rpm/s"},
		{"N·m/√s", 1, "N·m/√s", "N·m·s^-0.5"},
		{"mN·m/√ms", 1e-3 / math.Sqrt(1e-3), "N·m/√s", "N·m/s^(1/2)"},
		{"N·m·s/rad", 1, "N·m·s/rad", "N·m/(rad/s)"},
		{"N*m s", 1, "N·m·s", "J·s"},
		{"kg m^2 s^-2", 1, "kg·m²·s⁻²", "J"},
		{"µΩ", 1e-6, "ohm", "mohm"},
		{"u\u2126", 1e-6, "ohm", "V/A"}, // Ohm sign
		{"\u03bcs", 1e-6, "s", "min"},   // Greek mu
		{"1/K", 1, "1/K", "K^-1"},       // temperature coefficient
		{"%/K", 1e-2, "1/K", "ppm/K"},   //
		{"40 kB"[3:], 1e3, "B", "MiB"},  //
		{"GiB", 1 << 30, "B", "B"},      //
		{"h", 3600, "s", "min"},         // hour, not hecto
		{"min", 60, "s", "s"},           // minute, not milli-inch
		{"Pa", 1, "Pa", "N/m²"},         // pascal, not peta-ampere
		{"V/ms", 1e3, "V/s", "V·Hz"},    // slew
		{"(N·m)²/(A²·Ω)", 1, "(N·m)²/(A²·ohm)", "N·m·s"},
		{"1/s", 1, "1/s", "Hz"},
		{"dm³", 1e-3, "m³", "mm³"},
		{"dam", 10, "m", "m"},
	} {
		u, err := ParseUnit(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if math.Abs(u.Factor/c.factor-1) > 4e-16 || u.SI != c.si || u.Offset != 0 {
			t.Errorf("%q: factor %v SI %q offset %v, want %v %q", c.text, u.Factor, u.SI, u.Offset, c.factor, c.si)
		}
		if v, err := ParseUnit(c.same); err != nil || v.Dim != u.Dim {
			t.Errorf("%q and %q: dimensions %v and %v (%v)", c.text, c.same, u.Dim, v.Dim, err)
		}
	}
}

// Angle is a dimension: these pairs differ by 2π or by a lost radian, and must never pass for each other.
func TestAngleIsADimension(t *testing.T) {
	for _, c := range [][2]string{{"Hz", "rad/s"}, {"Hz", "rpm"}, {"1/s", "rad/s"}, {"N·m", "N·m/rad"}, {"N·m·s", "N·m·s/rad"},
		{"rad", "1"},
		{"turn", "1"}} {
		a, errA := ParseUnit(c[0])
		b, errB := ParseUnit(c[1])
		if errA != nil || errB != nil || a.Dim == b.Dim {
			t.Errorf("%s and %s are the same to us (%v, %v)", c[0], c[1], errA, errB)
		}
	}
}

func TestParseUnitRefuses(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"N·m/rad·s", "ambiguous"},
		{"V/m s", "ambiguous"},
		{"furlong", "is not a unit"},
		{"hz", "write Hz"},
		{"mHZ", `did you mean "mHz"`},
		{"ohms", "write ohm"},
		{"inch", "25.4"},
		{"m2", "write a power as m²"},
		{"s-1", "s^-1"},
		{"m^7.3", "whole and half numbers"},
		{"m^0", "whole and half numbers"},
		{"(N·m", "not closed"},
		{"N·", "ends where a unit should follow"},
		{"N/", "ends where a unit should follow"},
		{"degC/W", "for differences write K"},
		{"degC²", "for differences write K"},
		{"kdegC", "is not a unit"},
		{"mmin", "is not a unit"},
		{"10 V", "only 1 may stand there"},
		{"V)", "unexpected"},
		{"V!", "unexpected"},
		{strings.Repeat("(", 20), "brackets too deep"},
		{strings.Repeat("m·", 40) + "m", "at most 64"},
		{"(m^9)^9", "within ±30"},
	} {
		if u, err := ParseUnit(c.text); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: got %+v, error %v, want an error with %q", c.text, u, err, c.says)
		}
	}
}

// The dimensions of the derived units agree with those of an independent table, gonum/unit.
func TestDimensionsAgreeWithGonum(t *testing.T) {
	dims := []unit.Dimension{unit.LengthDim, unit.MassDim, unit.TimeDim, unit.CurrentDim, unit.TemperatureDim, unit.MoleDim,
		unit.LuminousIntensityDim, unit.AngleDim}
	for name, q := range map[string]unit.Uniter{
		"m": unit.Metre, "kg": unit.Kilogram, "s": unit.Second, "A": unit.Ampere, "K": unit.Kelvin, "mol": unit.Mol, "cd": unit.Candela,
		"rad": unit.Rad,
		"Hz":  unit.Hertz, "N": unit.Newton, "Pa": unit.Pascal, "J": unit.Joule, "W": unit.Watt, "C": unit.Coulomb, "V": unit.Volt,
		"ohm": unit.Ohm, "S": unit.Siemens,
		"F": unit.Farad, "H": unit.Henry, "Wb": unit.Weber, "T": unit.Tesla, "N·m": unit.Newtonmetre, "m/s²": unit.Acceleration(1),
		"m³": unit.Volume(1),
	} {
		u, err := ParseUnit(name)
		if err != nil {
			t.Error(err)
			continue
		}
		want := q.Unit().Dimensions()
		for i, d := range dims {
			if int(u.Dim[i]) != 2*want[d] {
				t.Errorf("%s: exponent of %v is %d/2, gonum says %d", name, d, u.Dim[i], want[d])
			}
		}
	}
}

// Whatever is composed of known units parses, and its SI text is a unit of the same dimension with factor 1.
func TestUnitProperties(t *testing.T) {
	var names []string
	for n, a := range atoms {
		if a.si == "degC" {
			continue
		}
		names = append(names, n)
		if a.prefix {
			names = append(names, "m"+n, "k"+n, "µ"+n)
		}
	}
	for _, n := range names {
		if _, err := ParseUnit(n); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{"rpm·Nm": "(rad/s)·N·m", "Nm·rpm·s": "N·m·(rad/s)·s"} {
		if u, err := ParseUnit(text); err != nil || u.SI != want {
			t.Errorf("%s: %q, want %q; %v", text, u.SI, want, err)
		} else if v, err := ParseUnit(u.SI); err != nil || v.SI != u.SI {
			t.Errorf("%s: %q became %q; %v", text, u.SI, v.SI, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names)
		power := rapid.SampledFrom([]string{"", "", "²", "³", "^-1", "^0.5"})
		part := func(label string) string { return name.Draw(t, label) + power.Draw(t, label+" power") }
		text := part("a") + "·" + part("b")
		if rapid.Bool().Draw(t, "quotient") {
			text += "/(" + part("c") + " " + part("d") + ")"
		}
		u, err := ParseUnit(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		v, err := ParseUnit(u.SI)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, u.SI, err)
		}
		if v.Dim != u.Dim || v.Factor != 1 || v.SI != u.SI {
			t.Fatalf("%q became %q, which is %+v", text, u.SI, v)
		}
	})
}

func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       float64
	}{
		{"2 kHz", "Hz", 2000},
		{"1500", "Hz", 1500},
		{"12mN·m", "N·m", 0.012},
		{"60 rpm", "rad/s", 2 * math.Pi},
		{"20 degC", "K", 293.15},
		{"300 K", "degC", 26.850000000000023},
		{"21.5 degC", "degC", 21.5},
		{"50 ppm", "ppm", 50},
		{"0.005 %", "ppm", 50},
		{"90 %", "1", 0.9},
		{"−3 V", "V", -3}, // typographic minus
		{".5e-3 s", "ms", 0.5},
		{"2π/65536", "rad", 9.587379924285257e-05},
		{"-2 π / 65536 rad", "rad", -9.587379924285257e-05},
		{"2*pi/65536", "1", 9.587379924285257e-05},
		{"π rad", "rad", 3.141592653589793},
		{"180/4 deg", "rad", 0.7853981633974483},
		{"1/4 mV", "V", 0.00025},
		{"3 1/s", "Hz", 3},
		{"1m30s", "s", 90},
		{"1 h 2 min 3.5 s", "s", 3723.5},
		{"2h30m", "s", 9000},
		{"−1min0.25s", "s", -60.25},
		{"1m30s", "min", 1.5},
	} {
		got, err := ParseValue(c.text, c.unit)
		if err != nil || math.Abs(got-c.want) > 1e-15*math.Max(1, math.Abs(c.want)) {
			t.Errorf("%q in %s: %v, %v, want %v", c.text, c.unit, got, err, c.want)
		}
	}
	for _, c := range []struct{ text, unit, says string }{
		{"10 Hz", "rad/s", "1 Hz = 2π rad/s"},
		{"10 rad/s", "Hz", "2π rad/s = 1 Hz"},
		{"3 N·m", "N·m/rad", "the angle counts: write N·m/rad"},
		{"3 V", "A", "3 V\" is in V (voltage), want A (current)"},
		{"10 m", "s", "minutes are written min"},
		{"10 mm", "s", "is in m (length), want s (time)"},
		{"1m30s", "m", "(time), want m (length)"},
		{"30s1m", "s", "write a power as"},
		{"1m30s2", "s", "write a power as"},
		{"1e999", "V", "beyond all floating-point numbers"},
		{"NaN", "V", "only finite numbers"},
		{"1/0 V", "V", `unexpected "/"`},
		{"2pint", "1", "is not a unit"},
		{"2π/", "1", "/"},
		{"+Inf", "V", "only finite numbers"},
		{"1,5 V", "V", "decimals are written with a point"},
		{"1_000", "V", "without _"},
		{"010", "V", "leading zero"},
		{"1.2.3", "V", "is not a number"},
		{"V", "V", "is not a number"},
		{"", "V", "is not a number"},
	} {
		if got, err := ParseValue(c.text, c.unit); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q in %s: %v, %v, want an error with %q", c.text, c.unit, got, err, c.says)
		}
	}
}

// Decimal prefixes cost no rounding: "0.3 mH" is the float64 nearest to 0.0003.
func TestPrefixesAreExact(t *testing.T) {
	for text, want := range map[string]float64{"0.3 mH": 0.0003, "600 µH": 0.0006, "21 mH": 0.021, "4.7 nH": 4.7e-9, "1.1 kH": 1100,
		"1e3 mH": 1} {
		if got, err := ParseValue(text, "H"); err != nil || got != want {
			t.Errorf("%s is %v, want %v exactly (%v)", text, got, want, err)
		}
	}
}

func FuzzParseUnit(f *testing.F) {
	for n := range atoms {
		f.Add(n)
	}
	f.Add("mN·m/(rad·√s)^-0.5")
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseUnit(s)
		if err != nil {
			return
		}
		if !(u.Factor > 0) || math.IsInf(u.Factor, 0) {
			t.Fatalf("%q: factor %v", s, u.Factor)
		}
		v, err := ParseUnit(u.SI)
		if err == nil && v.Dim != u.Dim || err != nil && len(u.SI) <= maxUnit {
			t.Fatalf("%q became %q: %v", s, u.SI, err)
		}
	})
}
