//go:build !linux

package rt

// LockHolder needs Linux: nobody is seen.
func LockHolder(string) int { return 0 }

// ClaimedCPU is the processor of the tick.
type ClaimedCPU struct{ CPU, SharerPID int }

// ClaimCPU needs Linux: nothing is claimed.
func ClaimCPU(want int) ClaimedCPU { return ClaimedCPU{CPU: max(0, want)} }

// Release does nothing.
func (ClaimedCPU) Release() {}
