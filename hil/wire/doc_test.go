package wire

import (
	"bytes"
	"encoding/hex"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// The page for those who write the rig's side must not differ from what this side does.

// page returns the bodies of the fenced blocks of one kind in docs/reference/link.md.
func page(t *testing.T, kind string) (blocks []string) {
	t.Helper()
	md, err := os.ReadFile("../../docs/reference/link.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+kind+"\n(.*?)```").FindAllStringSubmatch(string(md), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/reference/link.md has no block %s", kind)
	}
	return blocks
}

// example is one block: words by the key at the start of each line.
type example struct {
	t     *testing.T
	lines map[string]string
}

func (e example) hex(key string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(e.lines[key], " ", ""))
	if err != nil {
		e.t.Fatal(err)
	}
	return b
}

func (e example) number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		e.t.Fatal(err)
	}
	return v
}

// options reads key=value pairs.
func (e example) options(key string) map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(e.lines[key]) {
		k, v, _ := strings.Cut(w, "=")
		m[k] = v
	}
	return m
}

func (e example) fields() (fields []Field) {
	for _, f := range strings.Split(e.lines["fields"], ";") {
		w := strings.Fields(f)
		ty := Type(slices.Index(Type(0).Words(), w[2]))
		fields = append(fields, Field{w[0], strings.Trim(w[1], "-"), ty, e.number(w[3]), e.number(w[4]), nil})
	}
	return fields
}

func (e example) header() Header {
	o := e.options("header")
	h := Header{Kind: Measurement, HasTime: true, Time: int64(e.number(o["time_us"])) * 1000, FreshFields: uint64(e.number(o["fresh"]))}
	if o["kind"] != "" {
		h.Kind, h.Seq = Kind(e.number(o["kind"])), uint8(e.number(o["seq"]))
	}
	return h
}

func (e example) values() (v []float64) {
	for _, w := range strings.Fields(e.lines["values"]) {
		v = append(v, e.number(w))
	}
	return v
}

func examples(t *testing.T, kind string) (all []example) {
	for _, block := range page(t, kind) {
		e := example{t, map[string]string{}}
		for _, l := range strings.Split(strings.TrimSpace(block), "\n") {
			key, rest, _ := strings.Cut(l, " ")
			e.lines[key] = strings.TrimSpace(rest)
		}
		all = append(all, e)
	}
	return all
}

// check compares a decoded frame with what the page says.
func (e example) check(f *Frame) {
	h, v := e.header(), e.values()
	if e.options("format")["time"] == "" && e.lines["line"] != "" {
		h.HasTime = false
	}
	if f.Header != h {
		e.t.Errorf("header %+v, want %+v", f.Header, h)
	}
	for i := range v {
		if h.FreshFields>>i&1 == 1 && math.Abs(f.V[i]-v[i]) > 1e-12 {
			e.t.Errorf("field %d is %v, want %v", i, f.V[i], v[i])
		}
	}
}

func TestLinkExamples(t *testing.T) {
	all := examples(t, "link-example")
	if len(all) != 4 {
		t.Fatalf("%d examples, want 4", len(all))
	}
	for _, e := range all {
		// the page agrees with itself, by the slow reader …
		payload, sum, wire := e.hex("payload"), e.hex("crc"), e.hex("wire")
		got, ok := slowCOBS(wire[:len(wire)-1])
		if !ok || !bytes.Equal(got, append(payload[:len(payload):len(payload)], sum...)) {
			t.Errorf("wire holds % x", got)
		}
		if crc := slowCRC(payload); byte(crc) != sum[0] || byte(crc>>8) != sum[1] {
			t.Errorf("crc of payload is %04x", crc)
		}
		// … and with the codec, in both directions
		fields := e.fields()
		enc, err := NewLinkEncoder(fields)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := enc.Append(nil, e.header(), e.values()); !bytes.Equal(b, wire) {
			t.Errorf("encoded % x\nthe page says % x", b, wire)
		}
		dec, _ := NewLinkDecoder(fields, Measurement, Command, Safe)
		var f Frame
		if _, st := dec.Next(wire, &f); st != Good {
			t.Fatalf("% x: %v", wire, st)
		}
		e.check(&f)
	}
}

func TestLineExamples(t *testing.T) {
	for _, e := range examples(t, "line-example") {
		o := e.options("format")
		format := Format{Separator: o["separator"], Decimal: o["decimal"], Checksum: o["checksum"], Time: o["time"]}
		if o["time"] != "" {
			format.TimeUnit, format.TimeBits = e.number(o["time_unit"]), int(e.number(o["time_bits"]))
		}
		fields := e.fields()
		enc, err := NewLineEncoder(fields, format)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := enc.Append(nil, e.header(), e.values()); string(b) != e.lines["line"]+"\n" {
			t.Errorf("encoded %q, the page says %q", b, e.lines["line"])
		}
		dec, _ := NewLineDecoder(fields, format, Measurement)
		var f Frame
		if _, st := dec.Next([]byte("\n"+e.lines["line"]+"\n"), &f); st != Good {
			t.Fatalf("%q: %v", e.lines["line"], st)
		}
		e.check(&f)
	}
}

// harness gives the sketch a board: commands come from standard input, one pass of loop per byte, 100 µs per pass; what
// is driven goes to standard error.
const harness = `
#include <stdio.h>
#include <stdlib.h>
static int pending = -1;
static unsigned long clock_us = 4294960000UL; // the clock wraps during the run
static uint32_t micros() { return (uint32_t)clock_us; }
struct { void begin(long) {} int available() { return pending >= 0; }
  int read() { int b = pending; pending = -1; return b; }
  void write(const uint8_t *p, int n) { fwrite(p, 1, n, stdout); } } Serial;
`

const board = `
int main() {
  setup();
  int last = 0;
  for (int k = 0; k < 2000; k++) {
    pending = getchar();
    loop();
    clock_us += 100;
    if (command.voltage != last) fprintf(stderr, "%d %d\n", last = command.voltage, command.enable);
  }
}
`

// The sketch of the page, compiled and run as it stands, understands our commands, refuses damaged ones, falls silent-safe,
// and sends measurements that we understand: a peer written in another language.
func TestSketch(t *testing.T) {
	cxx := peer.Program(t, "g++", "g++")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "sketch.cpp"), filepath.Join(dir, "sketch")
	if err := os.WriteFile(src, []byte("#include <stdint.h>\n"+harness+page(t, "cpp")[0]+board), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cxx, "-Wall", "-Wno-unused-parameter", "-o", bin, src).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}

	drive := []Field{{"motor.voltage", "V", I16, 0.001, 0, nil}, {"enable", "", U8, 1, 0, nil}}
	enc, _ := NewLinkEncoder(drive)
	var in []byte
	put := func(k Kind, volt float64) int {
		at := len(in)
		in, _ = enc.Append(in, Header{Kind: k, Seq: uint8(at), FreshFields: 3}, []float64{volt, 1})
		return at
	}
	put(Command, 1)
	in[put(Command, 2)+3] ^= 4 // damaged
	put(Measurement, 3)        // not for the rig
	in = append(in, bytes.Repeat([]byte("U"), 300)...)
	in = append(in, 0)
	put(Command, -4.096)
	put(Safe, 0.005)
	cmd := exec.Command(bin)
	cmd.Stdin = bytes.NewReader(in)
	var out, driven bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &driven
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if want := "1000 1\n-4096 1\n5 1\n0 0\n"; driven.String() != want {
		t.Errorf("the sketch drove\n%swant\n%s", driven.String(), want)
	}

	meas := []Field{{"axis.position", "rad", I32, 0.001, 0, nil}, {"motor.current", "A", I16, 0.001, 0, nil},
		{"drive.status", "", U8, 1, 0, nil}}
	dec, _ := NewLinkDecoder(meas, Measurement)
	frames := collect(dec, out.Bytes(), nil)
	// 2000 passes of 100 µs, one frame per ms
	if n := len(frames); n < 195 || n > 201 || dec.Counters().Gaps+dec.Counters().Malformed != 0 {
		t.Fatalf("%d frames, %+v", n, *dec.Counters())
	}
	for k := 1; k < len(frames); k++ {
		step := frames[k].Time - frames[k-1].Time
		if step < 0 {
			step += dec.Wrap()
		}
		if step != 1e6 {
			t.Fatalf("frame %d comes %d ns after the one before", k, step)
		}
	}
	if frames[0].V[2] != 1 && frames[len(frames)-1].V[2] != 1 {
		t.Error("the watchdog is not in the status")
	}
}
