//go:build soak

package identify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hilrig/identify"
)

const soak = true

var uncertainGains = []float64{1.02, 0.98}

// The intervals hold what was put in at their rate, over records with other voltages and noises.
func TestResponseCoverage(t *testing.T) {
	script, _ := filepath.Abs("../../identify/response/testdata/drive.py")
	const records = 40
	held, all := 0, 0
	for seed := range records {
		record := filepath.Join(t.TempDir(), "drive.csv.gz")
		if out, err := exec.Command("/usr/bin/python3", script, fmt.Sprint(1000+seed), record).CombinedOutput(); err != nil {
			t.Skipf("no record: %v\n%s", err, out)
		}
		if _, err := os.Stat(record); err != nil {
			t.Fatal(err)
		}
		r, err := responseOf(t, changed(t, driveFile, "data/drive-1.csv.gz", record, "validate: [data/drive-2.csv.gz]\n", "starts: 0\n"),
			Options{})
		if err != nil || r.Verdict != identify.Identified {
			t.Errorf("seed %d: %s %v: %v", seed, r.Verdict, r.Reasons, err)
		}
		for name, want := range driveTruth {
			p, _ := r.Param(name)
			if all++; p.CI != nil && p.CI[0] <= want && want <= p.CI[1] {
				held++
			}
		}
	}
	t.Logf("%d of %d intervals hold", held, all)
	if share := float64(held) / float64(all); share < 0.9 {
		t.Errorf("%.1f %% of the intervals hold, want 95", 100*share)
	}
}
