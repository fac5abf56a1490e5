package sink

import (
	"bytes"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/hil"
)

// wholeFile is a recording of a few chunks as bytes, with the number of rows in each chunk.
func wholeFile(t testing.TB, rows int) (data []byte, perChunk []int) {
	t.Helper()
	dir := record(t, rows, 3, RecorderOptions{})
	data, err := os.ReadFile(filepath.Join(dir, runFile))
	if err != nil {
		t.Fatal(err)
	}
	m, err := openMCAP(bytes.NewReader(data), int64(len(data)))
	if err != nil || !m.indexed {
		t.Fatal(err)
	}
	defer m.close()
	perChunk = make([]int, len(m.chunks))
	var msg mcapMessage
	for p := m.pass(chRows, 0, math.MaxUint64); ; perChunk[p.nextChunk-1]++ {
		if ok, err := p.read(&msg); err != nil || !ok {
			return data, perChunk
		}
	}
}

// readable counts the rows that come out of a possibly damaged file; it fails the test if a row is not what was written.
func readable(t testing.TB, data []byte) (rows int, m *mcapReader) {
	t.Helper()
	m, err := openMCAP(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, nil
	}
	defer m.close()
	s := benchSchema(3)
	info := benchInfo(3)
	codec, err := NewRowCodec(&s, info.Start.UnixNano()-info.Mono)
	if err != nil {
		t.Fatal(err)
	}
	var msg mcapMessage
	var row hil.Row
	for p := m.pass(chRows, 0, math.MaxUint64); ; rows++ {
		ok, err := p.read(&msg)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return rows, m
		}
		if err := codec.Decode(msg.data, &row); err != nil {
			t.Fatalf("a row got through damaged: %v", err)
		}
		if want := benchRow(row.Seq, 3); !sameBits(&row, &want) {
			t.Fatalf("a row got through damaged: %+v", row)
		}
	}
}

// The footer, the offsets and the counts of a file, taken apart by hand from the specification.
func TestFileFollowsTheSpecification(t *testing.T) {
	data, per := wholeFile(t, 9000)
	if len(per) < 3 {
		t.Fatalf("only %d chunks", len(per))
	}
	if string(data[:8]) != mcapMagic || string(data[len(data)-8:]) != mcapMagic {
		t.Fatal("magic")
	}
	foot := data[len(data)-8-29 : len(data)-8]
	start, offsets := le.Uint64(foot[9:]), le.Uint64(foot[17:])
	if foot[0] != opFooter || le.Uint64(foot[1:]) != 20 {
		t.Fatalf("footer %x", foot)
	}
	if got, want := le.Uint32(foot[25:]), crc32.ChecksumIEEE(data[start:len(data)-8-4]); got != want {
		t.Errorf("summary CRC %08x, want %08x", got, want)
	}
	end := data[start-13 : start]
	if end[0] != opDataEnd || le.Uint32(end[9:]) != crc32.ChecksumIEEE(data[:start-13]) {
		t.Errorf("data end %x, want CRC %08x", end, crc32.ChecksumIEEE(data[:start-13]))
	}

	// each summary offset points at a group of records of its opcode, and together they cover the summary
	covered := start
	for rest := data[offsets : len(data)-8-29]; len(rest) > 0; {
		op, c, after, ok := nextRecord(rest)
		if !ok || op != opSummaryOffset {
			t.Fatalf("opcode %x among the summary offsets", op)
		}
		from, n := le.Uint64(c[1:]), le.Uint64(c[9:])
		if from != covered {
			t.Errorf("group 0x%02x begins at %d, want %d", c[0], from, covered)
		}
		for group := data[from : from+n]; len(group) > 0; {
			op, _, next, ok := nextRecord(group)
			if !ok || op != c[0] {
				t.Fatalf("opcode 0x%02x in the group of 0x%02x", op, c[0])
			}
			group = next
		}
		covered += n
		rest = after
	}
	if covered != offsets {
		t.Errorf("groups end at %d, summary offsets begin at %d", covered, offsets)
	}
}

// Cut after any byte, a file gives all whole chunks and says that it was cut.
func TestCutAnywhere(t *testing.T) {
	data, per := wholeFile(t, 6000)
	m, err := openMCAP(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	m.close()
	r := rand.New(rand.NewPCG(1, 1))
	cuts := []int{0, 7, 8, 9, 50, len(data) - 1, len(data) - 8, len(data) - 37}
	for _, k := range m.chunks { // the edges of each chunk
		cuts = append(cuts, int(k.offset), int(k.offset)+1, int(k.offset+k.length)-1, int(k.offset+k.length))
	}
	for range 60 {
		cuts = append(cuts, r.IntN(len(data)))
	}
	for _, cut := range cuts {
		want := 0
		for i, k := range m.chunks {
			if int(k.offset+k.length) <= cut {
				want += per[i]
			}
		}
		got, damaged := readable(t, data[:cut])
		if got != want {
			t.Errorf("cut at %d: %d rows, want %d", cut, got, want)
		}
		if damaged != nil && damaged.indexed {
			t.Errorf("cut at %d: taken for a whole file", cut)
		}
	}
}

// One flipped bit costs one chunk at most, is reported, and never becomes a wrong row.
func TestFlippedBits(t *testing.T) {
	data, per := wholeFile(t, 6000)
	total, most := 0, 0
	for _, n := range per {
		total += n
		most = max(most, n)
	}
	m, _ := openMCAP(bytes.NewReader(data), int64(len(data)))
	m.close()
	r := rand.New(rand.NewPCG(2, 2))
	first, end := m.chunks[0].offset, m.dataEnd-(recordHead+4) // chunks and message indices
	for range 80 {
		at := first + r.Int64N(end-first)
		for _, whole := range []bool{true, false} {
			broken := bytes.Clone(data)
			if !whole {
				broken = broken[:end] // no summary: the reader has to find its own way
			}
			broken[at] ^= 1 << r.IntN(8)
			got, damaged := readable(t, broken)
			if got < total-most || got > total {
				t.Errorf("bit at %d, summary %v: %d of %d rows", at, whole, got, total)
			}
			if got < total && len(damaged.problems) == 0 {
				t.Errorf("bit at %d, summary %v: %d rows lost without a word", at, whole, total-got)
			}
		}
	}

	// a damaged index is not trusted
	broken := bytes.Clone(data)
	broken[m.dataEnd+20] ^= 4
	got, damaged := readable(t, broken)
	if got != total || damaged.indexed || len(damaged.problems) != 1 || !strings.Contains(damaged.problems[0].Text, "index") {
		t.Errorf("damaged index: %d of %d rows, %v", got, total, damaged.problems)
	}
}

// A disk that refuses is reported once, rows are counted, and what was written before stays readable. The refusal comes
// from the kernel: see recorder_unix_test.go for a file size limit; here the file was closed under the writer.
func TestDiskFails(t *testing.T) {
	var told []hil.Event
	rec, err := NewRecorder(t.TempDir(), benchInfo(3), RecorderOptions{Event: func(e hil.Event) { told = append(told, e) }})
	if err != nil {
		t.Fatal(err)
	}
	src := &countedRows{n: 20000, signals: 3}
	src.gate = func(at uint64) bool {
		if at == 12000 {
			for rec.Stats().Chunks < 2 { // some of it is on file
				time.Sleep(time.Millisecond)
			}
			rec.w.f.Close()
		}
		return true
	}
	err = rec.Run(finished(), src)
	st := rec.Stats()
	if err == nil || !strings.Contains(err.Error(), "run.mcap") || !strings.Contains(err.Error(), "are lost") {
		t.Errorf("error %v", err)
	}
	if len(told) != 1 || told[0].Code != "RECORD_FAILED" || told[0].Level != "error" {
		t.Errorf("told %+v", told)
	}
	if st.Rows == 0 || st.LostRows == 0 || st.Rows+st.LostRows != 20000 {
		t.Errorf("stats %+v, want 20000 rows in all", st)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if n := checkRows(t, run, 3); n != st.Rows {
		t.Errorf("%d rows readable, %d counted", n, st.Rows)
	}
	if cut, why := run.Truncated(); !cut || !strings.Contains(why, "readable up to") {
		t.Errorf("truncated %v %q", cut, why)
	}
}

// FuzzReader: nothing in a file makes the reader panic, hang or hand out a message beyond its chunk.
func FuzzReader(f *testing.F) {
	data, _ := wholeFile(f, 40)
	f.Add(data)
	f.Add(data[:len(data)-100])
	f.Add([]byte(mcapMagic))
	f.Add(append([]byte(mcapMagic), 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := openMCAP(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		defer m.close()
		for id := range m.channels {
			var msg mcapMessage
			for p := m.pass(id, 0, math.MaxUint64); ; {
				ok, err := p.read(&msg)
				if err != nil {
					t.Fatalf("an error of reading from memory: %v", err)
				}
				if !ok {
					break
				}
				if len(msg.data) > maxChunk {
					t.Fatal("message larger than a chunk may be")
				}
			}
		}
	})
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	make1 := func(name string, size int, extra string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{runFile, runConfig, extra} {
			if f == "" {
				continue
			}
			file := filepath.Join(path, f)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			n := 0
			if f == runFile {
				n = size
			}
			if err := os.WriteFile(file, make([]byte, n), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	second := make1("2026-01-01T00-00-00Z_a-10", 100, FitDir+"/0001.json") // of a fit beside the loop
	first := make1("2026-01-01T00-00-00Z_a-2", 100, "")
	noted := make1("2026-01-02T00-00-00Z_a", 100, "notes.txt")
	current := make1("2026-01-03T00-00-00Z_a", 100, "")
	live := make1("2026-01-04T00-00-00Z_b", 100, "")
	if err := os.Chtimes(filepath.Join(live, runFile), time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	newest := make1("2026-01-05T00-00-00Z_[a]", 100, FitDir+"/population-shaft-rig.json")
	other := make1("thesis", 5000, "")

	check := func(keep int64, removed, kept []string, bytes int64) {
		t.Helper()
		p, err := Prune(dir, keep, current)
		if err != nil || strings.Join(p.Removed, " ") != strings.Join(removed, " ") || strings.Join(p.Foreign, " ") != strings.Join(kept, " ") ||
			p.Bytes != bytes {
			t.Errorf("keep %d: %+v, %v", keep, p, err)
		}
		for _, path := range []string{current, live, other, noted} {
			if _, err := os.Stat(filepath.Join(path, runFile)); err != nil {
				t.Errorf("keep %d: %v", keep, err)
			}
		}
	}
	check(0, nil, nil, 600)
	check(600, nil, nil, 600)
	check(599, []string{first}, nil, 500)
	check(1, []string{second, newest}, []string{noted}, 300)
	if p, err := Prune(filepath.Join(dir, "none"), 1, ""); err != nil || p.Bytes != 0 {
		t.Errorf("missing folder: %+v, %v", p, err)
	}
}
