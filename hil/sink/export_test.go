package sink

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"hilrig/hil"
)

// Another CSV reader gets back every number exactly, under the right name and unit.
func TestExportReadsBack(t *testing.T) {
	const rows, signals = 700, 9
	run, err := OpenRun(record(t, rows, signals, RecorderOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var out bytes.Buffer
	res, err := ExportCSV(context.Background(), run, &out, ExportOptions{})
	if err != nil || res.Rows != rows {
		t.Fatalf("%+v, %v", res, err)
	}
	table, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(table) != rows+2 {
		t.Fatalf("%d lines, %v", len(table), err)
	}
	names, units := table[0], table[1]
	if names[0] != "timestamp" || units[0] != "# s" || names[2] != "epoch" || names[5] != "late_us" || units[5] != "us" ||
		names[7] != "block0.signal0" || units[7] != "rad" || units[10] != "N·m" {
		t.Errorf("names %q, units %q", names, units)
	}
	for k, cells := range table[2:] {
		want := benchRow(uint64(k+1), signals)
		ns, ok := parseDecimal([]byte(cells[0]), 9)
		if !ok || run.Info.Wall(want.T).UnixNano() != ns {
			t.Fatalf("line %d: timestamp %s, want %v", k, cells[0], run.Info.Wall(want.T))
		}
		if cells[1] != fmt.Sprint(want.Seq) || cells[2] != fmt.Sprint(want.Epoch) || cells[3] != "run" || len(cells) != 7+signals {
			t.Fatalf("line %d: %q", k, cells)
		}
		for i := range signals {
			x, err := strconv.ParseFloat(cells[7+i], 64)
			if err != nil || x != want.X[i] && (x == x || want.X[i] == want.X[i]) {
				t.Fatalf("line %d, %s: %s, want %v", k, names[7+i], cells[7+i], want.X[i])
			}
		}
	}
}

func TestExportSelection(t *testing.T) {
	run, err := OpenRun(record(t, 1000, 4, RecorderOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, c := range []struct {
		name  string
		opt   ExportOptions
		rows  uint64
		first string // sequence number in the first line
	}{
		{"all", ExportOptions{}, 1000, "1"},
		{"from 0.9 s", ExportOptions{StartTime: 0.9}, 100, "901"},
		{"0.1 to 0.2 s, both ends", ExportOptions{StartTime: 0.1, EndTime: 0.2}, 101, "101"},
		{"every 10th", ExportOptions{Decimate: 10}, 100, "1"},
		{"every 300th from 0.5 s", ExportOptions{StartTime: 0.5, Decimate: 300}, 2, "501"},
		{"beyond the end", ExportOptions{StartTime: 5}, 0, ""},
		{"far beyond the end", ExportOptions{StartTime: 1e300}, 0, ""},
		{"to far beyond the end", ExportOptions{EndTime: 1e300}, 1000, "1"},
	} {
		c.opt.Channels = []string{"seq", "block2.signal2"}
		var out strings.Builder
		res, err := ExportCSV(context.Background(), run, &out, c.opt)
		if err != nil || res.Rows != c.rows {
			t.Errorf("%s: %d rows, %v, want %d", c.name, res.Rows, err, c.rows)
			continue
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if lines[0] != "timestamp,seq,block2.signal2" || lines[1] != "# s,,A" || c.rows > 0 && strings.Split(lines[2], ",")[1] != c.first {
			t.Errorf("%s: %q", c.name, lines[:min(3, len(lines))])
		}
	}

	// wrong choices
	_, err = ExportCSV(context.Background(), run, &strings.Builder{}, ExportOptions{Channels: []string{"seq", "blok", "velo"}})
	if !errors.Is(err, ErrChannel) || !strings.Contains(err.Error(), `"blok", "velo"`) || !strings.Contains(err.Error(), "block0.signal0") {
		t.Errorf("unknown channel: %v", err)
	}
	if _, err := ExportCSV(context.Background(), run, &strings.Builder{}, ExportOptions{StartTime: math.NaN()}); err == nil {
		t.Error("NaN taken as a time")
	}
	if _, err := ExportCSV(finished(), run, &strings.Builder{}, ExportOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Infinities and names with commas survive.
func TestExportOddities(t *testing.T) {
	info := benchInfo(0)
	info.Schema.Meas = benchSchema(4).Meas[:1]
	info.Schema.Meas[0].Name = `a,"b"`
	rec, err := NewRecorder(t.TempDir(), info, RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	src := &rowSlice{rows: make([]hil.Row, 3)}
	src.rows[0].X[0], src.rows[1].X[0], src.rows[2].X[0] = math.Inf(1), math.Inf(-1), math.Copysign(0, -1)
	if err := rec.Run(finished(), src); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var out bytes.Buffer
	if _, err := ExportCSV(context.Background(), run, &out, ExportOptions{Channels: []string{`a,"b"`}}); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&out).ReadAll()
	if err != nil || table[0][1] != `a,"b"` || table[2][1] != "Inf" || table[3][1] != "-Inf" || table[4][1] != "-0" {
		t.Errorf("%q, %v", table, err)
	}
}

// rowSlice is a source of given rows.
type rowSlice struct{ rows []hil.Row }

func (s *rowSlice) Pop(r *hil.Row) bool {
	if len(s.rows) == 0 {
		return false
	}
	*r, s.rows = s.rows[0], s.rows[1:]
	return true
}

func (s *rowSlice) Dropped() uint64 { return 0 }
