package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"hilrig/cmd/report"
	"hilrig/hil"
	"hilrig/hil/sink"
)

// afterTrip says what to do after a trip, while the run goes on or after its end.
func (d *services) afterTrip(cause hil.Cause, ended bool) string {
	then := "reset (page, or cmd/reset), arm and run"
	switch {
	case ended && d.cfg.IsVirtual():
		then = "start again"
	case ended:
		then = "start again with --reset"
	}
	return cause.Advice() + ". Then " + then + ". docs/reference/safety.md explains the guard"
}

// finish writes what is said at the end of a run.
func (d *services) finish(o RunOptions, out io.Writer) {
	if d.ledger != nil {
		if err := d.ledger.Close(d.sup.Load().Mode().String(), d.sup.Load().Rows()); err != nil {
			d.log.Warn("ledger: " + err.Error())
		}
	}
	s := d.metrics.Summary()
	answer := summaryFile{Summary: s, FIFO: d.fifo.Load(), RowsLost: d.sup.Load().LostRows(), Mode: d.sup.Load().Mode().String()}
	if d.recorder != nil {
		answer.Run = d.recorder.Dir()
	}
	if o.Json && !d.plant {
		_ = report.EncodeJSON(out, answer) // whoever does not read it does not want it
	}
	if o.Summary != "" {
		data, err := json.Marshal(answer)
		if err == nil {
			err = os.WriteFile(o.Summary, data, 0o644)
		}
		if err != nil {
			d.log.Error(fmt.Sprintf("summary: %v", err))
		}
	}
	if s.Ticks > 0 {
		d.log.Info(fmt.Sprintf("%d ticks at %.1f Hz; lateness p50 %.1f p99 %.1f p99.9 %.1f max %.1f µs; busy p50 %.1f µs; %d skipped",
			s.Ticks, s.Rate, s.Lateness.P50, s.Lateness.P99, s.Lateness.P999, s.Lateness.Max, s.BusyTime.P50, s.Skipped))
	}
	for i := range d.cfg.Axes {
		if live := d.liveRows[i].Estimate(); !d.plant && d.cfg.Axes[i].Estimator.RLS.Enabled && s.Ticks > 0 &&
			(d.channels == nil || live != nil) {
			d.log.Info(d.estimates(d.cfg.Axes[i].Name, live))
		}
	}
	if d.recorder != nil && d.recorder.Stats().Rows > 0 {
		next := "hil identify "
		if d.plant || len(d.cfg.Axes) == 0 || d.info.DryRun {
			next = "hil export "
		}
		d.log.Info("recorded", "run", d.recorder.Dir(), "rows", d.recorder.Stats().Rows, "next",
			report.AsStarted(next+d.recorder.Dir()+d.axisFlag()))
	}
}

// axisFlag says what of a recording is to be identified where it has several axes.
func (d *services) axisFlag() string {
	switch {
	case d.plant || len(d.cfg.Axes) < 2:
		return ""
	case d.cfg.Mechanism != nil:
		return " --machine"
	}
	return " --axis " + d.cfg.Axes[0].Name
}

// estimates are the last ones of an axis in words, each with its standard error and unit.
func (d *services) estimates(axis string, live *sink.LiveEstimate) string {
	of := ""
	if len(d.cfg.Axes) > 1 {
		of = " of " + axis
	}
	if live == nil {
		return "no estimates" + of + ": the recursive estimate " + sink.NoLive
	}
	text := "estimates" + of + " ± standard error:"
	for _, p := range live.Parameters {
		show := report.Digits(p.Value, &p.StdErr)
		text += fmt.Sprintf(" %s = %s ± %s %s,", p.Name, show(p.Value), show(p.StdErr), p.Unit)
	}
	text += fmt.Sprintf(" from %d windows", live.Windows)
	if live.Stale > 2 {
		text += fmt.Sprintf(", %.0f s before the end", live.Stale)
	}
	return text
}
