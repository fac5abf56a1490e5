//go:build !linux

package rt

import "runtime"

// ReadCPUStat needs Linux.
func ReadCPUStat() ([]CPUTicks, error) { return nil, notSupported("time accounts of processors") }

// Threads needs Linux.
func Threads(int) ([]Thread, error) { return nil, notSupported("scheduling of threads") }

// DescribeHost knows little outside Linux.
func DescribeHost() Host {
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
}
