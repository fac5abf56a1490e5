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

// commandReplies keeps what the far end said to each question that commands. The sending thread owns it; overallConfirmation and confirmed
// are for whoever asks.
type commandReplies struct {
	confirmations []Confirmation // to each turn; NeverConfirms: it commands nothing
	num           []uint64       // of each turn: number of the newest command that was confirmed

	overallConfirmation atomic.Uint64 // the greatest of confirmations
	confirmed           atomic.Uint64 // the smallest of num, of turns that command
}

// begin begins anew, as behind a port that was opened: what was confirmed before the device may have forgotten.
func (r *commandReplies) begin() {
	for k := range r.confirmations {
		if r.confirmations[k] != NeverConfirms {
			r.confirmations[k] = Unsent
		}
	}
	r.publish()
}

// questionEnded notes the end of a question; num is the number of the command it carried.
func (r *commandReplies) questionEnded(turn int, num uint64, said Confirmation) {
	if r.confirmations[turn] == NeverConfirms {
		return
	}
	if r.confirmations[turn] = said; said == Confirmed {
		r.num[turn] = num
	}
	r.publish()
}

func (r *commandReplies) publish() {
	newest, oldest := NeverConfirms, ^uint64(0)
	for k, s := range r.confirmations {
		if s != NeverConfirms {
			newest, oldest = max(newest, s), min(oldest, r.num[k])
		}
	}
	r.confirmed.Store(oldest)
	r.overallConfirmation.Store(uint64(newest))
}

// Confirmation is what the device said to the newest command that was written to it, and how many Sends were made since the newest one
// that is known to be in force, 0 where it never confirms. It is for the goroutine that calls Send.
func (l *line) Confirmation() (said Confirmation, since uint64) {
	said = Confirmation(l.replies.overallConfirmation.Load())
	if said == NeverConfirms {
		return said, 0
	}
	return said, l.mail.Num - l.replies.confirmed.Load()
}
