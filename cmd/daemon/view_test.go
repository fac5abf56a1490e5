package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/sink"
	"hilrig/identify"
)

// slice is a source of rows.
type slice struct{ rows []hil.Row }

func (s *slice) Pop(r *hil.Row) bool {
	if len(s.rows) == 0 {
		return false
	}
	*r, s.rows = s.rows[0], s.rows[1:]
	return true
}

func (s *slice) Dropped() uint64 { return 0 }

// A recording is viewed with the laws of its configuration and the results beside it, the newest first.
func TestView(t *testing.T) {
	cfg := configs.Demo()
	a, err := Assemble(cfg, Handover{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	config, err := cfg.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := sink.NewRecorder(t.TempDir(), hil.Info{Config: config, Schema: a.Schema, Start: time.Now()}, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what is there is written at the end
	if err := rec.Run(ctx, &slice{[]hil.Row{{Seq: 1, T: 1e6}, {Seq: 2, T: 2e6}}}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(rec.Dir(), "identify")
	os.Mkdir(dir, 0o755)
	for id, times := range map[string]float64{"0001": 1.1, "0002": 1.2} {
		r := foundResult(times)
		r.Chain, r.Stages = identify.Chain{"lugre"}, []identify.Stage{{}}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, id+".json"), text, 0o644)
	}
	os.WriteFile(filepath.Join(dir, "0003.json"), []byte("{"), 0o644) // cut short

	s, err := View(rec.Dir(), "localhost:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, to any) {
		t.Helper()
		w := httptest.NewRecorder()
		q := httptest.NewRequest("GET", "http://localhost"+path, nil)
		s.Handler().ServeHTTP(w, q)
		if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
			t.Fatalf("%s: %v: %s", path, err, w.Body)
		}
	}
	var results struct{ Results []fitResult }
	get("/api/identify", &results)
	if r := results.Results; len(r) != 2 || r[0].ID != "0002" || r[0].Verdict != identify.Identified || r[0].Model.Params["Fc"] < 1.19*0.015 {
		t.Errorf("results: %+v", r)
	}
	var info struct{ Axes []struct{ Name string } }
	get("/api/info", &info)
	if len(info.Axes) != 1 || info.Axes[0].Name != "shaft" {
		t.Errorf("axes %+v", info.Axes)
	}
	var curve [][2]float64
	get("/api/steady?axis=shaft&law=viscous&Fv=1e-3&delta=1", &curve)
	if len(curve) == 0 {
		t.Error("no curve of a law")
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := s.Run(ended); err != nil {
		t.Error(err)
	}
	if _, err := View(filepath.Join(dir, "nothing"), "", slog.Default()); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("of nothing: %v", err)
	}
}
