package rt

import (
	"math"
	"runtime/debug"
)

// Settle makes the last collection, gives free memory back and switches the collector off, limit included. Call it once
// every buffer exists and has been touched; what is allocated afterwards is never freed.
func Settle() {
	debug.FreeOSMemory()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(math.MaxInt64)
}
