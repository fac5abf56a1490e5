package device

import "hilrig/hil/protocol"

// selectLimit is the first descriptor that the library's select cannot take, less what an open needs.
const selectLimit = 1024 - 32

// openPort opens the port twice: once non-blocking, for writing with a deadline, for the lock, and to be handed over; once
// through the library, which sets the line and takes exclusive use. Both see the same line. A port that is not there fails at
// the first, which leaves nothing behind. The port of a virtual rig may be a socket, which has nothing to be set.
func openPort(name string, spec protocol.PortSpec) (Port, error) {
	if isSocket(name) {
		return dialSocket(name)
	}
	out, err := openTTY(name)
	if err != nil {
		return nil, err
	}
	if out.fd >= selectLimit {
		out.Close()
		return openRaw(name, spec)
	}
	if err := out.lock(); err != nil {
		out.Close()
		return nil, err
	}
	lib, err := openLibrary(name, spec)
	if err != nil {
		out.Close()
		return nil, err
	}
	if err := out.verify(spec); err != nil {
		lib.Close()
		out.Close()
		return nil, err
	}
	return &serialPort{info: Info{Name: name, Kind: "serial", FD: out.fd}, lib: lib, portWriter: out}, nil
}
