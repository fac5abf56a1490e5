package wire

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata anew")

// A recorded line, with its faults, and what was found in it when it was recorded: neither may ever change, since old
// recordings and rigs in the field must stay readable.
func TestRecorded(t *testing.T) {
	fields := []Field{{"axis.position", "rad", I32, 2 * math.Pi / 65536, 0, nil}, {"motor.current", "A", I16, 0.001, 0, nil},
		{"winding.temperature", "K", U8, 0.5, 233.15, nil}}
	if *update {
		if err := os.WriteFile("testdata/motor.link", record(fields), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := os.ReadFile("testdata/motor.link")
	if err != nil {
		t.Fatal(err)
	}
	dec, _ := NewLinkDecoder(fields, Measurement)
	var s strings.Builder
	for _, f := range collect(dec, stream, []int{1, 2, 3, 500}) {
		fmt.Fprintf(&s, "%d,%d", f.Seq, f.Time)
		for i := range fields {
			if s.WriteByte(','); f.FreshFields>>i&1 == 1 {
				fmt.Fprintf(&s, "%.9g", f.V[i])
			}
		}
		s.WriteByte('\n')
	}
	fmt.Fprintf(&s, "%+v\n", *dec.Counters())
	const golden = "testdata/motor.csv"
	if *update {
		if err := os.WriteFile(golden, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != string(want) {
		t.Errorf("decoded differently from %s:\n%s", golden, s.String())
	}
}

// record makes 200 frames of a swinging axis at 1 kHz, temperature every tenth only, with a fault every 16 frames or so.
func record(fields []Field) (stream []byte) {
	enc, _ := NewLinkEncoder(fields)
	rng := rand.New(rand.NewPCG(2024, 1))
	for k := range 200 {
		fresh := uint64(3)
		if k%10 == 0 {
			fresh = 7
		}
		at := len(stream)
		stream, _ = enc.Append(stream, Header{Kind: Measurement, Seq: uint8(k + 100), Time: wrapLink - 50e6 + int64(k)*1e6, FreshFields: fresh},
			[]float64{math.Sin(float64(k) / 30), 0.4 * math.Cos(float64(k)/30), 310 + float64(k)/100})
		i := at + rng.IntN(len(stream)-at)
		switch rng.IntN(80) {
		case 0: // lost byte
			stream = append(stream[:i], stream[i+1:]...)
		case 1: // changed bit
			stream[i] ^= 1 << rng.IntN(8)
		case 2: // lost frame
			stream = stream[:at]
		case 3: // doubled frame
			stream = append(stream, stream[at:]...)
		case 4: // rubbish
			for range 30 {
				stream = append(stream, byte(rng.Uint32()))
			}
		}
	}
	return stream[5:] // the recording begins inside a frame
}
