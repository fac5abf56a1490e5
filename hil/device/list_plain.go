//go:build darwin && !cgo

package device

import "errors"

// usbPorts needs the system's frameworks, which a build without cgo does not have.
func usbPorts() ([]PortInfo, error) { return nil, errors.New("built without cgo: no USB details") }
