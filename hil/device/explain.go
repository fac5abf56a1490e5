package device

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.bug.st/serial"

	"hilrig/engine/spelling"
	"hilrig/hil/rt"
)

var errNoSerial = errors.New("it is not a serial port")

// OpenError says which port could not be opened, why, and how to go on. errors.Is finds fs.ErrNotExist,
// fs.ErrPermission and syscall.EBUSY in it.
type OpenError struct {
	Port string
	Err  error
	Hint string // one or more lines; may be empty
}

func (e *OpenError) Error() string {
	s := fmt.Sprintf("cannot open %s: %v", e.Port, e.Err)
	if e.Hint != "" {
		s += ". " + e.Hint
	}
	return s
}

func (e *OpenError) Unwrap() error { return e.Err }

// explain adds to an error of opening what the user can do about it.
func explain(name string, err error) error {
	if name == "" {
		return &OpenError{Port: `""`, Err: errors.New("no port named"), Hint: "set the port of the device; hil ports lists what is there"}
	}
	var lib *serial.PortError
	if errors.As(err, &lib) {
		switch lib.Code() {
		case serial.PortNotFound:
			err = fs.ErrNotExist
		case serial.PermissionDenied:
			err = fs.ErrPermission
		case serial.PortBusy:
			err = syscall.EBUSY
		}
	}
	e := &OpenError{Port: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Err = textError("no such port", fs.ErrNotExist)
		e.Hint = nearHint(name)
	case errors.Is(err, fs.ErrPermission):
		e.Err = textError("permission denied", fs.ErrPermission)
		e.Hint = accessHint(name)
	case errors.Is(err, syscall.EBUSY):
		e.Err = textError("the port is busy", syscall.EBUSY)
		e.Hint = busyHint(name)
	case errors.Is(err, errNoSerial):
		e.Hint = "hil ports lists the serial ports of this machine"
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.EIO):
		e.Hint = "The name exists but no device answers behind it. Plug it in again, or choose another port: hil ports"
	}
	return e
}

// words is an error with our words and the system's identity.
type words struct {
	text string
	is   error
}

func textError(text string, is error) error { return words{text, is} }
func (w words) Error() string               { return w.text }
func (w words) Unwrap() error               { return w.is }

// nearHint lists the ports there are, the most similar names first.
func nearHint(name string) string {
	ports, err := ListPorts()
	if err != nil || len(ports) == 0 {
		return "No serial port is present. Is the cable in?   (all ports: hil ports)"
	}
	slices.SortStableFunc(ports, func(a, b PortInfo) int { return spelling.Distance(a.Name, name) - spelling.Distance(b.Name, name) })
	var s strings.Builder
	s.WriteString("Present:")
	for i, p := range ports {
		if i == 5 {
			fmt.Fprintf(&s, "\n     and %d more", len(ports)-i)
			break
		}
		fmt.Fprintf(&s, "\n     %s", p.Name)
		if p.Product != "" {
			fmt.Fprintf(&s, "  (%s)", p.Product)
		}
	}
	s.WriteString("\n     Is the cable in?   (all ports: hil ports)")
	return s.String()
}

// accessHint explains who may open the port.
func accessHint(name string) string {
	mode, gid, ok := ownerGroup(name)
	if !ok {
		return "(all ports: hil ports)"
	}
	group := fmt.Sprint(gid)
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	if mode&0o060 != 0o060 {
		return fmt.Sprintf("Its mode is %v: not even group %s may read and write. A udev rule can change that:\n     SUBSYSTEM==\"tty\", "+
			"KERNEL==%q, MODE=\"0660\", GROUP=\"dialout\"", mode.Perm(), group, filepath.Base(name))
	}
	if own, err := os.Getgroups(); err == nil && slices.Contains(own, gid) {
		return fmt.Sprintf("Your user is in group %s, which may open it: something else forbids it (a container, a security module)", group)
	}
	if u, err := user.Current(); err == nil {
		if ids, err := u.GroupIds(); err == nil && slices.Contains(ids, fmt.Sprint(gid)) {
			return fmt.Sprintf("Your user was added to group %s after this login: log in again, or run   newgrp %s", group, group)
		}
	}
	return fmt.Sprintf("Your user is not in group %s:\n     sudo usermod -aG %s $USER   then log in again.   (all ports: hil ports)", group,
		group)
}

// busyHint names the programs that have the port open, as far as they can be seen.
func busyHint(name string) string {
	if who := holders(name); len(who) > 0 {
		return "It is open in " + strings.Join(who, ", ") + ". Close that first"
	}
	return "Another program has it for itself (a serial monitor, ModemManager, another hil?). To see which:   sudo fuser -v " + name
}

// holders looks for open descriptors of the port in /proc; of other users' processes it sees the one that locked the port.
func holders(name string) (who []string) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	pids := map[string]bool{}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && to == real {
			pids[strings.Split(l, "/")[2]] = true
		}
	}
	if pid := rt.LockHolder(real); pid > 0 {
		pids[fmt.Sprint(pid)] = true
	}
	delete(pids, fmt.Sprint(os.Getpid()))
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		comm, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			continue // gone meanwhile
		}
		who = append(who, fmt.Sprintf("%s (process %s)", strings.TrimSpace(string(comm)), pid))
	}
	return who
}
