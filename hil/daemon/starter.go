package daemon

import (
	"context"
	"fmt"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
)

// starter arms the rig and runs it, one step at a time as the guard gets there. An order that is refused for something that can pass by
// itself, a cause that is there for a moment or a loop that did not answer, is tried again, once in startAgain. A trip ends that for good,
// and so does a person who orders a hold, a stop or an emergency stop.
type starter struct {
	commands      *commands
	event         func(level, code, text string)
	active        bool
	unlatchedSeen bool // a mode that is not latched was seen
	armed         bool // it has armed the rig
	retryReported bool // that it tries again
	retryTime     time.Time
	answer        chan startAnswer // of the order that is under way; nil: none
}

type startAnswer struct {
	reply   hil.Reply
	refusal hil.Refusal
	run     bool
}

// startAgain is the time between two tries.
const startAgain = time.Second

// step looks at the newest mode.
func (s *starter) step(ctx context.Context, m hil.Mode, now time.Time) {
	switch {
	case !s.active:
		return
	case s.unlatchedSeen && m.Latched(), s.commands.overruled.Load():
		s.active = false
		return
	}
	s.unlatchedSeen = s.unlatchedSeen || m != hil.Init && !m.Latched()
	select {
	case a := <-s.answer:
		s.answer = nil
		s.takeAnswer(a, now)
	default:
	}
	if !s.active || s.answer != nil || now.Before(s.retryTime) {
		return
	}
	switch {
	case m == hil.Ready:
		s.order(ctx, "arm")
	case m == hil.Armed && s.armed:
		s.order(ctx, "run")
	}
}

// takeAnswer is what became of an order.
func (s *starter) takeAnswer(a startAnswer, now time.Time) {
	switch {
	case a.reply.OK && a.run:
		s.active = false
	case a.reply.OK:
		s.armed = true
	case a.refusal == hil.NoDrive || a.refusal == hil.Unwatched || a.refusal == hil.NotAllowed || a.refusal == hil.DryRunOnly:
		s.active = false
	default:
		if s.retryTime = now.Add(startAgain); !s.retryReported {
			s.retryReported = true
			s.event("warn", "START_AGAIN", fmt.Sprintf("the rig is not started yet: %s. It is tried again every %v, until a trip, or until "+
				"somebody orders hold, stop or estop", a.reply.Error, startAgain))
		}
	}
}

func (s *starter) order(ctx context.Context, name string) {
	answer := make(chan startAnswer, 1)
	s.answer = answer
	go func() {
		defer failure.Report()
		reply, refusal := s.commands.carry(ctx, hil.Command{Name: name, Source: startSource})
		answer <- startAnswer{reply, refusal, name == "run"}
	}()
}

// startSource is where the orders of the starter come from.
const startSource = "start"
