package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"sigma0", "sigma1", "Fc", "Fs", "0", "temperature", "rate", "kp"}
	for word, want := range map[string]string{"sgima0": "sigma0", "sigma": "sigma0", "Sigma1": "sigma1", "temprature": "temperature",
		"tmepratuer": "temperature", "rat": "rate", "frequency": "", "zz": "", "kd": "kp", "t": ""} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if got := DidYouMean("rtae", known); got != ` (did you mean "rate"?)` {
		t.Error(got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"ttyUSB0", "ttyUSB1", 1}, {"kitten", "sitting", 3}, {"", "abc", 3}, {"same", "same", 0}, {"ab", "ba", 1}, {"ca", "abc", 3},
		{"Kraft", "Krä", 3}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
