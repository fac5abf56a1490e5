package daemon

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/rt"
)

// plantWatch looks at the ticks of a virtual rig: a plant that gets no processor is no sick sensor, and one that cannot keep up with time
// must not keep a processor from everything else.
type plantWatch struct {
	hil.Outside
	period   int64 // ns
	realTime bool  // it runs at rt.PlantPriority

	secondStart, busyTime int64        // ns  begin of the present second, and how long the plant has computed in it
	maxLateness           atomic.Int64 // ns  latest tick since the last report
	lowered               atomic.Bool  // it took more time than there is, and was put back at ordinary priority
}

// RigNews is what a virtual rig says on stdout after RigReady, once a second at most.
type RigNews struct {
	MaxLateness int64 `json:"late_ms,omitempty"` // ms  longest time for which it got no processor
	Lowered     bool  `json:"lowered,omitempty"` // the plant cannot keep up with time: it goes on at ordinary priority
}

const (
	plantLate  = 20 * time.Millisecond // the least age at which a sample is called stale if the file names none
	plantShare = 0.9                   // of a processor; the kernel takes the processor from real-time threads at 0.95
)

// OnRow adds up a tick, in the tick.
func (w *plantWatch) OnRow(r *hil.Row) {
	w.Outside.OnRow(r)
	if late := int64(r.Lateness); late > w.maxLateness.Load() {
		w.maxLateness.Store(late)
	}
	w.busyTime += int64(r.BusyTime)
	switch span := r.T - w.secondStart; {
	case w.secondStart == 0:
		w.secondStart, w.busyTime = r.T, 0
	case span >= 1e9:
		if w.realTime && float64(w.busyTime) > plantShare*float64(span) {
			w.realTime = false
			rt.Lower() // what cannot be lowered stays, and the kernel leaves others a twentieth
			w.lowered.Store(true)
		}
		w.secondStart, w.busyTime = r.T, 0
	}
}

// report writes the news of the rig until ctx ends or stop is called.
func (w *plantWatch) report(ctx context.Context, out *json.Encoder) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer failure.Report()
		defer close(done)
		every(ctx, time.Second, func() {
			late := w.maxLateness.Swap(0)
			news := RigNews{Lowered: w.lowered.Swap(false)}
			if late > int64(plantLate) {
				news.MaxLateness = late / 1e6
			}
			if news != (RigNews{}) {
				out.Encode(news)
			}
		})
	}()
	return func() { cancel(); <-done }
}
