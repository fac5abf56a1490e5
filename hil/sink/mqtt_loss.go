package sink

import (
	"fmt"
	"time"
)

// lossTally puts counters into words: when the broker is back, and at the end of each burst of losses in between, or every
// ten seconds of a lasting one.
type lossTally struct {
	reported, observed lossCount
	burstStart         time.Time
}

// lossCount is what a publisher lost.
type lossCount struct {
	Dropped       uint64 // rows never sent: queue full, no connection, or the broker not answering
	Unconfirmed   uint64 // rows sent on a connection that broke before the broker acknowledged anything after them
	RingDropped   uint64 // rows that found the ring full, which means that the draining goroutine was held up
	EventsDropped uint64 // events and answers that found their queue full
}

const lossEvery = 10 * time.Second

func (l *lossTally) due(now time.Time, s PublisherStats, flowing bool) string {
	c := s.lossCount
	growing := c != l.observed
	l.observed = c
	if c == l.reported {
		return ""
	}
	if l.burstStart.IsZero() {
		l.burstStart = now
	}
	if !flowing || growing && now.Sub(l.burstStart) < lossEvery {
		return ""
	}
	return l.summary(s)
}

// summary is what was lost since the last summary, in words.
func (l *lossTally) summary(s PublisherStats) string {
	c, r := s.lossCount, l.reported
	l.reported, l.burstStart = c, time.Time{}
	if c == r {
		return "nothing was lost"
	}
	return fmt.Sprintf("%d rows were not published, %d more may not have arrived, %d found the ring full, %d events were dropped",
		c.Dropped-r.Dropped, c.Unconfirmed-r.Unconfirmed, c.RingDropped-r.RingDropped, c.EventsDropped-r.EventsDropped)
}
