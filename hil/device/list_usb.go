//go:build !darwin || cgo

package device

import (
	"strings"

	"go.bug.st/serial/enumerator"
)

// usbPorts lists the ports with what USB says about them.
func usbPorts() (ports []PortInfo, err error) {
	details, err := enumerator.GetDetailedPortsList()
	for _, d := range details {
		ports = append(ports, PortInfo{Name: d.Name, VID: strings.ToLower(d.VID), PID: strings.ToLower(d.PID), Serial: d.SerialNumber,
			Product: d.Product})
	}
	return ports, err
}
