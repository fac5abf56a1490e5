package device

import (
	"strings"
	"testing"
	"time"

	"hilrig/hil/wire"
)

// What the slaves say to commands shows at once, of each question by itself, and the number of the newest that all took; a slave that
// refuses or is silent is told from one that takes, and the same in the opposite order.
func TestConfirmation(t *testing.T) {
	m := newMaster(t, func(o *Options) {
		o.Command = []wire.Field{at("u", wire.U16, 1, wire.Holding, 9), at("fan", wire.U16, 2, wire.Holding, 9)}
		o.Safe = []float64{0, 0}
		s := quick()
		s.Retry = 0
		o.Protocol = s
	})
	m.start(t)
	check := func(what string, want Confirmation, behind uint64) {
		t.Helper()
		until(t, what, func() bool {
			said, since := m.Confirmation()
			return said == want && (since == behind || behind == anyNumber)
		})
		if s := m.stats(); Confirmation(s.Confirmation) != want {
			t.Errorf("%s: stats say %v, want %v", what, Confirmation(s.Confirmation), want)
		}
	}
	// both answers the question to each slave, in whatever order they are asked
	both := func(answer func(q []byte)) {
		for range 2 {
			answer(m.question(t))
		}
	}
	take := func(q []byte) { m.write(t, q) }
	refuse := func(q []byte) { m.write(t, crc(q[0], q[1]|0x80, 4)) }
	check("nothing was sent", Unsent, 0)
	m.Send([]float64{1, 0})
	both(take)
	check("taken", Confirmed, 0)
	m.Send([]float64{2, 0})
	both(refuse)
	check("refused", RefusedCommand, 1)
	m.Send([]float64{3, 0})
	both(func(q []byte) {
		if q[0] == 1 {
			refuse(q)
		} else {
			take(q)
		}
	})
	check("one refuses", RefusedCommand, 2)
	m.Send([]float64{4, 0})
	both(take)
	check("taken again", Confirmed, 0)
	m.Send([]float64{4.5, 0})
	both(func(q []byte) {
		if q[0] == 1 && q[1] != 6 {
			t.Fatalf("% x, want function 6", q)
		}
		if q[0] == 1 { // the slave has kept another value
			m.write(t, crc(q[0], q[1], q[2], q[3], q[4], q[5]^1))
		} else {
			take(q)
		}
	})
	check("another value", RefusedCommand, 1)
	if s := m.stats(); !strings.Contains(s.Trouble(m.turns), "another value") {
		t.Errorf("another value: %q", s.Trouble(m.turns))
	}
	m.Send([]float64{4, 0})
	both(take)
	check("taken after another value", Confirmed, 0)
	m.Send([]float64{5, 0})
	both(func(q []byte) {
		if q[0] == 2 {
			m.timeOut(t)
			m.jump(time.Second)
		} else {
			take(q)
		}
	})
	check("one is silent", UnansweredCommand, 1)
	m.jump(5 * time.Second)
	m.Send([]float64{6, 0})
	both(func(q []byte) {
		bad := append([]byte(nil), q...)
		bad[len(bad)-1] ^= 1 // its checksum
		m.write(t, bad)
	})
	check("damaged replies", UnansweredCommand, anyNumber)
	m.jump(5 * time.Second)
	m.Send([]float64{7, 0})
	both(take)
	check("taken at last", Confirmed, 0)
	if s := m.stats(); s.CommandsRefused != 4 || s.CommandsUnanswered != 3 {
		t.Errorf("%d refused and %d unanswered, want 4 and 3", s.CommandsRefused, s.CommandsUnanswered)
	}
}

const anyNumber = 1 << 62

// A device that never answers commands says so, and so does one that takes none.
func TestConfirmationOfOthers(t *testing.T) {
	for name, m := range map[string]*master{
		"reads only": newMaster(t, func(o *Options) { o.Measure = []wire.Field{at("a", wire.U16, 1, wire.Input, 4)} }),
		"link": newMaster(t, func(o *Options) {
			o.Protocol, o.Command, o.Safe = nil, []wire.Field{{Name: "u", Type: wire.F32, Scale: 1}}, []float64{0}
		}),
		"dry run": newMaster(t, func(o *Options) {
			o.Command, o.Safe, o.DryRun = []wire.Field{at("u", wire.U16, 1, wire.Holding, 9)}, []float64{0}, true
		}),
	} {
		for range 3 {
			m.Send(make([]float64, 1))
		}
		if said, since := m.Confirmation(); said != NeverConfirms || since != 0 {
			t.Errorf("%s: %v, %d behind", name, said, since)
		}
	}
}
