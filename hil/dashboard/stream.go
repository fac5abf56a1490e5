package dashboard

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// streamWait is how long a browser may take no byte of a message before it is cut off; it comes back by itself.
const streamWait = 5 * time.Second

// getStream sends what the daemon knows over a WebSocket as it comes: text messages, each a topic, a line feed and its JSON, as MQTT
// clients get them. A WebSocket, because a browser opens six ordinary connections to a server at most: with six pages open there would be
// none for a stop.
func (s *Server) getStream(w http.ResponseWriter, r *http.Request) {
	if s.opt.Stream == nil {
		http.Error(w, "this page has no stream", http.StatusNotFound)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer ws.CloseNow()
	l := s.opt.Stream.Listen()
	defer l.Close()
	ctx := ws.CloseRead(r.Context()) // ends when the browser goes
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-l.C:
			one, cancel := context.WithTimeout(ctx, streamWait)
			out, err := ws.Writer(one, websocket.MessageText)
			if err == nil {
				_, err = out.Write(append([]byte(m.Topic+"\n"), m.Body...))
			}
			if err == nil {
				err = out.Close()
			}
			cancel()
			if err != nil {
				return
			}
		}
	}
}
