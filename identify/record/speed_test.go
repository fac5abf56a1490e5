package record

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/engine/peer"
)

// longRecord writes rows of time, position and force as an instrument does, and gives the path.
func longRecord(t testing.TB, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "long.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "time_s,position_m,force_N")
	for k := range rows {
		s := float64(k) * 1e-3
		fmt.Fprintf(w, "%.3f,%.8f,%.6f\n", s, 0.1*math.Sin(3*s)+0.02*math.Sin(11*s), 30*math.Cos(3*s))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

var longMapping = Mapping{Time: Column{Name: "time_s", Unit: "s"}, Position: Column{Name: "position_m", Unit: "m"},
	Force: Column{Name: "force_N", Unit: "N", Scale: 1.5}}

// processor is the time that this process has spent computing, which other processes do not change as they do the clock's.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// plainRead reads the same numbers with encoding/csv and strconv.
func plainRead(t testing.TB, path string) (rows int) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<16))
	r.ReuseRecord = true
	var columns [3][]float64
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows++; rows == 1 {
			continue
		}
		for j, s := range rec {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[j] = append(columns[j], x)
		}
	}
}

// Reading a record, with checksum, units, the check of the clock and all that, costs little more processor time than taking
// its text apart with the standard library. Both are measured in turn in one process; the least
// of each counts, of more rounds where others are at work beside it.
func TestReadingCostsWhatParsingCosts(t *testing.T) {
	path := longRecord(t, 200_000)
	plain, own := time.Hour, time.Hour
	ratio := func() float64 { return own.Seconds() / max(plain.Seconds(), 1e-6) }
	for round := 0; round < 7 || round < 50 && ratio() > 1.2; round++ {
		begin := processor()
		plainRead(t, path)
		plain, begin = min(plain, processor()-begin), processor()
		if _, err := readOne(path, longMapping); err != nil {
			t.Fatal(err)
		}
		own = min(own, processor()-begin)
	}
	t.Logf("%.2f times encoding/csv and ParseFloat", ratio())
	if ratio() > 1.2 {
		t.Errorf("reading costs %.2f times encoding/csv and ParseFloat, want at most 1.2", ratio())
	}
}

// A long record takes 40 bytes a row at most while it is read, 16 when it is there: measured by what the system gave to a
// process that does nothing else.
func TestMemoryOfALongRecord(t *testing.T) {
	if path := os.Getenv("RECORD_MEMORY_OF"); path != "" {
		peak := func() uint64 {
			status, err := os.ReadFile("/proc/self/status")
			if err != nil {
				t.Skip("no /proc here")
			}
			_, after, _ := strings.Cut(string(status), "VmHWM:")
			kb, err := strconv.ParseUint(strings.Fields(after)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
		before := peak()
		d, err := readOne(path, longMapping)
		if err != nil {
			t.Fatal(err)
		}
		most := peak()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		fmt.Printf("MEMORY %d %d %d\n", most-before, m.HeapAlloc, d.Len())
		runtime.KeepAlive(d)
		return
	}
	const rows = 500_000
	path := longRecord(t, rows)
	for _, packed := range []bool{false, true} {
		if packed {
			if err := exec.Command(peer.Program(t, "gzip", "gzip"), "-1", path).Run(); err != nil {
				t.Fatal(err)
			}
			path += ".gz"
		}
		c := exec.Command(os.Args[0], "-test.run=^TestMemoryOfALongRecord$", "-test.v")
		c.Env = append(os.Environ(), "RECORD_MEMORY_OF="+path)
		out, err := c.CombinedOutput()
		var peak, live, n float64
		_, after, found := strings.Cut(string(out), "MEMORY ")
		if _, scan := fmt.Sscan(after, &peak, &live, &n); err != nil || !found || scan != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("gzip %v: %.1f bytes a row at most, %.1f in the end", packed, peak/n, live/n)
		if n != rows || peak/n > 40 || live/n > 20 {
			t.Errorf("gzip %v: %g rows, %.1f bytes a row at most, %.1f in the end; want 40 and 20", packed, n, peak/n, live/n)
		}
	}
}

// The checks of a long record look at all of its samples one by one, and at its motion in stretches from all over it: twice
// the length takes no more memory, and what is wrong is still found.
func TestChecksOfALongRecord(t *testing.T) {
	record := func(copies int) *Record {
		one := servo(3)
		d := &Record{Dt: one.Dt, Clock: one.Clock}
		for range copies { // one after the other
			d.Position, d.Force = append(d.Position, one.Position...), append(d.Force, one.Force...)
		}
		return d
	}
	bytes := func(d *Record) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if bad := kinds(Check([]*Record{d}, CheckOptions{}), Fatal); bad != "" {
			t.Errorf("sound: %s", bad)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	short, long := bytes(record(110)), bytes(record(220))
	t.Logf("%.0f and %.0f MB", short/1e6, long/1e6)
	if long > 1.1*short {
		t.Errorf("%.0f MB for 1.1 million samples, %.0f MB for twice as many", short/1e6, long/1e6)
	}
	d := record(110)
	d.Position[d.Len()/2+77]++
	times(d.Force, -1)
	bad := kinds(Check([]*Record{d}, CheckOptions{}), Warning)
	for _, want := range []string{"outliers position warning", "force-sign force error"} {
		if !strings.Contains(bad, want) {
			t.Errorf("%q, want %s", bad, want)
		}
	}
}
