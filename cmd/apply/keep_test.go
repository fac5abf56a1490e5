package apply

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
)

// Keep writes a result over the file of the rig: comments, other keys and the rights of the file stay; what is refused leaves the file as it is.
func TestKeep(t *testing.T) {
	data, err := json.Marshal(lugre())
	if err != nil {
		t.Fatal(err)
	}
	result := filepath.Join(t.TempDir(), "0001.json")
	if err := os.WriteFile(result, data, 0o644); err != nil {
		t.Fatal(err)
	}
	file := rigFile(t)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(file)

	_, err = KeepResult(result, file, func(*configs.Config, bool) error { return errors.New("something else runs") })
	if now, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), "something else runs") || string(now) != string(before) {
		t.Errorf("refused: %v, the file changed: %v", err, string(now) != string(before))
	}

	var seen *configs.Config
	said, err := KeepResult(result, file, func(c *configs.Config, plantToo bool) error {
		if seen = c; plantToo {
			t.Error("the plant of the demo has numbers of its own")
		}
		return nil
	})
	if err != nil || !strings.Contains(said, "axes.shaft.friction.Fc: 0.015 → 0.014947") || strings.Contains(said, "next:") {
		t.Fatalf("%v: %s", err, said)
	}
	text, _ := os.ReadFile(file)
	if _, n := numbers(t, string(text)); n["Fc"] != 0.014947006301293175 || n["J"] != 7.012345678901234e-05 || seen.Axes[0].MotorModel().J != n["J"] {
		t.Errorf("the file has %v", n)
	}
	old, now := strings.Split(string(before), "\n"), strings.Split(string(text), "\n")
	if len(old) != len(now) {
		t.Fatalf("%d lines in place of %d", len(now), len(old))
	}
	changed := 0
	for i := range old {
		if old[i] == now[i] {
			continue
		}
		if changed++; !strings.Contains(now[i], "# identified ") && !strings.Contains(now[i], "not identified") {
			t.Errorf("%q became %q", old[i], now[i])
		}
	}
	if changed == 0 || changed > 10 {
		t.Errorf("%d lines changed", changed)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the rights of the file: %v, %v; want 0600", st.Mode(), err)
	}

	// a result that may not be applied says why, in words alone
	bad := lugre()
	bad.Rig = "another"
	data, _ = json.Marshal(bad)
	os.WriteFile(result, data, 0o644)
	if _, err := KeepResult(result, file, nil); err == nil || !strings.Contains(err.Error(), "is of the rig another") {
		t.Errorf("of another rig: %v", err)
	}
}
