package rt

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOrderRoundTrip(t *testing.T) {
	o := order{stage: 2, parent: 4711, priority: 50, rtTime: 500 * time.Millisecond, extra: 3, schedErrno: 1}
	got, err := parseOrder(o.String())
	if err != nil || got != o {
		t.Errorf("%+v, %v; want %+v", got, err, o)
	}
	for _, bad := range []string{"", "stage=1", "stage=3,parent=1,priority=0,rttime_ns=0,extra=0,refused=0",
		"stage=1,parent=0,priority=0,rttime_ns=0,extra=0,refused=0", "stage=1,parent=1,priority=100,rttime_ns=0,extra=0,refused=0"} {
		if _, err := parseOrder(bad); err == nil || !strings.Contains(err.Error(), orderEnv) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What would disturb the runtime of the core is gone, wherever it came from; the rest is kept.
func TestCoreEnvironment(t *testing.T) {
	o := order{stage: 1, parent: 1}
	env := coreEnv([]string{"HOME=/h", "GOGC=10", "GOMAXPROCS=1", "GOMEMLIMIT=1GiB", "GODEBUG=gctrace=1", "GOTRACEBACK=all", "GORACE=x",
		"GOGCX=1"},
		[]string{"HIL_CORE_RATE=1000", "GOGC=50"}, o)
	want := []string{"HOME=/h", "GOGCX=1", "HIL_CORE_RATE=1000", "GOGC=off", "GOMAXPROCS=8", orderEnv + "=" + o.String()}
	if !slices.Equal(env, want) {
		t.Errorf("got  %q\nwant %q", env, want)
	}
}
