package dashboard

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"syscall"
)

// listen opens addr, or the next free port above it. "localhost" is opened on both loopback addresses, because a browser
// tries ::1 first and would otherwise meet whatever else listens there. shown is what a browser on this machine opens.
func listen(addr string) (open []net.Listener, shown string, err error) {
	host, portName, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, "", fmt.Errorf("dashboard: address of the page %q: want host:port, for example localhost:8080: %w", addr, err)
	}
	first, err := strconv.Atoi(portName)
	if err != nil || first < 0 || first > 65535 {
		return nil, "", fmt.Errorf("dashboard: address of the page %q: port %q, want a number from 0 to 65535", addr, portName)
	}
	port := first
	for try := 0; try < portTries && port <= 65535; try++ {
		open, err = listenPort(host, port)
		if err == nil {
			_, got, _ := net.SplitHostPort(open[0].Addr().String())
			return open, net.JoinHostPort(shownHost(host), got), nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
		if port != 0 { // 0 asks for any; the one it got was taken on the other address, so ask again
			port++
		}
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, "", fmt.Errorf("dashboard: ports %d to %d on %s are all in use; set web.listen to a free one: %w", first, port-1, host, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, "", fmt.Errorf("dashboard: no permission to listen on port %d; ports below 1024 need root, set web.listen to "+
			"localhost:8080: %w", port, err)
	}
	return nil, "", fmt.Errorf("dashboard: listen on %s: %w", addr, err)
}

// listenPort opens one port of one host, on both families for localhost.
func listenPort(host string, port int) ([]net.Listener, error) {
	p := strconv.Itoa(port)
	if host != "localhost" {
		l, err := net.Listen("tcp", net.JoinHostPort(host, p))
		if err != nil {
			return nil, err
		}
		return []net.Listener{l}, nil
	}
	l4, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", p))
	if err != nil {
		return nil, err
	}
	_, p, _ = net.SplitHostPort(l4.Addr().String())
	l6, err := net.Listen("tcp6", net.JoinHostPort("::1", p))
	switch {
	case err == nil:
		return []net.Listener{l4, l6}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		l4.Close()
		return nil, err
	}
	return []net.Listener{l4}, nil // no IPv6 on this machine
}

// shownHost turns a wildcard into a name a browser can open.
func shownHost(host string) string {
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		return "localhost"
	}
	return host
}
