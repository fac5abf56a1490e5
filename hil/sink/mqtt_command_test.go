package sink

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hilrig/hil"
)

// ledger is a commander that writes down what it is asked for.
type ledger struct {
	mu   sync.Mutex
	done []hil.Command
	wait func(context.Context, hil.Command)
}

func (l *ledger) command(ctx context.Context, c hil.Command) hil.Reply {
	l.mu.Lock()
	l.done = append(l.done, c)
	l.mu.Unlock()
	if l.wait != nil {
		l.wait(ctx, c)
	}
	if c.Name == "reset" {
		return hil.Reply{ID: c.ID, Error: "nothing to reset"}
	}
	return hil.Reply{ID: c.ID, OK: true}
}

func (l *ledger) count(name string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.done {
		if c.Name == name {
			n++
		}
	}
	return n
}

func commandPublisher(t *testing.T, policy string) (*Publisher, *ledger) {
	t.Helper()
	l := &ledger{}
	o := testOptions("tcp://127.0.0.1:1")
	o.Commands, o.Commander = policy, l.command
	p, err := NewPublisher(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, l
}

func TestCommandsAreJudged(t *testing.T) {
	soon := fmt.Sprintf("%d", time.Now().Unix()+60)
	past := fmt.Sprintf("%d", time.Now().Unix()-60)
	for _, c := range []struct {
		what, policy, name, payload string
		retained                    bool
		ok, taken                   bool
		answer                      string // part of the error
	}{
		{"plain", "all", "run", `{"id":"1"}`, false, true, true, ""},
		{"in time", "all", "run", `{"id":"1","expires":` + soon + `}`, false, true, true, ""},
		{"refused by the tick", "all", "reset", `{"id":"1"}`, false, false, true, "nothing to reset"},
		{"expired", "all", "run", `{"id":"1","expires":` + past + `}`, false, false, false, "expired 6"},
		{"expired stop", "all", "stop", `{"id":"1","expires":` + past + `}`, false, true, true, ""},
		{"expired hold", "stop", "hold", `{"id":"1","expires":` + past + `}`, false, true, true, ""},
		{"expired estop", "all", "estop", `{"id":"1","expires":` + past + `}`, false, true, true, ""},
		{"expired arm", "all", "arm", `{"id":"1","expires":` + past + `}`, false, false, false, "expired 6"},
		{"milliseconds", "all", "run", `{"id":"1","expires":1795221002000}`, false, false, false, "milli"},
		{"retained start", "all", "run", `{"id":"1"}`, true, false, false, "retained run is refused"},
		{"retained stop", "all", "stop", `{"id":"1"}`, true, true, true, ""},
		{"empty stop", "all", "stop", "", false, true, true, ""},
		{"empty estop", "all", "estop", " \n", false, true, true, ""},
		{"empty run", "all", "run", "", false, false, false, "empty payload"},
		{"broken stop", "all", "stop", `{"id":`, false, true, true, "payload was ignored"},
		{"broken run", "all", "run", `{"id":"1",}`, false, false, false, "not JSON at byte"},
		{"cut short", "all", "run", `{"id":"1"`, false, false, false, "ends too early"},
		{"text", "all", "run", `now`, false, false, false, "not JSON at byte"},
		{"array", "all", "run", `[1]`, false, false, false, "cannot unmarshal"},
		{"two objects", "all", "run", `{"id":"1"}{"id":"2"}`, false, false, false, "follows"},
		{"misspelt key", "all", "run", `{"id":"1","expire":5}`, false, false, false, `unknown field "expire"`},
		{"no id", "all", "run", `{}`, false, false, false, `"id" is missing`},
		{"set", "all", "set", `{"id":"1","set":{"kp":0.3}}`, false, true, true, ""},
		{"set nothing", "all", "set", `{"id":"1"}`, false, false, false, `want {"id":"…","set":`},
		{"set text", "all", "set", `{"id":"1","set":{"kp":"big"}}`, false, false, false, `set.kp: "big" is no number`},
		{"set null", "all", "set", `{"id":"1","set":{"kp":null}}`, false, false, false, "set.kp: null"},
		{"set twice", "all", "set", `{"id":"1","set":{"kp":1,"kp":2}}`, false, false, false, "set.kp: the key stands twice"},
		{"adopt null", "all", "adopt", `{"id":"1","adopt":{"axis":"shaft","law":"lugre","params":{"Fc":null}}}`, false, false, false,
			"adopt.params.Fc: null"},
		{"never expires", "all", "run", `{"id":"1","expires":null}`, false, false, false, "expires: null"},
		{"stop with null", "all", "stop", `{"id":null}`, false, true, true, "payload was ignored"},
		{"run with confirm", "all", "run", `{"id":"1","confirm":true}`, false, false, false, `takes no "confirm"`},
		{"adopt", "all", "adopt", `{"id":"1","adopt":{"axis":"shaft","law":"lugre","params":{"Fc":1}}}`, false, true, true, ""},
		{"adopt nothing", "all", "adopt", `{"id":"1"}`, false, false, false, `want {"id":"…","adopt"`},
		{"adopt what is no key", "all", "adopt", `{"id":"1","adopt":{"axis":"shaft","laws":"lugre"}}`, false, false, false, "unknown field"},
		{"run with adopt", "all", "run", `{"id":"1","adopt":{"axis":"shaft"}}`, false, false, false, `takes no "adopt"`},
		{"identify", "all", "identify", `{"id":"1","identify":{"axis":"shaft","way":"aep","window_s":10,"every_s":5}}`, false, true, true, ""},
		{"identify the only axis", "all", "identify", `{"id":"1"}`, false, true, true, ""},
		{"identify by a key there is not", "all", "identify", `{"id":"1","identify":{"window":10}}`, false, false, false, "unknown field"},
		{"identify where only stops are taken", "stop", "identify", `{"id":"1"}`, false, false, false, "only stop"},
		{"run with identify", "all", "run", `{"id":"1","identify":{}}`, false, false, false, `takes no "identify"`},
		{"accept", "all", "accept", `{"id":"1","accept":"0001"}`, false, true, true, ""},
		{"accept nothing", "all", "accept", `{"id":"1"}`, false, false, false, `want {"id":"…","accept"`},
		{"roll back", "all", "rollback", `{"id":"1"}`, false, true, true, ""},
		{"retained accept", "all", "accept", `{"id":"1","accept":"0001"}`, true, false, false, "retained"},
		{"run with set", "all", "run", `{"id":"1","set":{"kp":1}}`, false, false, false, `takes no "set"`},
		{"unknown", "all", "fly", `{"id":"1"}`, false, false, false, `unknown command "fly"`},
		{"trip is inside only", "all", "trip", `{"id":"1"}`, false, false, false, "unknown command"},
		{"stop only", "stop", "run", `{"id":"1"}`, false, false, false, "only stop, hold and estop"},
		{"stop only: hold", "stop", "hold", `{"id":"1"}`, false, true, true, ""},
		{"none", "none", "stop", ``, false, false, false, "switched off"},
	} {
		t.Run(c.what, func(t *testing.T) {
			p, l := commandPublisher(t, c.policy)
			r := p.commands.serve(c.name, c.retained, []byte(c.payload))
			if r.OK != c.ok || !strings.Contains(r.Error, c.answer) || c.answer == "" && r.Error != "" {
				t.Errorf("%+v", r)
			}
			if taken := len(l.done) == 1; taken != c.taken {
				t.Errorf("taken: %+v", l.done)
			}
		})
	}
}

// The same id within a minute: a start is carried out once and answered twice alike; a stop is carried out every time, since
// a script that always sends the same id must still be able to stop the rig.
func TestRepeatedCommands(t *testing.T) {
	p, l := commandPublisher(t, "all")
	release := make(chan struct{})
	l.wait = func(context.Context, hil.Command) { <-release }
	answers := make(chan hil.Reply, 2)
	for range 2 {
		go func() { answers <- p.commands.serve("arm", false, []byte(`{"id":"7"}`)) }()
	}
	close(release)
	for range 2 {
		if r := <-answers; !r.OK || r.ID != "7" {
			t.Errorf("%+v", r)
		}
	}
	for range 3 {
		if r := p.commands.serve("stop", false, []byte(`{"id":"7"}`)); !r.OK {
			t.Errorf("%+v", r)
		}
	}
	if r := p.commands.serve("run", false, []byte(`{"id":"7"}`)); !r.OK { // another command under the same id
		t.Errorf("%+v", r)
	}
	if l.count("arm") != 1 || l.count("stop") != 3 || l.count("run") != 1 {
		t.Errorf("%+v", l.done)
	}
	// after a minute the id is new
	p.commands.answers["arm\x007"].receivedAt = time.Now().Add(-remember - time.Second)
	p.commands.serve("arm", false, []byte(`{"id":"7"}`))
	if l.count("arm") != 2 {
		t.Errorf("arm was carried out %d times", l.count("arm"))
	}
}

// Commands travel from an operator through the broker and come back as answers, also when the tick is slow with another one:
// the stop overtakes.
func TestCommandsOverTheBroker(t *testing.T) {
	leakCheck(t)
	b := testBroker(t)
	op, seen := client(t, b.URL(), "operator", b.Operator())
	// a stop retained before the publisher is up is honoured when it comes up
	if err := token(op.Publish("hil/bench/cmd/stop", 1, true, `{"id":"kept"}`)); err != nil {
		t.Fatal(err)
	}
	l := &ledger{wait: func(ctx context.Context, c hil.Command) {
		if c.Name == "arm" {
			<-ctx.Done()
		}
	}}
	o := testOptions(b.URL())
	o.User, o.Password = b.Login()
	o.Commander = l.command
	_, end := runPublisher(t, o)
	answer := func(name, id string) hil.Reply {
		t.Helper()
		var r hil.Reply
		seen.wait(t, name+" "+id, func(m received) bool {
			if m.topic != "hil/bench/cmd/"+name+"/ack" {
				return false
			}
			decode(t, m.body, &r)
			return r.ID == id
		})
		return r
	}
	if r := answer("stop", "kept"); !r.OK {
		t.Errorf("%+v", r)
	}
	for _, c := range [][2]string{{"arm", "slow"}, {"stop", "now"}, {"hold", "also"}} {
		if err := token(op.Publish("hil/bench/cmd/"+c[0], 1, false, `{"id":"`+c[1]+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	if r := answer("stop", "now"); !r.OK {
		t.Errorf("%+v", r)
	}
	if r := answer("hold", "also"); !r.OK {
		t.Errorf("%+v", r)
	}
	if waited := time.Since(start); waited >= commandWait {
		t.Errorf("the stop waited %v behind the arm", waited)
	}
	end()
}
