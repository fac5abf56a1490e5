package sink

import (
	"strings"
	"testing"
	"time"
)

// A burst of losses is told once, when it is over; a lasting one every ten seconds; an outage is left to BROKER_UP.
func TestLossesAreToldOncePerBurst(t *testing.T) {
	var l lossTally
	now := time.Unix(1000, 0)
	var s PublisherStats
	tick := func(dropped uint64, flowing bool) string {
		now = now.Add(time.Second)
		s.Dropped += dropped
		return l.due(now, s, flowing)
	}
	if tick(0, true) != "" || tick(40, true) != "" || tick(40, true) != "" {
		t.Error("told while the burst goes on, or without a loss")
	}
	if got := tick(0, true); !strings.HasPrefix(got, "80 rows were not published") {
		t.Errorf("at the end of the burst: %q", got)
	}
	if got := tick(0, true); got != "" {
		t.Errorf("told twice: %q", got)
	}
	told := 0
	for range 35 {
		if tick(1, true) != "" {
			told++
		}
	}
	if told != 3 {
		t.Errorf("a loss that lasts 35 s was told %d times", told)
	}
	l.summary(s)
	for range 20 {
		if got := tick(5, false); got != "" {
			t.Errorf("told in an outage: %q", got)
		}
	}
	if got := l.summary(s); !strings.HasPrefix(got, "100 rows") {
		t.Errorf("after the outage: %q", got)
	}
	if got := l.summary(s); got != "nothing was lost" {
		t.Errorf("%q", got)
	}
}
