package tracker

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"hilrig/hil/wire"
)

// seen is a frame as far as tests compare it.
type seen struct {
	st   wire.Status
	name string
	role Role
	raw  string
	what string
}

func look(f *Frame, st wire.Status) seen {
	s := seen{st: st}
	if st == wire.Corrupt {
		return s
	}
	s.name, s.role, s.raw = f.Name, f.Role, string(f.Raw)
	for i := range f.N {
		x := &f.S[i]
		s.what += fmt.Sprint(x.Device, x.Present, x.Extra, ";")
		for q := range Quantities {
			if x.Present.Contains(q) {
				s.what += fmt.Sprint(x.V[q], ",")
			}
		}
	}
	return s
}

// decodeAll takes a stream in pieces of the given length, and what waits at its end.
func decodeAll(d Decoder, f *Frame, b []byte, piece int) (out []seen, c wire.Counters) {
	step := func(p []byte) {
		for {
			n, st := d.Next(p, f)
			if p = p[n:]; st == wire.More {
				return
			}
			out = append(out, look(f, st))
		}
	}
	for len(b) > 0 {
		n := min(piece, len(b))
		step(b[:n])
		b = b[n:]
	}
	d.End()
	step(nil)
	return out, *d.Counters()
}

// stream of a kind: all its published frames.
func framesOf(t testing.TB, k *Kind) (frames [][]byte) {
	for i := range publishedFrames {
		if publishedFrames[i].kind == k.Name {
			frames = append(frames, publishedFrames[i].bytes(t))
		}
	}
	if k.Name == "xsens" {
		frames = append(frames, xsensFrames(t)...)
	}
	if len(frames) == 0 {
		t.Fatalf("%s: no frames", k.Name)
	}
	return frames
}

// Any cut of any stream gives the same frames and the same counters.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range Kinds {
		k := &Kinds[i]
		frames := framesOf(t, k)
		var b []byte
		for range 60 {
			b = append(b, damaged(rng, frames[rng.IntN(len(frames))])...)
		}
		want, wantC := decodeAll(k.NewDecoder(), new(Frame), b, len(b))
		for _, piece := range []int{1, 2, 3, 7, 16, 64, 1000} {
			got, c := decodeAll(k.NewDecoder(), new(Frame), b, piece)
			same(t, fmt.Sprintf("%s, pieces of %d", k.Name, piece), got, want)
			if c != wantC {
				t.Errorf("%s, pieces of %d: %+v, want %+v", k.Name, piece, c, wantC)
			}
		}
	}
}

// damaged is a frame, most times as it is, else with noise around it or cut or changed.
func damaged(rng *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	switch rng.IntN(6) {
	case 0:
		b = append(noise(rng, rng.IntN(30)), b...)
	case 1:
		b = b[:rng.IntN(len(b))]
	case 2:
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
	}
	return b
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func same(t *testing.T, what string, got, want []seen) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d frames, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: frame %d is %+v, want %+v", what, i, got[i], want[i])
			return
		}
	}
}

// A frame that is whole is found behind whatever there was: the head of another, its first half, noise that looks like a long one.
func TestGoodFrameAfterFalseBeginning(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	falseHeads := map[string][][]byte{
		"xsens":     {{0xFA}, {0xFA, 0xFF, 0x36, 0xFF, 0x07, 0xFF}, {0xFA, 0xFF, 0x36, 200}, {0xFA, 0xFA, 0xFF}},
		"vectornav": {{0xFA}, {0xFA, 0x7F}, {0xFA, 0x01, 0xFF, 0x0F}, []byte("$"), []byte("$VNYMR,"), []byte("$VN")},
		"ndi":       {{0xC4}, {0xC4, 0xA5}, {0xC4, 0xA5, 0xFF, 0x0F}, []byte("OK"), []byte("\x01ERROR"), []byte("xyz")},
		"polhemus":  {[]byte("L"), []byte("LYLY"), []byte("P"), []byte("LY\x01C")},
		"fastrak":   {[]byte("0"), []byte("01"), []byte("01 "), []byte("001")},
		"witmotion": {{0x55}, {0x55, 0x51}, {0x55, 0x55}, {0x55, 0x51, 1, 2, 3, 4, 5, 6}},
		"bno08x":    {{0xAA}, {0xAA, 0xAA}, {0xAA, 0xAA, 1, 2, 3, 4, 5, 6, 7}},
	}
	eight := map[string]bool{"xsens": true, "witmotion": true, "bno08x": true} // bits of checksum: one piece in 256 passes as a frame
	for i := range Kinds {
		k := &Kinds[i]
		tried, lost := 0, 0
		for _, g := range framesOf(t, k) {
			heads := falseHeads[k.Name]
			for n := range len(g) {
				heads = append(heads, g[:n])
			}
			for range 20 {
				heads = append(heads, noise(rng, 5))
			}
			for _, h := range heads {
				if k.Name == "polhemus" && bytes.HasPrefix(h, g[:min(len(g), 8)]) || k.Name == "fastrak" && len(h) >= 3 {
					continue // without a checksum half a record and the beginning of the next are one
				}
				if k.Name == "ndi" && len(h) > 0 && g[0] != 0xC4 && !startsKnown(g) {
					continue // a text that begins with no known word is one only at the beginning of a line
				}
				b := append(append([]byte(nil), h...), g...)
				got, _ := decodeAll(k.NewDecoder(), new(Frame), b, len(b))
				tried++
				if len(got) > 0 && got[len(got)-1].raw == string(g) {
					continue
				}
				lost++
				if !eight[k.Name] {
					t.Errorf("%s: behind % x the frame % x is lost: %v", k.Name, h, g, got)
				}
			}
		}
		if eight[k.Name] && lost > tried/64 {
			t.Errorf("%s: %d of %d frames are lost, want at most one of 64", k.Name, lost, tried)
		}
	}
}

// startsKnown tells whether a reply of NDI begins with a word that is known.
func startsKnown(g []byte) bool {
	_, v := ndiBegins(g)
	return v == whole
}

// Counters: bytes are those of the frames and those left out.
func TestCounts(t *testing.T) {
	for i := range Kinds {
		k := &Kinds[i]
		g := framesOf(t, k)[0]
		d := k.NewDecoder()
		b := append(append([]byte{0, 1, 2}, g...), 3)
		b = append(append(b, g...), 4, 5)
		_, c := decodeAll(d, new(Frame), b, len(b))
		if c.Frames+c.Repeats != 2 || c.Bytes != uint64(len(b)) || c.Resync != 6 || d.Resyncs() != 3 || c.Malformed != 0 {
			t.Errorf("%s: %+v, %d resyncs", k.Name, c, d.Resyncs())
		}
	}
}

// A damaged frame is counted once, and said once.
func TestBadOnce(t *testing.T) {
	for i := range Kinds {
		k := &Kinds[i]
		if k.Name == "polhemus" || k.Name == "fastrak" {
			continue
		}
		g := framesOf(t, k)[0]
		bad := append([]byte(nil), g...)
		bad[len(bad)-2] ^= 0x15
		got, c := decodeAll(k.NewDecoder(), new(Frame), append(append([]byte(nil), bad...), g...), 5)
		if len(got) != 2 || got[0].st != wire.Corrupt || got[1].st != wire.Good || c.Malformed != 1 {
			t.Errorf("%s: %d frames, %+v", k.Name, len(got), c)
		}
	}
}

func FuzzStream(f *testing.F) {
	for i := range Kinds {
		for _, b := range framesOf(f, &Kinds[i]) {
			f.Add(byte(i), b, byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte, piece byte) {
		k := &Kinds[int(which)%len(Kinds)]
		want, wantC := decodeAll(k.NewDecoder(), new(Frame), b, max(1, len(b)))
		got, c := decodeAll(k.NewDecoder(), new(Frame), b, 1+int(piece))
		same(t, k.Name, got, want)
		if c != wantC || c.Bytes != uint64(len(b)) {
			t.Errorf("%s: %+v, want %+v", k.Name, c, wantC)
		}
		n := uint64(0)
		for _, g := range got {
			n += uint64(len(g.raw))
		}
		// a frame that was refused for its content is in neither
		if n+c.Resync > uint64(len(b)) || c.Malformed == 0 && n+c.Resync != uint64(len(b)) {
			t.Errorf("%s: %d bytes in frames and %d left out of %d", k.Name, n, c.Resync, len(b))
		}
	})
}

func TestNoAllocations(t *testing.T) {
	for i := range Kinds {
		k := &Kinds[i]
		var b []byte
		for _, g := range framesOf(t, k) {
			b = append(append(b, g...), 0, 1)
		}
		d, f := k.NewDecoder(), new(Frame)
		if n := testing.AllocsPerRun(50, func() {
			for p := b; ; {
				n, st := d.Next(p, f)
				if p = p[n:]; st == wire.More {
					break
				}
			}
			for j := range b {
				d.Next(b[j:j+1], f)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", k.Name, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for i := range Kinds {
		k := &Kinds[i]
		for j, g := range framesOf(b, k) {
			d, f := k.NewDecoder(), new(Frame)
			if _, st := d.Next(g, f); st != wire.Good || f.Role != Data {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d-%dB", k.Name, j, len(g)), func(b *testing.B) {
				var many []byte
				for range 32 {
					many = append(many, g...)
				}
				frames := 0
				b.ReportAllocs()
				for b.Loop() {
					for p := many; ; {
						n, st := d.Next(p, f)
						if p = p[n:]; st == wire.More {
							break
						}
						frames++
					}
				}
				b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
			})
		}
	}
}
