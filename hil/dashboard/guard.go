package dashboard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"hilrig/engine/failure"
	"hilrig/hil"
)

// guard stands before every request: it refuses hosts that are not ours and origins that are not this page, and sets the
// headers that keep the page to itself.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler: // is how a handler gives up a connection
				panic(v)
			default:
				failure.Pass(v)
			}
		}()
		h := w.Header()
		h.Set("Content-Security-Policy", s.policyFor(r))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-cache")
		if !s.ownHost(r.Host) {
			http.Error(w, "this server is not called "+hostName(r.Host)+"; add the name to the hosts of the page, or use localhost or the IP "+
				"address",
				http.StatusForbidden)
			return
		}
		if !sameOrigin(r) {
			http.Error(w, "refused: the request comes from another site", http.StatusForbidden)
			return
		}
		if s.opt.Share != nil && !stops(r) {
			s.opt.Share.Wait(r.Context())
		}
		next.ServeHTTP(w, r)
	})
}

// stops tells whether a request is an order that makes the rig safer: it never waits.
func stops(r *http.Request) bool {
	q, _ := hil.ParseRequest(strings.TrimPrefix(r.URL.Path, "/api/cmd/"))
	return r.Method == http.MethodPost && q.Safer()
}

// contentPolicy lets the page load its own files and open its own WebSocket.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action " +
	"'none'; " +
	"frame-ancestors 'none'; connect-src 'self'"

// policyFor adds the WebSocket of this very host: not every browser counts ws: as 'self'. ownHost has vouched for the name
// by the time a browser reads the header; anything that is not a plain host:port is left out.
func (s *Server) policyFor(r *http.Request) string {
	if strings.ContainsAny(r.Host, " ;,'\"\r\n") || !s.ownHost(r.Host) {
		return s.policy
	}
	return s.policy + " ws://" + r.Host + " wss://" + r.Host
}

// ownHost is the defence against DNS rebinding: an attacker can make any name of his point to 127.0.0.1, but not an
// address, not localhost and not the name of this machine.
func (s *Server) ownHost(hostport string) bool {
	name := hostName(hostport)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return s.hosts[strings.ToLower(name)]
}

// hostName is the host of a Host header, without port and brackets.
func hostName(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return h
	}
	return strings.Trim(hostport, "[]")
}

// sameOrigin is true for requests without Origin (curl, a page that is navigated to) and for those of our own page.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// onThisMachine is true when the request comes from a loopback address and no proxy says that it passes it on.
func onThisMachine(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}
