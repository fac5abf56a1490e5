package device

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hilrig/engine"
)

// Member is one device of a set: a Rig, or on the far side a Firmware.
type Member interface {
	Signals() (meas, cmd []engine.Signal)
	Start(ctx context.Context) error
	Poll(now int64, y []float64) (fresh uint64) // a bit per measured signal, its age included
	Send(u []float64)
	Close() error

	Pace() (stamp int64, n uint64)
	Connected() bool
	Reconnects() uint64
	Flush()
	Safe()
	Stats(s *Stats)
	Confirmation() (said Confirmation, since uint64)
}

// MaxDevices is the number of devices of a rig.
const MaxDevices = 8

// Part is a member of a set with what the set must know of it.
type Part struct {
	Name      string
	Member    Member
	Optional  bool // it may be away: then only its age tells
	SendEvery int  // Send reaches it every so many times, as a board that samples more slowly; 0: each time
}

// Set is several devices as the loop's one. The measured signals of the members stand one after the other, each member's age behind
// its own; so do the commands.
type Set struct {
	parts     []Part
	spans     []span
	paces     int // member whose frames make the ticks
	sendCount int // Sends so far
}

// span is the place of a member's signals in y and u.
type span struct{ meas, nMeas, cmd, nCmd int }

// NewSet puts devices together; paces is the index of the one that Pace tells of. Errors: none or too many devices, more measured signals
// than there are fresh bits.
func NewSet(paces int, parts ...Part) (*Set, error) {
	if len(parts) == 0 || len(parts) > MaxDevices {
		return nil, fmt.Errorf("%d devices, want 1 to %d", len(parts), MaxDevices)
	}
	s := &Set{parts: parts, paces: paces}
	var next span
	for _, p := range parts {
		meas, cmd := p.Member.Signals()
		next.nMeas, next.nCmd = len(meas), len(cmd)
		s.spans = append(s.spans, next)
		next.meas, next.cmd = next.meas+len(meas), next.cmd+len(cmd)
	}
	if most := 128; next.meas > most {
		return nil, fmt.Errorf("%d measured signals with the ages of their devices, at most %d", next.meas, most)
	}
	return s, nil
}

// Signals are those of the members, in their order.
func (s *Set) Signals() (meas, cmd []engine.Signal) {
	for _, p := range s.parts {
		m, c := p.Member.Signals()
		meas, cmd = append(meas, m...), append(cmd, c...)
	}
	return meas, cmd
}

// Start starts the members; one that cannot is an error, and the others are closed again.
func (s *Set) Start(ctx context.Context) error {
	for i, p := range s.parts {
		if err := p.Member.Start(ctx); err != nil {
			for _, q := range s.parts[:i] {
				q.Member.Close()
			}
			return err
		}
	}
	return nil
}

// Poll copies the newest values of all members into y, and tells which came since the last Poll.
func (s *Set) Poll(now int64, y []float64) (fresh [2]uint64) {
	for i := range s.parts {
		at := &s.spans[i]
		bits := s.parts[i].Member.Poll(now, y[at.meas:at.meas+at.nMeas])
		word, shift := at.meas>>6, at.meas&63
		fresh[word] |= bits << shift
		if shift+at.nMeas > 64 {
			fresh[word+1] |= bits >> (64 - shift)
		}
	}
	return fresh
}

// Send leaves each member its commands.
func (s *Set) Send(u []float64) {
	for i := range s.parts {
		if at := &s.spans[i]; at.nCmd > 0 && s.sendCount%max(1, s.parts[i].SendEvery) == 0 {
			s.parts[i].Member.Send(u[at.cmd : at.cmd+at.nCmd])
		}
	}
	s.sendCount++
}

// Close closes all members at once: one that hangs does not keep another from its safe frame.
func (s *Set) Close() error {
	errs := make([]error, len(s.parts))
	s.forEach(func(i int, m Member) { errs[i] = m.Close() })
	return errors.Join(errs...)
}

// Safe sends the safe frames of all members at once.
func (s *Set) Safe() { s.forEach(func(_ int, m Member) { m.Safe() }) }

func (s *Set) forEach(do func(i int, m Member)) {
	var wg sync.WaitGroup
	for i := range s.parts {
		wg.Go(func() { do(i, s.parts[i].Member) })
	}
	wg.Wait()
}

// Pace is that of the member whose frames make the ticks.
func (s *Set) Pace() (stamp int64, n uint64) { return s.parts[s.paces].Member.Pace() }

// Connected tells whether every required member is there, and if not, the place of the age of the first that is away among the measured
// signals; −1 else.
func (s *Set) Connected() (away int, ok bool) {
	for i := range s.parts {
		if p := &s.parts[i]; !p.Optional && !p.Member.Connected() {
			return s.spans[i].meas + s.spans[i].nMeas - 1, false
		}
	}
	return -1, true
}

// Reconnects is how often each required member was opened again; of optional ones it is zero. By value: what goes through a pointer behind
// an interface is allocated, in every tick.
func (s *Set) Reconnects() (n [MaxDevices]uint64) {
	for i := range s.parts {
		if p := &s.parts[i]; !p.Optional {
			n[i] = p.Member.Reconnects()
		}
	}
	return n
}

// Confirmation is what the device i said to the newest command that was written to it, and how many Sends of the loop were made since the
// newest one that is known to be in force: after an order it is in force once there are fewer than the ticks since the order. A safe
// frame past the mailbox (Safe) is not counted. No lock; for the goroutine that calls Send.
func (s *Set) Confirmation(i int) (said Confirmation, since uint64) {
	said, since = s.parts[i].Member.Confirmation()
	return said, since * uint64(max(1, s.parts[i].SendEvery))
}

// AgeAt is the place of a member's age among the measured signals.
func (s *Set) AgeAt(i int) int { return s.spans[i].meas + s.spans[i].nMeas - 1 }

// Flush makes everything that has arrived so far count as old.
func (s *Set) Flush() {
	for i := range s.parts {
		s.parts[i].Member.Flush()
	}
}

// Stats fills the numbers of each member.
func (s *Set) Stats(all *[MaxDevices]Stats) {
	for i := range s.parts {
		s.parts[i].Member.Stats(&all[i])
	}
}
