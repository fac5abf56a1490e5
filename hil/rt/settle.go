package rt

import (
	"math"
	"runtime/debug"
)

// DisableGC switches the collector of garbage off, limit included. Call it once every buffer exists and has been touched; what is
// allocated afterwards is never freed.
//
// It makes no last collection. The runtime takes for granted that a thread which waits by running does not keep a processor for itself.
// At a real-time priority it does: at the end of a collection (runtime.forEachP) the sweeper runs in circles until every other thread
// has passed, and a thread that has no processor but the sweeper's never passes, so that RLIMIT_RTTIME kills the core.
func DisableGC() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(math.MaxInt64)
}
