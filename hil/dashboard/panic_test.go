package dashboard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hilrig/engine/failure"
)

// A handler that panics is told; one that gives up a connection is not.
func TestPanicOfAHandlerIsTold(t *testing.T) {
	var told []string
	defer failure.Handle(func(p *failure.Panic) { told = append(told, p.Error()) })()
	s := &Server{}
	get := func(h http.HandlerFunc) (passed any) {
		defer func() { passed = recover() }()
		r := httptest.NewRequest("GET", "http://127.0.0.1/api/state", nil)
		s.guard(h).ServeHTTP(httptest.NewRecorder(), r)
		return nil
	}
	if v := get(func(http.ResponseWriter, *http.Request) { panic("a slip") }); v != nil || len(told) != 1 ||
		!strings.Contains(told[0], "a slip at hil/dashboard/panic_test.go:") {
		t.Errorf("%v, told %q", v, told)
	}
	if v := get(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }); v != http.ErrAbortHandler || len(told) != 1 {
		t.Errorf("%v, told %q", v, told)
	}
}
