package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.bug.st/serial"
)

// PortInfo is one serial port of this machine.
type PortInfo struct {
	Name       string `json:"name"`            // as it is opened, /dev/ttyUSB0
	ByID       string `json:"by_id,omitempty"` // name that stays the same after replugging, /dev/serial/by-id/…
	VID        string `json:"vid,omitempty"`   // USB vendor, four hex digits
	PID        string `json:"pid,omitempty"`   // USB product, four hex digits
	Serial     string `json:"serial,omitempty"`
	Product    string `json:"product,omitempty"`
	Accessible bool   `json:"accessible"`    // this user may read and write; whether it is in use shows only on opening
	Reason     string `json:"why,omitempty"` // why not
}

// ListPorts lists the serial ports, sorted by name. It opens none that has a USB device behind it, so boards do not reset;
// the machine's own ttyS ports are probed by the library, since most of those names have no hardware.
func ListPorts() ([]PortInfo, error) {
	ports, err := usbPorts()
	if err != nil {
		// no USB details on this system: the names will do
		names, nameErr := serial.GetPortsList()
		if nameErr != nil {
			return nil, errors.Join(err, nameErr)
		}
		ports = nil
		for _, n := range names {
			ports = append(ports, PortInfo{Name: n})
		}
	}
	ids := byID("/dev/serial/by-id")
	for i := range ports {
		p := &ports[i]
		p.ByID = ids[p.Name]
		if p.Product == "" {
			p.Product = productOf(p.ByID)
		}
		if err := access(p.Name); err != nil {
			p.Reason = err.Error()
			if errors.Is(err, fs.ErrPermission) {
				p.Reason = fmt.Sprintf("permission denied; %s", firstLine(accessHint(p.Name)))
			}
		} else {
			p.Accessible = true
		}
	}
	slices.SortFunc(ports, func(a, b PortInfo) int { return strings.Compare(a.Name, b.Name) })
	return ports, nil
}

// byID maps ports to the links that udev made for them.
func byID(dir string) map[string]string {
	ids := map[string]string{}
	links, _ := os.ReadDir(dir)
	for _, l := range links {
		path := filepath.Join(dir, l.Name())
		if to, err := filepath.EvalSymlinks(path); err == nil {
			ids[to] = path
		}
	}
	return ids
}

// productOf reads the product out of a link's name, usb-Vendor_Product_Serial-if00-port0.
func productOf(link string) string {
	name, ok := strings.CutPrefix(filepath.Base(link), "usb-")
	if !ok {
		return ""
	}
	if i := strings.LastIndex(name, "-if"); i > 0 {
		name = name[:i]
	}
	return strings.ReplaceAll(name, "_", " ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(line, ":")
}
