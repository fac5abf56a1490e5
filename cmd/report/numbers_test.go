package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestDigits(t *testing.T) {
	is := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		value float64
		err   *float64
		x     float64
		want  string
	}{
		{0.000120056, is(4.2e-7), 0.000120056, "120.06e-6"},
		{0.000120056, is(4.2e-7), 4.2e-7, "0.42e-6"},
		{0.000120056, nil, 0.000120056, "120.056e-6"},
		{7.064e-05, is(3.5e-07), -7.064e-05, "-70.64e-6"},
		{0.01493, is(1e-4), 0.01493, "0.01493"},
		{95.4, is(0.3), 95.4, "95.40"},
		{2.5e6, is(3e4), 2.5e6, "2.500e6"},
		{2.5e6, is(3e4), 1e13, "1e+13"},
		{0, is(0.2), 0, "0.00"},
		{0.02, is(math.Inf(1)), 1e12, "1e+12"},
	} {
		if got := Digits(c.value, c.err)(c.x); got != c.want {
			t.Errorf("%v with %v: %v is %s, want %s", c.value, c.err, c.x, got, c.want)
		}
	}
}

func TestNumbersOfPeople(t *testing.T) {
	for want, got := range map[string]string{
		"70.64e-6 kg·m²": WithUnit(7.064e-05, "kg·m²"), "600 µH": WithUnit(6e-4, "H"), "0.0015 m": WithUnit(1.5e-3, "m"),
		"-150 µN·m·s/rad": WithUnit(-1.5e-4, "N·m·s/rad"), "1 MHz": WithUnit(1e6, "Hz"), "999999 N": WithUnit(999999, "N"),
		"2e-6 m²": WithUnit(2e-6, "m²"), "1e-6 1/s": WithUnit(1e-6, "1/s"), "0 N": WithUnit(math.Copysign(0, -1), "N"),
		"20e-6": WithUnit(2e-5, ""), "1e-18 s": WithUnit(1e-18, "s"), "0.001 s": WithUnit(0.00099999999, "s"),
		"NaN m": WithUnit(math.NaN(), "m"), "+Inf m": WithUnit(math.Inf(1), "m"), "12300 rad/s": Prefixed(12345, 3, "rad/s"),
		"12.3 µm": Prefixed(1.2345e-5, 3, "m"), "1.235e-6|   10e-6|4e-9 |0.1|1e+00": fmt.Sprintf("%.4g|%8.2g|%-5g|%g|%.0e",
			Number(1.23456e-6), Number(1e-5), Number(4e-9), Number(0.1), Number(1)),
		"lag ± 21 µs; p = 30e-6, 1.25 µN·m. 12.5e6 rows of run-1e5.csv, 70e-6": Readable("lag ± 2.1e-05 s; p = 3e-05, 1.25e-06 N·m. 1.25e+07 rows " +
			"of run-1e5.csv, 7e-05"), "120.6e-12 m": Readable("120.6e-12 m"),
		"to ±1.5 µN·m·s instead of ±280 nN·m·s, 2e-6 instead of 0.1 kg": Readable("to ±1.5e-06 instead of ±2.8e-07 N·m·s, 2e-06 instead of 0.1 kg"),
		"±1.5 µm instead of ±0.1 m":                                     Readable("±1.5e-06 instead of ±0.1 m"),
		"0.0028 ± 0.0005":                                               PlusMinus(0.0028, 0.0005), "64.7e-6 ± 14.3e-6": PlusMinus(6.47e-5, 1.43e-5), "70e-6": PlusMinus(7e-5, 0),
		"−70.64·10⁻⁶": Typeset("-70.64e-6"), "1.2·10¹²": Typeset("1.2e+12"), "3·10⁻⁷": Typeset("3e-07"), "+0.5": Typeset("+0.5"), "–": Typeset("–"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWordsOfNumbers(t *testing.T) {
	for want, got := range map[string]string{"1.23 MB": Bytes(1_234_567), "999 B": Bytes(999), "1 kB": Bytes(1000), "1 MB": Bytes(999_900),
		"–": Span(0), "4.2 s": Span(4.2), "1 min 0 s": Span(59.99), "12 min 5 s": Span(725), "1 h 0 min": Span(3599.9),
		"3 h 2 min": Span(10920), "1 run": CountOf(1, "run"), "0 runs": CountOf(0, "run")} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	var d time.Duration
	f := Duration(&d, time.Second)
	for text, want := range map[string]time.Duration{"90": 90 * time.Second, "1m30s": 90 * time.Second, "5 min": 5 * time.Minute,
		"0.1 ms": 100 * time.Microsecond, "1h": time.Hour, "10m": 10 * time.Minute, "1 h 2 min": 62 * time.Minute,
		"12 min 5 s": 725 * time.Second, "1.5h": 90 * time.Minute} { // what Span and time.Duration print is read, too
		if err := f.Set(text); err != nil || d != want {
			t.Errorf("%s is %v, %v", text, d, err)
		}
	}
	var x float64
	for _, text := range []string{"0", "-1", "-1m30s", "0s"} {
		if err := PositiveSeconds(&x).Set(text); err == nil || !strings.Contains(err.Error(), "want > 0") {
			t.Errorf("%q is %v, %v", text, x, err)
		}
	}
	for _, text := range []string{"", "x", "1 m", "1e300", "NaN", "inf", "10 V"} {
		if err := f.Set(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
