package sink

import (
	"fmt"
	"time"
)

// lossTally puts counters into words: when the broker is back, and at the end of each burst of losses in between, or every
// ten seconds of a lasting one.
type lossTally struct {
	reported, seen lossCount
	since          time.Time
}

type lossCount struct{ dropped, unconfirmed, ring, events uint64 }

const lossEvery = 10 * time.Second

func (l *lossTally) due(now time.Time, s PublisherStats, flowing bool) string {
	c := losses(s)
	growing := c != l.seen
	l.seen = c
	if c == l.reported {
		return ""
	}
	if l.since.IsZero() {
		l.since = now
	}
	if !flowing || growing && now.Sub(l.since) < lossEvery {
		return ""
	}
	return l.take(s)
}

// take says what was lost since it was said last.
func (l *lossTally) take(s PublisherStats) string {
	c, r := losses(s), l.reported
	l.reported, l.since = c, time.Time{}
	if c == r {
		return "nothing was lost"
	}
	return fmt.Sprintf("%d rows were not published, %d more may not have arrived, %d found the ring full, %d events were dropped",
		c.dropped-r.dropped, c.unconfirmed-r.unconfirmed, c.ring-r.ring, c.events-r.events)
}

func losses(s PublisherStats) lossCount {
	return lossCount{s.Dropped, s.Unconfirmed, s.RingDropped, s.EventsDropped}
}
