package identify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hilrig/cmd/report"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/fit"
)

// statusEvery is how often the progress of a fit is published.
const statusEvery = time.Second

// announcer publishes a fit on the topics that one beside the loop has. nil: nobody asked for it.
type announcer struct {
	topics   *sink.FitTopics
	status   identify.Status
	rig      string
	lastSent time.Time
}

// announce connects to the broker of --publish. rig and axis may be unknown, "".
func (f *Options) announce(ctx context.Context, rig, axis, way, law string) (*announcer, error) {
	if f.publish == "" {
		return nil, nil
	}
	rig = cmp.Or(rig, "identify")
	topics, err := sink.DialFitTopics(ctx, f.publish, "hil/"+rig)
	if err != nil {
		return nil, report.ExitWith(report.Unavailable, fmt.Errorf("--publish: %w", err))
	}
	a := &announcer{topics: topics, rig: rig, status: identify.Status{State: "running", Axis: axis, Trigger: way, Law: law}}
	a.publishStatus()
	return a, nil
}

func (a *announcer) publishStatus() {
	a.lastSent = time.Now()
	a.status.Timestamp = identify.Stamp(a.lastSent)
	if body, err := json.Marshal(&a.status); err == nil {
		a.topics.Status(body)
	}
}

// watch passes progress on, and publishes it now and then.
func (a *announcer) watch(next fit.Watch) fit.Watch {
	if a == nil {
		return next
	}
	return func(p fit.Progress) {
		next.Report(p)
		if time.Since(a.lastSent) >= statusEvery {
			a.status.Where = whereOf(p)
			a.publishStatus()
		}
	}
}

// result publishes what came out; nil with err: why nothing did.
func (a *announcer) result(r *identify.Result, file string, failed error) error {
	if a == nil {
		return nil
	}
	defer a.topics.Close()
	a.status.Where = identify.Where{}
	if r == nil {
		a.status.State, a.status.Reason = "failed", failed.Error()
		a.publishStatus()
		return nil
	}
	p := identify.Published{
		Timestamp: identify.Stamp(time.Now()), ID: "offline-" + time.Now().UTC().Format("20060102T150405Z"), Rig: a.rig, Axis: a.status.Axis,
		Trigger: a.status.Trigger,
		Summary: r.Summary(), File: file, Command: report.CommandLine(),
	}
	if p.Acceptable { // a running rig takes its own only
		p.Acceptable, p.Refusal = false, "it was not made by the running rig: hil config apply writes it into the file"
	}
	body, err := json.Marshal(p)
	if err == nil {
		err = a.topics.Result(body)
	}
	a.status.State = "done"
	if err != nil {
		a.status.State, a.status.Reason = "failed", err.Error()
	}
	a.publishStatus()
	if err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("--publish: %w", err))
	}
	return nil
}
