package identify

import "testing"

// What a machine leaves over is compared with the noise of the record, unless it is next to nothing of the output.
func TestResponseLacks(t *testing.T) {
	for _, c := range []struct {
		name string
		of   ResponseOutput
		want int
	}{
		{"noise", ResponseOutput{RMS: 1.1e-3, Record: 1e-3, Percent: 99}, 0},
		{"noise that depends on its neighbours", ResponseOutput{RMS: 4e-3, Record: 1e-3, Percent: 99}, 0},
		{"a gear that is wrong", ResponseOutput{RMS: 0.129, Record: 2.8e-5, Percent: 91.7}, 1},
		{"play", ResponseOutput{RMS: 0.0104, Record: 2.2e-4, Percent: 99.93}, 1},
		{"rounding of a record without noise", ResponseOutput{RMS: 1e-7, Record: 0, Percent: 99.999}, 0},
	} {
		if got := (&Response{Outputs: []ResponseOutput{c.of}}).lacks(); len(got) != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
