package device

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Pair is a line without a wire: two ports joined by a socket pair, for timing tests that must not see what a
// pseudo-terminal adds. Closing one end unplugs the other.
func Pair() (a, b Port, err error) {
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	pa, err := newRawPort(fd[0], Info{Name: "pair:a", Kind: "socket"})
	if err != nil {
		unix.Close(fd[1])
		return nil, nil, err
	}
	pb, err := newRawPort(fd[1], Info{Name: "pair:b", Kind: "socket"})
	if err != nil {
		pa.Close()
		return nil, nil, err
	}
	return pa, pb, nil
}
