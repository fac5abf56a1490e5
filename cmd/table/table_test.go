package table

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hilrig/engine/peer"
)

// sample is a table with all kinds of columns; 9000 rows are more than a part of a MAT file.
func sample(rows int) *Table {
	cells := make([]Cell, 5)
	return &Table{Title: "bench", Columns: []Column{{"timestamp", "s", Time}, {"seq", "", Integer}, {"mode", "", Text},
		{"motor.torque", "N·m", Number}, {"motor torque", "kg·m²", Number}},
		Rows: func(yield func([]Cell, error) bool) {
			for k := range rows {
				mode := [...]string{"", "ready", "run"}[min(k, 2)]
				cells[0], cells[1], cells[2] = Cell{N: 1795249800_000000000 + int64(k)*1e6}, Cell{N: int64(k + 1)}, Cell{S: mode}
				cells[3], cells[4] = Cell{X: math.Sin(float64(k))}, Cell{X: []float64{math.NaN(), math.Inf(-1), 0.1}[min(k, 2)]}
				if !yield(cells, nil) {
					return
				}
			}
		}}
}

// Octave reads every number to the last bit, and the texts; so does SciPy.
func TestMATReadByOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.mat")
	var b bytes.Buffer
	if err := WriteMAT(&b, sample(9000)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "9000 8999 9000 8.999000000 1795249800 2026-11-21T08:30:00Z 0 1 2 2 ready run NaN -Inf 0.1 " +
		"motor_torque motor.torque N*m motor_torque_2 motor torque kg*m^2 0"
	check := func(name string, c *exec.Cmd) {
		out, err := c.CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
	t.Run("octave", func(t *testing.T) {
		check("octave", exec.Command(peer.Program(t, "octave-cli", "octave"), "--norc", "--eval", `a = load("`+file+`");
			printf("%d %d %d %.9f %d %s ", numel(a.time), a.seq(8999), a.seq(end), a.time(end), a.start, a.start_text);
			printf("%d %d %d %d %s %s ", a.mode(1:3), a.mode(end), a.mode_names{:});
			printf("%g %g %.17g ", a.motor_torque_2(1:2)); printf("%g ", a.motor_torque_2(3));
			printf("%s %s %s %s %s %s ", a.names{4, :}, a.names{5, :});
			printf("%g\n", max(abs(a.motor_torque - sin((0:8999)'))) > 1e-15);`))
	})
	t.Run("scipy", func(t *testing.T) {
		check("scipy", exec.Command(peer.Python(t, "scipy.io"), "-c", `
import numpy, scipy.io
a = scipy.io.loadmat("`+file+`", squeeze_me=True)
inf = lambda x: str(x).replace("inf", "Inf").replace("nan", "NaN")
print(len(a["time"]), int(a["seq"][8998]), int(a["seq"][-1]), "%.9f" % a["time"][-1], int(a["start"]), a["start_text"],
  *[int(x) for x in a["mode"][:3]], int(a["mode"][-1]), *a["mode_names"], *[inf(x) for x in a["motor_torque_2"][:3]], *a["names"][3], *a["names"][4],
  int(max(abs(a["motor_torque"] - numpy.sin(numpy.arange(9000)))) > 1e-15))`))
	})
}

// Names are those that MATLAB takes, each once.
func TestMATNames(t *testing.T) {
	taken := map[string]bool{"names": true}
	for _, c := range [][2]string{{"motor.angle", "motor_angle"}, {"motor angle", "motor_angle_2"}, {"1st", "x1st"}, {"_a", "x_a"}, {"", "x"},
		{"names", "names_2"}, {"größe", "gr__e"}, {strings.Repeat("a", 70), strings.Repeat("a", 63)},
		{strings.Repeat("a", 71), strings.Repeat("a", 61) + "_2"}} {
		if got := matVariable(c[0], taken); got != c[1] {
			t.Errorf("%q is %q, want %q", c[0], got, c[1])
		}
	}
}

// Parquet keeps order, kinds, units and every bit; NaN is null.
func TestParquetReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteParquet(&b, sample(3000)); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || f.NumRows() != 3000 {
		t.Fatalf("%v", err)
	}
	if unit, _ := f.Lookup("unit:motor.torque"); unit != "N·m" {
		t.Errorf("unit %q", unit)
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, strings.Join(c, "/"))
	}
	if got := strings.Join(names, ","); got != "timestamp,seq,mode,motor.torque,motor torque" {
		t.Errorf("columns %s", got)
	}
	k := 0
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, _ := rows.ReadRows(buf)
			if n == 0 {
				break
			}
			for _, r := range buf[:n] {
				x := r[4].Double()
				if r[0].Int64() != 1795249800_000000000+int64(k)*1e6 || r[1].Int64() != int64(k+1) || r[3].Double() != math.Sin(float64(k)) ||
					r[2].String() != [...]string{"<null>", "ready", "run"}[min(k, 2)] || (k == 0) != r[4].IsNull() || k == 1 && !math.IsInf(x, -1) ||
					k > 1 && x != 0.1 {
					t.Fatalf("row %d: %v", k, r)
				}
				k++
			}
		}
		rows.Close()
	}
	if k != 3000 {
		t.Errorf("%d rows", k)
	}
}

// An error of the rows is that of the writer.
func TestRowsThatFail(t *testing.T) {
	for _, f := range Formats {
		broken := sample(1)
		broken.Rows = func(yield func([]Cell, error) bool) { yield(nil, os.ErrClosed) }
		if err := f.Write(&bytes.Buffer{}, broken); err != os.ErrClosed {
			t.Errorf("%s: %v", f.Ending, err)
		}
	}
	if Endings() != ".csv, .mat or .parquet" {
		t.Error(Endings())
	}
}
