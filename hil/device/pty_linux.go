package device

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"hilrig/hil/protocol"
)

// OpenPTY makes a pseudo-terminal in raw mode and returns its master end, the rig's side, and the name under which the
// other side can be opened like a serial port. With link, a symbolic link of that name points to it until Close; an old
// link to a pseudo-terminal is replaced, anything else is left alone and refused.
//
// While nobody has the other side open, Read times out and Write drops nothing until the kernel's buffer is full; after
// somebody closed it, Write fails with ErrUnplugged until it is opened again.
func OpenPTY(link string) (master Port, name string, err error) {
	fd, err := retry(func() (int, error) {
		return unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, "", fmt.Errorf("open /dev/ptmx: %w", err)
	}
	side, err := unlock(fd)
	if err == nil && link != "" {
		err = placeLink(side, link)
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", err
	}
	p, err := newRawPort(fd, Info{Name: side, Kind: "pty"})
	if err != nil {
		return nil, "", err
	}
	if link == "" {
		return p, side, nil
	}
	p.onClose = func() {
		if to, err := os.Readlink(link); err == nil && to == side {
			os.Remove(link)
		}
	}
	return p, link, nil
}

// unlock makes the other side openable and raw, and returns its name. The settings outlive this short visit because the
// master stays open.
func unlock(fd int) (string, error) {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", fmt.Errorf("unlock the pseudo-terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return "", fmt.Errorf("number of the pseudo-terminal: %w", err)
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	side, err := openTTY(name)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", name, err)
	}
	defer side.Close()
	return name, makeRaw(side.fd, protocol.PortSpec{})
}

// placeLink points link to name, atomically.
func placeLink(name, link string) error {
	if to, err := os.Readlink(link); err == nil {
		if !strings.HasPrefix(to, "/dev/pts/") {
			return fmt.Errorf("%s is a link to %s, not to a pseudo-terminal; remove it or choose another name", link, to)
		}
	} else if _, err := os.Lstat(link); err == nil {
		return fmt.Errorf("%s exists and is not a link; choose another name", link)
	}
	tmp := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(name, tmp); err != nil {
		return fmt.Errorf("link to the pseudo-terminal: %w", err)
	}
	if err := os.Rename(tmp, link); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("link to the pseudo-terminal: %w", err)
	}
	return nil
}
