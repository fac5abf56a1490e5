package sink

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"hilrig/engine/failure"
	"hilrig/hil"
)

// The broker's users. Everybody may read; viewer (also without a name or password) may do nothing else, operator may send
// commands, rig is the publisher of this very process.
const (
	userViewer   = "viewer"
	userOperator = "operator"
	userRig      = "rig"
)

const (
	wrongWait  = 300 * time.Millisecond // a wrong password is answered after this, against guessing
	answerRate = 20                     // refusals answered in a second; more are only counted
)

// access decides who may do what. Refusing a publish by access list would end an MQTT 3.1.1 connection, and its client would
// come back and send again for ever. So a publish that may not be is accepted and goes nowhere; if it was meant as a command
// it is answered like any other command that was refused.
type access struct {
	mqtt.HookBase
	b              *mochi
	root           string // "hil/<rig>/"
	deniedRequests atomic.Int64

	mu          sync.Mutex
	second      int64 // Unix time for which answers are counted
	answersSent int
}

func (a *access) ID() string { return "access" }

func (a *access) Provides(b byte) bool {
	return slices.Contains([]byte{mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnSessionEstablish, mqtt.OnPublish}, b)
}

// rank orders the users: who has a client id loses it to the same user or one above.
var rank = map[string]int{userViewer: 0, userOperator: 1, userRig: 2}

// userOf is the user of a client; one without a name is a viewer.
func userOf(cl *mqtt.Client) string { return cmp.Or(string(cl.Properties.Username), userViewer) }

// OnConnectAuthenticate lets viewers in with any password and the others with theirs, as long as there are seats. A client id ends the
// connection that has it: a viewer's must not end that of the operator or of the rig.
func (a *access) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	defer failure.Report()
	user := cmp.Or(string(pk.Connect.Username), userViewer)
	if !a.validCredentials(user, pk.Connect.Password) {
		return false
	}
	// the broker would say that the password is wrong
	refuse := func(code packets.Code) bool {
		_ = a.b.server.SendConnack(cl, code, false, nil)
		cl.Stop(code)
		return false
	}
	if other, has := a.b.server.Clients.Get(cl.ID); has && rank[userOf(other)] > rank[user] {
		a.deniedRequests.Add(1)
		return refuse(packets.ErrClientIdentifierNotValid)
	}
	switch {
	case a.b.sit(cl.Net.Conn, user):
		return true
	case cl.Properties.ProtocolVersion < 5:
		return refuse(packets.ErrServerUnavailable)
	}
	return refuse(packets.ErrServerBusy)
}

func (a *access) validCredentials(user string, password []byte) bool {
	want, has := map[string]string{userOperator: a.b.operator, userRig: a.b.rig}[user]
	if !has {
		return user == userViewer
	}
	// hashes have equal length, so the time of the comparison tells nothing
	w, g := sha256.Sum256([]byte(want)), sha256.Sum256(password)
	if subtle.ConstantTimeCompare(w[:], g[:]) == 1 {
		return true
	}
	time.Sleep(wrongWait)
	return false
}

// OnACLCheck lets everybody read; what may be written is decided in OnPublish.
func (a *access) OnACLCheck(*mqtt.Client, string, bool) bool { return true }

// OnSessionEstablish takes the last will from those who may not publish it: the broker sends wills unchecked. An operator may leave a stop,
// and it is carried out as soon as the connection is lost: a delayed one is dropped by whoever connects with the same client id.
func (a *access) OnSessionEstablish(cl *mqtt.Client, pk packets.Packet) {
	will, user := &cl.Properties.Will, userOf(cl)
	name, command := strings.CutPrefix(will.TopicName, a.root+"cmd/")
	switch {
	case user == userRig || will.Flag == 0:
	case user == userOperator && command && alwaysTaken(name):
		will.WillDelayInterval = 0
	default:
		*will = mqtt.Will{}
		a.deniedRequests.Add(1)
		if user == userOperator {
			a.b.log.Warn("mqtt broker: a last will of the operator was not taken: only stop, hold and estop are", "topic",
				string(pk.Connect.WillTopic))
		}
	}
}

// OnPublish passes on what may be published.
func (a *access) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	defer failure.Report()
	user := string(cl.Properties.Username)
	if cl.Net.Inline || user == userRig {
		return pk, nil
	}
	if below, _ := strings.CutPrefix(pk.TopicName, a.root); user == userOperator && (below == FitStatusTopic || below == FitResultTopic) {
		return pk, nil // a fit that runs elsewhere
	}
	name, ok := strings.CutPrefix(pk.TopicName, a.root+"cmd/")
	if !ok || strings.Contains(name, "/") || name == "" {
		a.deniedRequests.Add(1)
		return pk, packets.CodeSuccessIgnore
	}
	switch {
	case user != userOperator:
		a.refuse(name, pk.Payload, "this connection may only read; connect as user operator to send commands")
	case pk.FixedHeader.Retain && len(pk.Payload) > 0 && !alwaysTaken(name):
		// retained, it would start the rig again whenever the publisher reconnects
		a.refuse(name, pk.Payload, "a command that is not a stop must not be retained; publish it without the retain flag")
	default:
		return pk, nil
	}
	return pk, packets.CodeSuccessIgnore
}

// refuse counts, and answers unless there have been many answers in this second.
func (a *access) refuse(name string, payload []byte, why string) {
	a.deniedRequests.Add(1)
	now := time.Now().Unix()
	a.mu.Lock()
	if a.second != now {
		a.second, a.answersSent = now, 0
	}
	a.answersSent++
	quiet := a.answersSent > answerRate
	a.mu.Unlock()
	if quiet {
		return
	}
	answer, err := json.Marshal(hil.Reply{ID: idOf(payload), Error: why})
	if err != nil {
		return
	}
	_ = a.b.server.Publish(a.root+"cmd/"+name+"/ack", answer, false, 1) // fails only when the broker is closing
}

// topicRoot is what all topics of a rig begin with.
func topicRoot(prefix, rig string) string { return prefix + "/" + rig + "/" }

// checkTopicPart refuses what would make a topic mean something else.
func checkTopicPart(key, s string, levels bool) error {
	switch {
	case s == "":
		return fmt.Errorf("%s is empty; topics are <prefix>/<rig>/…", key)
	case strings.ContainsAny(s, "+#\x00"):
		return fmt.Errorf("%s: %q holds + or #, which are wildcards in topics", key, s)
	case strings.HasPrefix(s, "$"):
		return fmt.Errorf("%s: %q begins with $, which is the broker's own tree", key, s)
	case strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") || strings.Contains(s, "//"):
		return fmt.Errorf("%s: %q has an empty level; dashboards cannot subscribe to it", key, s)
	case !levels && strings.Contains(s, "/"):
		return fmt.Errorf("%s: %q holds /, which separates the levels of a topic", key, s)
	}
	return nil
}
