package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// FitTopics publishes an identification that runs elsewhere on the topics of a rig, where its own would be.
type FitTopics struct {
	client paho.Client
	root   string
	user   string
	heard  chan []byte
}

// passedOn is how long a broker may take to pass a message on.
const passedOn = 3 * time.Second

// DialFitTopics connects to a broker: tcp://user:password@host:1883/prefix/rig, as in mqtt.broker; without a path the topics are those of
// root, prefix/rig. Its failure is a *ConnectError, or says what is wrong with the address.
func DialFitTopics(ctx context.Context, address, root string) (*FitTopics, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address like tcp://user:password@host:1883", redact(address))
	}
	if named := strings.Trim(u.Path, "/"); named != "" && !strings.HasPrefix(u.Scheme, "ws") {
		root, u.Path = named, ""
	}
	user := u.User.Username()
	password, _ := u.User.Password()
	u.User = nil
	broker := u.String()
	tls, err := tlsOf(broker, "")
	if err != nil {
		return nil, err
	}
	prefix, rig := path.Split(root)
	prefix = strings.TrimSuffix(prefix, "/")
	if err := errors.Join(checkTopicPart("prefix", prefix, true), checkTopicPart("rig", rig, false)); err != nil {
		return nil, err
	}
	t := &FitTopics{root: topicRoot(prefix, rig), user: user, heard: make(chan []byte, 64)}
	if t.client, err = connect(ctx, broker, user, clientOptions(broker, clientID(), user, password, tls)); err != nil {
		return nil, err
	}
	tok := t.client.Subscribe(t.root+FitResultTopic, 1, func(_ paho.Client, m paho.Message) {
		select {
		case t.heard <- m.Payload():
		default:
		}
	})
	if !tok.WaitTimeout(passedOn) || tok.Error() != nil {
		t.Close()
		return nil, fmt.Errorf("the broker refuses the subscription to %s: %v", t.root+FitResultTopic, tok.Error())
	}
	return t, nil
}

// Status publishes where the fit is. It does not wait.
func (t *FitTopics) Status(body []byte) { t.client.Publish(t.root+FitStatusTopic, 1, true, body) }

// Result publishes a result and waits until the broker passes it on: one that refuses to does not say so.
func (t *FitTopics) Result(body []byte) error {
	tok := t.client.Publish(t.root+FitResultTopic, 1, true, body)
	if !tok.WaitTimeout(passedOn) || tok.Error() != nil {
		return fmt.Errorf("the broker does not take the result: %v", tok.Error())
	}
	for wait := time.After(passedOn); ; {
		select {
		case got := <-t.heard:
			if bytes.Equal(got, body) {
				return nil
			}
		case <-wait:
			return fmt.Errorf("the broker passes nothing on that user %q publishes on %s: let its access list allow that. With the broker of hil "+
				"run take the user operator", t.user, t.root+FitResultTopic)
		}
	}
}

// Close lets the last packets leave, and disconnects.
func (t *FitTopics) Close() { t.client.Disconnect(goodbye) }

// ownBodies are the newest payloads that this process published, to tell them from those of others on the same topics.
type ownBodies struct {
	mu    sync.Mutex
	sums  [64][sha256.Size]byte
	count int
}

func (o *ownBodies) add(body []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sums[o.count%len(o.sums)] = sha256.Sum256(body)
	o.count++
}

func (o *ownBodies) contains(body []byte) bool {
	sum := sha256.Sum256(body)
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.sums[:], sum)
}

// hear passes on what a fit that runs elsewhere publishes on the topics of this rig. It does not wait.
func (p *Publisher) hear(c paho.Client) {
	if p.o.Heard == nil {
		return
	}
	c.SubscribeMultiple(map[string]byte{p.root + FitStatusTopic: 1, p.root + FitResultTopic: 1}, func(_ paho.Client, m paho.Message) {
		if body := m.Payload(); !m.Retained() && !p.ownBodies.contains(body) && json.Valid(body) { // retained: of a run before
			p.o.Heard(strings.TrimPrefix(m.Topic(), p.root), body)
		}
	})
}
