package device

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"

	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// What a port asks of the kernel, for each character: a pseudo-terminal has no parity, and no real line is here.
func TestCharacters(t *testing.T) {
	for _, c := range []struct {
		spec    protocol.PortSpec
		flags   uint32
		parity  serial.Parity
		stop    serial.StopBits
		bits    int
		explain string
	}{
		{protocol.PortSpec{}, 0, serial.NoParity, serial.OneStopBit, 10, "8N1"},
		{protocol.PortSpec{StopBits: 1}, 0, serial.NoParity, serial.OneStopBit, 10, "8N1"},
		{protocol.PortSpec{StopBits: 2}, unix.CSTOPB, serial.NoParity, serial.TwoStopBits, 11, "8N2"},
		{protocol.PortSpec{Parity: protocol.ParityEven}, unix.PARENB, serial.EvenParity, serial.OneStopBit, 11, "8E1"},
		{protocol.PortSpec{Parity: protocol.ParityOdd}, unix.PARENB | unix.PARODD, serial.OddParity, serial.OneStopBit, 11, "8O1"},
		{protocol.PortSpec{Parity: protocol.ParityOdd, StopBits: 2}, unix.PARENB | unix.PARODD | unix.CSTOPB, serial.OddParity,
			serial.TwoStopBits, 12, "8O2"},
	} {
		c.spec.Baud = 19200
		for _, before := range []uint32{0, unix.PARENB | unix.PARODD | unix.CSTOPB | unix.CS7} { // whatever was set before
			var tio unix.Termios
			tio.Cflag = before
			setCharacter(&tio, c.spec)
			if want := c.flags | unix.CS8; tio.Cflag != want {
				t.Errorf("%s: c_cflag %#x, want %#x", c.explain, tio.Cflag, want)
			}
		}
		if m := libraryMode(c.spec); m.Parity != c.parity || m.StopBits != c.stop || m.DataBits != 8 || m.BaudRate != 19200 {
			t.Errorf("%s: the library is asked for %+v", c.explain, m)
		}
		if got := c.spec.Bits(); got != c.bits {
			t.Errorf("%s: %d bits a character, want %d", c.explain, got, c.bits)
		}
	}
}

// A driver that drops the parity without a word is found out; a pseudo-terminal is let through. A port that cannot switch a transceiver
// says so: the kernel was asked.
func TestPortRefusesWhatItCannot(t *testing.T) {
	peer, name, err := OpenPTY("")
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	p, err := openTTY(name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if !isPTY(p.fd) || p.verify(protocol.PortSpec{Parity: protocol.ParityEven}) != nil {
		t.Error("a pseudo-terminal is refused for want of parity")
	}
	if isPTY(p.wake) || isPTY(-1) {
		t.Error("what is no pseudo-terminal counts as one")
	}
	section := &protocol.Modbus{}
	section.SetDefaults()
	section.RS485 = true
	for _, raw := range []bool{false, true} {
		if raw {
			_, err = openRaw(name, protocol.PortSpec{Baud: 9600, RS485: true})
		} else {
			rig, bad := NewRig(Options{Name: "x", Port: name, Baud: 9600, Protocol: section, Measure: []wire.Field{at("a", wire.U16, 1, 0, 4)},
				Rate: 1, Loop: 1})
			if bad != nil {
				t.Fatal(bad)
			}
			err = rig.Start(context.Background())
			rig.Close()
		}
		if err == nil || !strings.Contains(fmt.Sprint(err), "the driver of the port does not switch an RS-485 transceiver (inappropriate ioctl "+
			"for device); leave modbus.rs485 out where the adapter does it") {
			t.Errorf("raw %v: %v", raw, err)
		}
	}
}
