package daemon

import (
	"testing"
	"time"
)

// A living core trips by itself before it is taken for dead, whatever the file allows it.
func TestStall(t *testing.T) {
	for _, c := range []struct {
		limit, period time.Duration
		fifo          bool
		want          time.Duration
	}{
		{0, time.Millisecond, true, 60 * time.Millisecond},
		{5 * time.Millisecond, time.Millisecond, true, 60 * time.Millisecond},
		{20 * time.Millisecond, time.Millisecond, true, 70 * time.Millisecond},
		{100 * time.Millisecond, time.Millisecond, true, 150 * time.Millisecond},
		{100 * time.Millisecond, time.Millisecond, false, 200 * time.Millisecond},
		{200 * time.Millisecond, time.Millisecond, false, 250 * time.Millisecond},
		{10 * time.Second, time.Millisecond, true, 10050 * time.Millisecond},
		{100 * time.Millisecond, 50 * time.Millisecond, true, 200 * time.Millisecond},
	} {
		s := &Supervisor{a: &Assembly{Limit: int64(c.limit), Period: int64(c.period)}}
		if got := s.stall(c.fifo); got != c.want {
			t.Errorf("limit %v, period %v, real time %v: %v, want %v", c.limit, c.period, c.fifo, got, c.want)
		}
	}
}
