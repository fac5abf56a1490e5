package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// Two daemons under one name would both carry out each command, and publish over each other. So before a daemon publishes or subscribes to
// commands it asks on the topic probe who has the name, and whoever has it answers on probe/ack. Only an answer counts: a status that a
// dead run left on the broker locks nobody out. Of two that ask at once the older one gets the name.

// runStatus is the payload of status, probe and probe/ack: which run speaks.
type runStatus struct {
	State string `json:"state,omitempty"` // online, offline
	Run   string `json:"run"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	ID    string `json:"id"` // of its connections
}

func (s *runStatus) key() string { return s.Run + " " + s.ID }

func (s *runStatus) String() string {
	return fmt.Sprintf("run %s, process %d on %s", s.Run, s.PID, s.Host)
}

// me is this run.
func (p *Publisher) me(state string) runStatus {
	host, _ := os.Hostname()
	return runStatus{State: state, Run: p.o.Info.Run, Host: host, PID: os.Getpid(), ID: p.id}
}

func (p *Publisher) status(state string) []byte {
	body, _ := json.Marshal(p.me(state)) // strings and a number
	return body
}

const (
	echoWait    = 2 * time.Second        // for our own question to come back
	answerWait  = 500 * time.Millisecond // after that, for an answer
	suspectWait = 2 * time.Second        // instead, while the status says that another run is there
)

// NameTakenError says that another run has the name of this rig on the broker.
type NameTakenError struct {
	Broker, Root string
	Holder       runStatus
}

func (e *NameTakenError) Error() string {
	return fmt.Sprintf("mqtt: another daemon publishes under %s on the broker %s: %s. Both would carry out every command. End it, or give "+
		"this rig another rig.name or mqtt.prefix", e.Root, redact(e.Broker), &e.Holder)
}

// errUnchecked: the broker does not bring our own question back.
var errUnchecked = errors.New("no echo")

// claim asks for the name and goes on answering for this connection. errUnchecked: nobody can tell whether another has it.
func (p *Publisher) claim(ctx context.Context, c paho.Client) error {
	probe, status := p.root+"probe", p.root+"status"
	arrived := make(chan paho.Message, 64)
	handle := func(_ paho.Client, m paho.Message) {
		if p.holdsName(c) {
			switch m.Topic() {
			case probe:
				p.answer(c, m.Payload())
			case status:
				p.restore(c, m.Payload())
			}
			return
		}
		select {
		case arrived <- m:
		default:
		}
	}
	if err := await(ctx, c.SubscribeMultiple(map[string]byte{probe: 1, probe + "/ack": 1, status: 1}, handle), echoWait); err != nil {
		return errUnchecked
	}
	me := p.me("")
	body, _ := json.Marshal(me)
	if err := await(ctx, c.Publish(probe, 1, false, body), echoWait); err != nil {
		return errUnchecked
	}
	echoed, suspect := false, false
	end := time.After(echoWait)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			if !echoed {
				return errUnchecked
			}
			p.claimed.Store(&c)
			return nil
		case m := <-arrived:
			var from runStatus
			if json.Unmarshal(m.Payload(), &from) != nil || from.Run == "" {
				continue // of another program
			}
			mine := from.key() == me.key()
			switch m.Topic() {
			case status:
				suspect = suspect || !mine && from.State == statusUp
			case probe + "/ack":
				// one that asks itself has it only before those that are younger
				if !mine && (from.State == statusUp || from.key() < me.key()) {
					return &NameTakenError{p.o.Broker, p.root, from}
				}
			case probe:
				switch {
				case mine && suspect:
					echoed, end = true, time.After(suspectWait)
				case mine:
					echoed, end = true, time.After(answerWait)
				case from.key() < me.key():
					return &NameTakenError{p.o.Broker, p.root, from}
				default:
					p.answer(c, m.Payload()) // a younger one
				}
			}
		}
	}
}

// holdsName tells whether a connection has the name.
func (p *Publisher) holdsName(c paho.Client) bool {
	held := p.claimed.Load()
	return held != nil && *held == c
}

// restore puts the status right over which the last will of a run that is gone was written.
func (p *Publisher) restore(c paho.Client, body []byte) {
	var from runStatus
	if me := p.me(""); json.Unmarshal(body, &from) == nil && from.State == statusDown && from.key() != me.key() {
		go c.Publish(p.root+"status", 1, true, p.status(statusUp))
	}
}

// answer tells another run that this one has the name, or asks for it too. It does not wait: paho delivers nothing meanwhile.
func (p *Publisher) answer(c paho.Client, question []byte) {
	var from runStatus
	state := "" // it asks itself
	if p.holdsName(c) {
		state = statusUp
	}
	if me := p.me(state); json.Unmarshal(question, &from) == nil && from.Run != "" && from.key() != me.key() {
		go c.Publish(p.root+"probe/ack", 1, false, p.status(state))
	}
}

func await(ctx context.Context, tok paho.Token, within time.Duration) error {
	select {
	case <-tok.Done():
		return tok.Error()
	case <-time.After(within):
		return errors.New("no answer from the broker")
	case <-ctx.Done():
		return ctx.Err()
	}
}
