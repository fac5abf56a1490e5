package device

// selectLimit is the first descriptor that the library's select cannot take, less what an open needs.
const selectLimit = 1024 - 32

// openSerial opens the port twice: once non-blocking for writing with a deadline, once through the library, which takes
// exclusive use. Both see the same line.
func openSerial(name string, baud int) (Port, error) {
	out, err := openTTY(name)
	if err != nil {
		return nil, err
	}
	if out.fd >= selectLimit {
		if err := out.configure(baud); err != nil {
			out.Close()
			return nil, err
		}
		return out, nil
	}
	lib, err := openLibrary(name, baud)
	if err != nil {
		out.Close()
		return nil, err
	}
	return &serialPort{info: Info{Name: name, Kind: "serial", FD: out.fd}, lib: lib, out: out}, nil
}
