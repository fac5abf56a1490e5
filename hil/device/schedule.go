package device

import (
	"math"
	"time"

	"hilrig/hil/protocol"
)

// schedule chooses which question is asked next. It keeps no clock: times (ns) are handed to it.
//
// The turn most overdue in its own periods comes first, so a line that carries fewer turns than asked for carries the same share of
// each; fixed priorities would starve the last ones. A command is a turn with the loop's period that is there only while a command
// waits. Turns that come once are asked before all others.
//
// A question whose period and that of the command go into one another is asked a quarter of the latter behind the command, so that a
// sample is as old in the next tick, and shows as much of the command, in each run. The questions have the rest of the period.
type schedule struct {
	turns []protocol.Turn
	state []turnState
	waits uint64 // times that nothing was due: the line has room

	tick   int64 // ns  when a command was asked: the others come whole periods before and behind it …
	period int64 // ns  … of this; 0: none was asked
}

// turnState is how far a turn has come.
type turnState struct {
	due         int64
	lastCommand uint64 // number of the command that was asked last
	tries       int    // without an answer, in this period
	silent      int    // periods without an answer
	waits       uint64 // of the schedule when it was asked last
	finished    bool   // of a turn that comes once
}

// slowestRetry is the longest period to which that of a turn grows that is not answered, so that a dead slave costs the others little.
const slowestRetry = int64(2 * time.Second)

func newSchedule(turns []protocol.Turn) *schedule {
	return &schedule{turns: turns, state: make([]turnState, len(turns))}
}

// reset begins anew, as behind a port that was opened: everything is due, and no command waits.
func (s *schedule) reset(now int64) {
	s.period = 0
	for k := range s.state {
		s.state[k] = turnState{due: now, lastCommand: s.state[k].lastCommand}
	}
}

// allFinished tells whether all turns come once and have come.
func (s *schedule) allFinished() bool {
	for k := range s.turns {
		if !s.turns[k].AtStart || !s.state[k].finished {
			return false
		}
	}
	return true
}

// drop forgets the commands up to a number.
func (s *schedule) drop(num uint64) {
	for k := range s.state {
		s.state[k].lastCommand, s.state[k].tries = num, 0
	}
}

// next is the turn to ask now, or −1 and the time of the first that is due. num counts commands: the newest is offered to the turns that
// have not asked it; commands tells whether any may be sent at all.
func (s *schedule) next(now int64, num uint64, commands bool) (turn int, at int64) {
	turn, at = -1, now+longestSleep
	best := 0.0
	for k := range s.turns {
		t, st := &s.turns[k], &s.state[k]
		if t.Fill != nil && (!commands || st.lastCommand == num && st.tries == 0) || t.AtStart && st.finished {
			continue
		}
		over := float64(now-st.due) / float64(t.Period)
		if t.AtStart {
			if over >= 0 {
				return k, now
			}
			s.waits++
			return -1, min(at, st.due) // nothing else before it
		}
		if t.Fill != nil && st.silent == 0 {
			over = max(over, 0) // a new command need not wait on a free line
		}
		if over < 0 {
			at = min(at, st.due)
		} else if turn < 0 || over > best {
			turn, best = k, over
		}
	}
	if turn < 0 {
		s.waits++
	}
	return turn, at
}

// finish notes that a turn that comes once has nothing more to ask.
func (s *schedule) finish(k int) { s.state[k].finished = true }

// questionEnded notes that a turn asked at a time was answered, or not. A question without an answer stays due while it may be repeated.
func (s *schedule) questionEnded(k int, asked int64, num uint64, answered bool) {
	t, st := &s.turns[k], &s.state[k]
	st.lastCommand = num
	period := int64(t.Period)
	if t.Fill != nil && st.tries == 0 {
		s.commandAsked(asked, period)
	}
	if !answered && st.tries < t.Retry {
		st.tries++
		return
	}
	st.tries = 0
	switch {
	case answered && t.Make != nil:
		st.silent, st.due = 0, asked // what it told may make another question
	case answered:
		st.silent, st.finished = 0, true
		late, room := asked-st.due, st.waits != s.waits
		switch {
		case t.Fill != nil || late > period/4 && !room: // so far behind the line is full, and nothing is made up for
			st.due = asked + period
		default: // the raster stays: the far end is sampled evenly, however late the thread of this line got to run
			if st.due += (max(0, late)/period + 1) * period; room {
				st.due = s.behindCommand(st.due, period)
			}
		}
		st.waits = s.waits
	default:
		st.silent = min(st.silent+1, 30)
		st.due = asked + min(period<<st.silent, max(period, slowestRetry))
	}
}

// commandAsked takes the time of a command: the clock of the loop is followed, and a command that is late moves it by little.
func (s *schedule) commandAsked(asked, period int64) {
	if s.period != period {
		s.tick, s.period = asked, period
		return
	}
	off := (asked - s.tick) % period
	switch {
	case off > period/2:
		off -= period
	case off < -period/2:
		off += period
	}
	s.tick += off / 32
}

// behindCommand is the time nearest to due at which a question of a period is to be asked.
func (s *schedule) behindCommand(due, period int64) int64 {
	if s.period == 0 || !divides(s.period, period) && !divides(period, s.period) {
		return due
	}
	from := s.tick + s.period/4
	return from + int64(math.Round(float64(due-from)/float64(period)))*period
}

// divides tells whether a period (ns) goes into another one, to what a rate in whole ns leaves.
func divides(part, whole int64) bool {
	n := (whole + part/2) / part
	return n > 0 && max(whole-n*part, n*part-whole) <= n
}
