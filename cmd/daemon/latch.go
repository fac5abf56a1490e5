package daemon

import (
	"context"
	"time"

	"hilrig/hil"
	"hilrig/hil/daemon"
)

// latchKeeper keeps what outlives the daemon on disk: at once when something latches or is reset, else once a second.
type latchKeeper struct {
	*daemon.Latch
	previousRun hil.Before
	news        chan struct{}
	warn        func(string)
}

// keepLatch reads what the run before left, and tells of it; nil: there is no rig that outlives the daemon. A virtual rig is a new one each
// time.
func (d *services) keepLatch(virtual bool) *latchKeeper {
	if d.plant || virtual {
		return nil
	}
	l, before, text := daemon.OpenLatch(d.cfg.Record.Dir, d.cfg.Rig.Name, d.a)
	if text != "" {
		d.bus.emit(hil.Event{Time: time.Now(), Level: "error", Code: "LATCHED", Text: text})
	}
	return &latchKeeper{Latch: l, previousRun: before, news: make(chan struct{}, 1), warn: func(text string) { d.log.Warn(text) }}
}

// options are what the supervisor must know of it.
func (k *latchKeeper) options(o *daemon.Options) {
	if k == nil {
		return
	}
	o.PreviousRun = k.previousRun
	o.Latched = func() {
		select {
		case k.news <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// run writes until ctx ends, and what there is then.
func (k *latchKeeper) run(ctx context.Context, left func() hil.Before) {
	if k == nil {
		return
	}
	t := time.NewTicker(time.Second)
	defer t.Stop()
	var told error
	keep := func(b hil.Before) {
		err := k.Save(b)
		if err != nil && told == nil {
			k.warn("a trip, an emergency stop or a hot winding would be forgotten at the next start: " + err.Error())
		}
		told = err
	}
	for {
		select {
		case <-k.news:
			keep(left())
		case <-t.C:
			keep(left())
		case <-ctx.Done():
			keep(left())
			return
		}
	}
}
