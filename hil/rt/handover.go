package rt

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Descriptors of a core. Further ones follow in the order of CoreSpec.Extra.
const (
	memoryFD = 3
	lifeFD   = 4
	extraFD  = 5
)

const (
	defaultPriority = 50 // that of threaded interrupts; the kernel's own watchdog and migration threads are above
	// of a virtual rig: a real one needs no processor of this computer, so nothing but a tick comes before it
	PlantPriority = defaultPriority - 1
	defaultRTTime = 500 * time.Millisecond // long against any stall of a host, short against a hang
	coreProcs     = 8                      // GOMAXPROCS: a returning system call then always finds a processor of the runtime
)

// orderEnv carries order from the supervisor through both stages of the core.
const orderEnv = "HIL_RT_CORE"

// order is what the supervisor asks of the core, and what stage 1 tells stage 2.
type order struct {
	stage      int
	parent     int           // pid of the supervisor
	priority   int           // 0: ordinary scheduling wanted
	rtTime     time.Duration // 0: no limit
	extra      int           // number of further descriptors
	schedErrno int           // errno of sched_setattr in stage 1; 0: granted
}

const orderForm = "stage=%d,parent=%d,priority=%d,rttime_ns=%d,extra=%d,refused=%d"

func (o order) String() string {
	return fmt.Sprintf(orderForm, o.stage, o.parent, o.priority, int64(o.rtTime), o.extra, o.schedErrno)
}

func parseOrder(s string) (o order, err error) {
	var ns int64
	if _, err := fmt.Sscanf(s, orderForm, &o.stage, &o.parent, &o.priority, &ns, &o.extra, &o.schedErrno); err != nil {
		return o, fmt.Errorf("%s=%q: %w", orderEnv, s, err)
	}
	o.rtTime = time.Duration(ns)
	if o.stage < 1 || o.stage > 2 || o.parent < 1 || o.priority < 0 || o.priority > 99 || o.extra < 0 || o.rtTime < 0 {
		return o, fmt.Errorf("%s=%q: out of range", orderEnv, s)
	}
	return o, nil
}

// dropped variables would change the behaviour of the runtime: with a memory limit the collector runs even when off,
// gctrace prints from inside it, asyncpreemptoff did not help.
var dropped = []string{"GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE", orderEnv}

// coreEnv is the environment of a core: the given one without what would disturb it, then more, then ours.
func coreEnv(env, more []string, o order) []string {
	return append(quietEnv(env, more), orderEnv+"="+o.String())
}

// quietEnv is an environment in which the Go runtime collects no garbage and keeps its monitor asleep (Rest).
func quietEnv(env, more []string) []string {
	kept := make([]string, 0, len(env)+len(more)+3)
	for _, list := range [][]string{env, more} {
	next:
		for _, kv := range list {
			for _, name := range dropped {
				if strings.HasPrefix(kv, name+"=") {
					continue next
				}
			}
			kept = append(kept, kv)
		}
	}
	return append(kept, "GOGC=off", fmt.Sprintf("GOMAXPROCS=%d", coreProcs))
}

// Handover is what a core has in its hands once it is up.
type Handover struct {
	MemoryFD   uintptr   // shared memory, for ring.OpenMemory
	Extra      []uintptr // further descriptors, in the order of CoreSpec.Extra
	Parent     int       // pid of the supervisor
	Privileges Privileges

	life    int            // reading end of the life pipe
	signals chan os.Signal // caught since before the parent was looked at
}
