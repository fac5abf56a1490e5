package device

import "sync/atomic"

// Confirmation is what a device said to the newest command that was written to it. Where a command travels in several questions the
// greatest number counts.
type Confirmation uint8

const (
	NeverConfirms     Confirmation = iota // its protocol has no replies to commands (link, line), or it takes none
	Confirmed                             // an intact reply says that it was taken
	Unsent                                // it will be answered, but nothing was written yet since the port was opened
	UnansweredCommand                     // no good reply in time: nobody knows whether it is in force
	RefusedCommand                        // an intact reply says no: it is not in force
)

func (c Confirmation) String() string {
	return [...]string{"never confirms", "confirmed", "unsent", "unanswered", "refused"}[c]
}

// commandReplies keeps what the far end said to each question that commands. The sending thread owns it; newest and confirmed are for
// whoever asks.
type commandReplies struct {
	said []Confirmation // to each turn; NeverConfirms: it commands nothing
	num  []uint64       // of each turn: number of the newest command that was confirmed

	newest    atomic.Uint64 // the greatest of said
	confirmed atomic.Uint64 // the smallest of num, of turns that command
}

// begin begins anew, as behind a port that was opened: what was confirmed before the device may have forgotten.
func (r *commandReplies) begin() {
	for k := range r.said {
		if r.said[k] != NeverConfirms {
			r.said[k] = Unsent
		}
	}
	r.publish()
}

// ended notes the end of a question; num is the number of the command it carried.
func (r *commandReplies) ended(turn int, num uint64, said Confirmation) {
	if r.said[turn] == NeverConfirms {
		return
	}
	if r.said[turn] = said; said == Confirmed {
		r.num[turn] = num
	}
	r.publish()
}

func (r *commandReplies) publish() {
	newest, oldest := NeverConfirms, ^uint64(0)
	for k, s := range r.said {
		if s != NeverConfirms {
			newest, oldest = max(newest, s), min(oldest, r.num[k])
		}
	}
	r.confirmed.Store(oldest)
	r.newest.Store(uint64(newest))
}

// Confirmation is what the device said to the newest command that was written to it, and how many Sends were made since the newest one
// that is known to be in force, 0 where it never confirms. It is for the goroutine that calls Send.
func (l *line) Confirmation() (said Confirmation, since uint64) {
	said = Confirmation(l.replies.newest.Load())
	if said == NeverConfirms {
		return said, 0
	}
	return said, l.mail.Num - l.replies.confirmed.Load()
}
