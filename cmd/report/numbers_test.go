package report

import (
	"math"
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
		"0.1 ms": 100 * time.Microsecond, "1h": time.Hour} {
		if err := f.Set(text); err != nil || d != want {
			t.Errorf("%s is %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "x", "1 m", "1e300", "NaN", "inf", "10 V"} {
		if err := f.Set(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}
