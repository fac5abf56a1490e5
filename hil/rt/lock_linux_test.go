package rt

import (
	"os"
	"slices"
	"testing"
)

// Each claim takes another processor, from the last one down; when none is left it is shared and says with whom.
func TestClaimCPU(t *testing.T) {
	set, err := wholeSet()
	if err != nil {
		t.Skip(err)
	}
	cpus := cpuList(set)
	slices.Reverse(cpus)
	for _, cpu := range cpus {
		if LockHolder(cpuFolder(cpu)) != 0 {
			t.Skipf("a daemon ticks on processor %d", cpu)
		}
	}
	var held []ClaimedCPU
	for _, cpu := range cpus {
		c := ClaimCPU(-1)
		if c.CPU != cpu || c.SharerPID != 0 {
			t.Fatalf("claim %d: %+v, want processor %d alone", len(held)+1, c, cpu)
		}
		held = append(held, c)
	}
	if c := ClaimCPU(-1); c.CPU != cpus[0] || c.SharerPID != os.Getpid() {
		t.Errorf("one too many: %+v, want processor %d shared with %d", c, cpus[0], os.Getpid())
	}
	last := held[len(held)-1]
	if c := ClaimCPU(last.CPU); c.CPU != last.CPU || c.SharerPID != os.Getpid() {
		t.Errorf("a processor that is taken: %+v", c)
	}
	last.Release()
	for _, want := range []int{last.CPU, -1, 100_000} { // the only one that is free
		c := ClaimCPU(want)
		if c.CPU != last.CPU || c.SharerPID != 0 {
			t.Errorf("claim of %d: %+v, want %d", want, c, last.CPU)
		}
		c.Release()
	}
	for _, c := range held[:len(held)-1] {
		c.Release()
	}
	if pid := LockHolder(t.TempDir()); pid != 0 {
		t.Errorf("nobody locked the folder, but process %d", pid)
	}
}
