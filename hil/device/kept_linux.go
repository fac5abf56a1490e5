package device

import (
	"time"

	"golang.org/x/sys/unix"
)

// Kept is a descriptor on a port that somebody else runs, kept for the one moment when that somebody is dead: it writes
// safe frames. Open it before the other does, since that one takes the port for itself; keeping it also keeps DTR up, so
// boards that reset on DTR do not.
type Kept struct{ p *rawPort }

// OpenKept opens the port without changing its settings or taking it. Errors are of type *OpenError.
func OpenKept(name string) (*Kept, error) {
	p, err := openTTY(name)
	if err != nil {
		return nil, explain(name, err)
	}
	return &Kept{p}, nil
}

// Write writes one frame (see SafeFrame) within the given time, whoever took the port for himself, and gives the port
// free, so that a successor can open it.
func (k *Kept) Write(frame []byte, within time.Duration) error {
	k.Free()
	_, err := k.p.Write(frame, within)
	return err
}

// Free lifts the exclusive use that a killed owner left behind; without it a user who is not root would find the port
// busy for as long as this descriptor is open.
func (k *Kept) Free() { unix.IoctlSetInt(k.p.fd, unix.TIOCNXCL, 0) }

// Close frees the descriptor.
func (k *Kept) Close() error { return k.p.Close() }
