package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// ReplayResult is what a replay found.
type ReplayResult struct {
	Run             string   `json:"run"`
	Rows            uint64   `json:"rows"`
	Differ          uint64   `json:"differ"`
	Epochs          int      `json:"epochs"`
	Gaps            uint64   `json:"gaps"` // ticks missing in the recording
	Truncated       string   `json:"truncated,omitempty"`
	FirstDifference string   `json:"first_difference,omitempty"`
	Version         string   `json:"recorded_by"`
	Signals         []string `json:"signals,omitempty"` // that differ in the first row
}

// PrintReplay repeats a run and says whether its rows are the same.
func PrintReplay(ctx context.Context, path string, o *report.Output) error {
	bar := report.NewProgress(o.Stderr)
	res, err := Replay(ctx, path, bar)
	bar.Finish()
	if err == nil {
		err = o.Give(res, res.Print)
	}
	if err == nil && res.Differ > 0 {
		return report.ExitWith(report.Quality, fmt.Errorf("%d of %d rows differ", res.Differ, res.Rows))
	}
	return err
}

// Replay repeats one run, epoch by epoch: each incarnation of the core began with a fresh controller.
func Replay(ctx context.Context, path string, bar *report.Progress) (ReplayResult, error) {
	res := ReplayResult{Run: path}
	rec, err := sink.OpenRun(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return res, report.ExitWith(report.Unavailable, err)
		}
		return res, report.ExitWith(report.Invalid, err)
	}
	defer rec.Close()
	res.Version = rec.Info.Version
	if cut, lost := rec.Truncated(); cut {
		res.Truncated = lost
	}
	cfg, err := configs.LoadBytes(filepath.Join(path, "run.yaml (in the recording)"), rec.Info.Config)
	if err != nil {
		return res, report.ExitWith(report.Invalid, err)
	}
	a, err := Assemble(cfg, Handover{DryRun: rec.Info.DryRun})
	if err != nil {
		return res, report.ExitWith(report.Invalid, err)
	}
	if !slices.Equal(a.Schema.Signals(), rec.Info.Schema.Signals()) {
		return res, report.ExitWith(report.Invalid, fmt.Errorf("%s: its rows are not those of the controller of its configuration: a virtual "+
			"rig recorded them, or another version of the program (%s); hil export reads them", path, res.Version))
	}
	blocks, err := rec.Params()
	if err != nil {
		return res, report.ExitWith(report.Invalid, err)
	}

	watch := alongRun(bar, "replay", rec)
	it := rec.Iter()
	var ahead hil.Row
	have := it.Next(&ahead)
	for have {
		epoch, last := ahead.Epoch, ahead.Seq-1
		if ahead.Seq != 1 {
			return res, report.ExitWith(report.Invalid, fmt.Errorf("%s: the first rows of epoch %d are missing (it begins at tick %d): a replay "+
				"needs the state from the start", path, epoch, ahead.Seq))
		}
		res.Epochs++
		next := func(r *hil.Row) bool {
			if !have || ahead.Epoch != epoch || ctx.Err() != nil {
				return false
			}
			if ahead.Seq != last+1 {
				res.Gaps += ahead.Seq - last - 1
			}
			last = ahead.Seq
			watch(&ahead)
			*r = ahead
			have = it.Next(&ahead)
			return true
		}
		role := a.NewRole()
		change := func(gen uint32) *hil.Change { return changeOf(role, blocks, gen) }
		rp := hil.NewReplay(a.Schema, next, change)
		hil.NewLoop(rp, rp, rp, role, epoch).Run()
		if res.Rows += rp.N; ctx.Err() != nil {
			return res, report.ExitWith(report.Interrupted, fmt.Errorf("replay: interrupted after %d rows", res.Rows))
		}
		if rp.Diff > 0 && res.Differ == 0 {
			res.FirstDifference = fmt.Sprintf("epoch %d tick %d", epoch, rp.DiffRecorded.Seq)
			for i, s := range a.Schema.Signals() {
				if x, y := rp.DiffRecorded.X[i], rp.DiffReplayed.X[i]; x != y && (x == x || y == y) {
					res.Signals = append(res.Signals, fmt.Sprintf("%s: recorded %v, replayed %v", s.Name, x, y))
				}
			}
			if len(res.Signals) == 0 {
				res.Signals = append(res.Signals, fmt.Sprintf("recorded flags %b mode %v, replayed flags %b mode %v", rp.DiffRecorded.Flags,
					rp.DiffRecorded.Mode, rp.DiffReplayed.Flags, rp.DiffReplayed.Mode))
			}
		}
		res.Differ += rp.Diff
	}
	if err := it.Err(); err != nil {
		return res, report.ExitWith(report.Invalid, err)
	}
	if res.Gaps > 0 {
		return res, report.ExitWith(report.Invalid, fmt.Errorf("%s: %d rows are missing inside the recording; the controller's state cannot be "+
			"repeated across a gap", path, res.Gaps))
	}
	return res, nil
}

// changeOf prepares the parameter block of a generation; nil: the recording has none of it.
func changeOf(role hil.Role, blocks []sink.ParamsAt, gen uint32) *hil.Change {
	i := slices.IndexFunc(blocks, func(b sink.ParamsAt) bool { return b.Gen == gen })
	tuned, ok := role.(hil.Tuned)
	if i < 0 || !ok {
		return nil
	}
	if tuned.Check(&blocks[i].Params) != nil {
		return nil // the rows that follow will differ
	}
	c, err := tuned.Prepare(&blocks[i].Params)
	if err != nil {
		return nil
	}
	return c
}

// Print says how many rows came out as they were recorded, and where the first one differs.
func (r *ReplayResult) Print(w io.Writer) {
	if r.Truncated != "" {
		fmt.Fprintf(w, "the recording was cut short: %s\n", r.Truncated)
	}
	if r.Differ == 0 {
		fmt.Fprintf(w, "%d rows replayed, all equal bit for bit\n", r.Rows)
		return
	}
	fmt.Fprintf(w, "%d of %d rows differ, first at %s\n", r.Differ, r.Rows, r.FirstDifference)
	for _, s := range r.Signals {
		fmt.Fprintln(w, "  "+s)
	}
	fmt.Fprintf(w, "recorded by %s, replayed by %s\n", r.Version, report.Version())
}
