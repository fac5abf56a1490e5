package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"hilrig/hil"
)

// postCommand carries one command to the tick and answers with hil.Reply:
// 200 taken, 400 not understood, 403 not from here, 409 refused by the guard, 503 busy.
func (s *Server) postCommand(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	request, _ := hil.ParseRequest(name)
	body, bad := readCommand(w, r)
	reply := func(status int, format string, args ...any) {
		writeReply(w, status, hil.Reply{ID: body.ID, Error: fmt.Sprintf(format, args...)})
	}

	command := hil.Command{Name: name, ID: body.ID, Source: "web", Set: body.Set, Adopt: body.Adopt, Confirm: body.Confirm,
		Identify: body.Identify, Accept: body.Accept}

	// may this sender ask for this?
	switch {
	case r.Header.Get("X-Hil") != "1":
		reply(http.StatusForbidden, "commands need the header X-Hil: 1")
		return
	case !hil.IsCommand(name):
		reply(http.StatusBadRequest, "unknown command %q, want arm, run, hold, stop, reset, estop, set, adopt, %s", name,
			strings.Join(hil.FitCommands, ", "))
		return
	case s.opt.Command == nil:
		reply(http.StatusForbidden, "this page only shows; it has no way to command the rig")
		return
	}
	if !request.Safer() { // what takes energy out of the rig is taken from anybody who sees the page
		if why := s.refusal(r); why != "" {
			reply(http.StatusForbidden, "%s", why)
			return
		}
		// a bad body never keeps a stop from being carried, but nothing else may be guessed
		if bad != nil {
			reply(http.StatusBadRequest, "command %s: %v", name, bad)
			return
		}
		if why := command.Misfit(); why != "" {
			reply(http.StatusBadRequest, "command %s: %s", name, why)
			return
		}
		select {
		case s.commandSlots <- struct{}{}:
			defer func() { <-s.commandSlots }()
		default:
			reply(http.StatusServiceUnavailable, "too many commands under way, try again")
			return
		}
	}

	// a browser that goes away must not take its stop back, so the command outlives the request
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), commandTime)
	defer cancel()
	if body.ID == "" {
		body.ID = rand.Text()[:12]
	}
	if command.ID = body.ID; request.Safer() {
		command = hil.Command{Name: name, ID: body.ID, Source: "web"}
	}
	got := s.opt.Command(ctx, command)
	got.ID = body.ID
	s.log.Info("command from the page", "command", name, "from", r.RemoteAddr, "ok", got.OK, "error", got.Error)
	if !got.OK {
		if got.Error == "" {
			got.Error = "refused without a reason"
		}
		writeReply(w, http.StatusConflict, got)
		return
	}
	writeReply(w, http.StatusOK, got)
}

// refusal says why this client may not arm, run, reset or set; "" if it may.
func (s *Server) refusal(r *http.Request) string {
	switch {
	case s.recording != nil:
		return "this is a recording; there is nothing to command"
	case s.opt.Command == nil:
		return "this page only shows; it has no way to command the rig"
	case !s.opt.Commands:
		return "the page may only stop: web.commands is off"
	case !onThisMachine(r):
		return "from another machine the page may only stop; open it on the machine of the rig"
	}
	return ""
}

// readCommand decodes the body; an empty one is fine.
func readCommand(w http.ResponseWriter, r *http.Request) (body hil.Order, err error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, commandBytes))
	if err != nil {
		return body, err
	}
	if body, err = hil.DecodeOrder(data); err != nil && !errors.Is(err, io.EOF) {
		return hil.Order{}, fmt.Errorf(`body is not {"id": "…", "set": {"name": value}}: %w`, err)
	}
	if len(body.ID) > 64 {
		return hil.Order{}, errors.New("id longer than 64 bytes")
	}
	if len(body.Set) > hil.MaxParams {
		return body, fmt.Errorf("%d parameters, at most %d", len(body.Set), hil.MaxParams)
	}
	if body.Expires != nil {
		return body, errors.New("expires: for commands over MQTT; the page sends its own at once")
	}
	return body, nil
}

func writeReply(w http.ResponseWriter, status int, r hil.Reply) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(r)
}
