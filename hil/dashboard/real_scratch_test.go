package dashboard_test

import (
	"flag"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var realURL = flag.String("real", "", "")
var realJS = flag.String("js", "", "")
var realName = flag.String("name", "real", "")

func TestScratch(t *testing.T) {
	if *realURL == "" {
		t.Skip()
	}
	p := tab{t, browser(t)}
	p.do(chromedp.Navigate(*realURL))
	p.until("window.hil && hil.counters.frames > 5")
	if *realJS != "" {
		t.Log(await[any](p, *realJS))
		time.Sleep(time.Second)
	}
	shoot(p, *realName)
}
