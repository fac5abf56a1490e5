package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"

	"hilrig/hil"
)

// A plant that takes more of a second than the share is put back at ordinary priority, once; one that takes less is not.
func TestPlantWatchShare(t *testing.T) {
	for _, c := range []struct {
		busy    int32 // ns of each tick of 1 ms
		ordered bool  // in real time
		want    bool
	}{{890e3, true, false}, {910e3, true, true}, {5e6, true, true}, {910e3, false, false}} {
		w := &plantWatch{Outside: Nobody{}, realTime: c.ordered}
		skip := max(1, (int64(c.busy)+1e6-1)/1e6) // a loop that is late skips
		for i := int64(1); i <= 2100/skip; i++ {
			w.OnRow(&hil.Row{T: i * skip * 1e6, BusyTime: c.busy})
			if i*skip < 1000 && w.lowered.Load() {
				t.Fatalf("lowered after %d ms", i*skip)
			}
		}
		if got := w.lowered.Load(); got != c.want || w.realTime != (c.ordered && !c.want) {
			t.Errorf("%d ns in each ms: lowered %v, want %v; in real time %v", c.busy, got, c.want, w.realTime)
		}
	}
}

// What a sensor may be late by is not told, more is, once.
func TestPlantWatchLate(t *testing.T) {
	w := &plantWatch{Outside: Nobody{}}
	out, in := io.Pipe()
	stop := w.report(context.Background(), json.NewEncoder(in))
	w.OnRow(&hil.Row{T: 1e9, Lateness: 19e6})
	w.OnRow(&hil.Row{T: 2e9, Lateness: 62e6})
	w.OnRow(&hil.Row{T: 2.1e9, Lateness: 40e6})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != `{"late_ms":62}`+"\n" {
		t.Errorf("%q %v", line, err)
	}
	w.OnRow(&hil.Row{T: 3e9, Lateness: 20e6})
	go io.Copy(io.Discard, out)
	stop()
	if late := w.maxLateness.Load(); late != 20e6 {
		t.Errorf("%d ns left", late)
	}
	r := &hil.Row{T: 1, Lateness: 30e6, BusyTime: 1e5}
	if n := testing.AllocsPerRun(100, func() { w.OnRow(r) }); n != 0 {
		t.Errorf("%v allocations in a tick", n)
	}
}
