package sink

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"hilrig/engine/failure"
)

// Every connection is a paho client of its own. Paho can restore a connection by itself, but then sends again what it has
// stored while we publish already: messages arrive twice, and the same packet is written from two goroutines.

// checkBroker reads the address and the certificates, once.
func (p *Publisher) checkBroker() (err error) {
	p.id = clientID()
	p.tls, err = tlsOf(p.o.Broker, p.o.CA)
	return err
}

// tlsOf is the TLS of a broker's address; nil: it has none.
func tlsOf(broker, ca string) (*tls.Config, error) {
	u, err := url.Parse(broker)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("mqtt.broker: %q is not an address like tcp://host:1883", redact(broker))
	}
	switch u.Scheme {
	case "tcp", "mqtt", "ws":
		if ca != "" {
			return nil, fmt.Errorf("mqtt.ca is set, but %q does not use TLS; use ssl:// or wss://", redact(broker))
		}
		return nil, nil
	case "ssl", "tls", "mqtts", "wss":
		return tlsConfig(ca, u.Hostname())
	}
	return nil, fmt.Errorf("mqtt.broker: %q has the scheme %q, want tcp, ssl, ws or wss", redact(broker), u.Scheme)
}

// clientID is one that nobody else has.
func clientID() string {
	var tail [6]byte
	rand.Read(tail[:])
	return "hil-" + hex.EncodeToString(tail[:])
}

func tlsConfig(ca, host string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if ca == "" {
		return conf, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("mqtt.ca: %w", err)
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("mqtt.ca: %s holds no certificate in PEM form", ca)
	}
	return conf, nil
}

// clientOptions set paho up: bounded waits everywhere, and a session that starts clean, because commands that waited for us must not be
// carried out late.
func clientOptions(broker, id, user, password string, tls *tls.Config) *paho.ClientOptions {
	co := paho.NewClientOptions().
		AddBroker(broker).SetClientID(id).SetUsername(user).SetPassword(password).
		SetProtocolVersion(4).SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false).
		SetConnectTimeout(dialWait).SetKeepAlive(keepAlive).SetPingTimeout(pingWait).SetWriteTimeout(writeLimit).
		SetDialer(&net.Dialer{Timeout: dialWait})
	if tls != nil {
		co.SetTLSConfig(tls)
	}
	return co
}

// dial makes one connection, with a last will, that has the name of the rig.
func (p *Publisher) dial(ctx context.Context) (paho.Client, error) {
	c, err := connect(ctx, p.o.Broker, p.o.User, clientOptions(p.o.Broker, p.id, p.o.User, p.o.Password, p.tls).
		SetBinaryWill(p.root+"status", p.status(statusDown), 1, true).SetConnectionLostHandler(p.changed))
	if err != nil {
		return nil, err
	}
	if p.o.Sole {
		p.claimed.Store(&c)
		return c, nil
	}
	p.claimed.Store(nil)
	if err = p.claim(ctx, c); errors.Is(err, errUnchecked) && c.IsConnectionOpen() {
		p.emit("error", "NAME_UNCHECKED", fmt.Sprintf("broker %s does not bring back what is published on %sprobe: whether another daemon has "+
			"this name cannot be told, so no commands are taken over MQTT. Let the user of mqtt.user read and write %s#", redact(p.o.Broker),
			p.root, p.root))
		return c, nil
	}
	if err != nil {
		p.leave(c)
		return nil, err
	}
	return c, nil
}

// leave ends a connection that did not get the name, in good order, so that the broker does not send its last will over the status of
// the one who has it.
func (p *Publisher) leave(c paho.Client) { c.Disconnect(goodbye) }

// connect makes one connection. Its failure is a *ConnectError that says why.
func connect(ctx context.Context, broker, user string, co *paho.ClientOptions) (paho.Client, error) {
	c := paho.NewClient(co)
	tok := c.Connect()
	select {
	case <-tok.Done():
	case <-ctx.Done():
		c.Disconnect(0)
		return nil, ctx.Err()
	}
	if err := tok.Error(); err != nil {
		return nil, connectError(broker, user, err)
	}
	return c, nil
}

// redial connects again, however long it takes, unless the publisher is closed.
func (p *Publisher) redial() {
	if !p.commands.enter() {
		return
	}
	go func() {
		defer failure.Report()
		defer p.commands.wg.Done()
		ctx, told := p.commands.ctx, ""
		for pause := redialFirst; ctx.Err() == nil; pause = min(2*pause, redialLast) {
			c, err := p.dial(ctx)
			if err == nil {
				p.changed(c, nil)
				return
			}
			var taken *NameTakenError
			if errors.As(err, &taken) && told != taken.Holder.key() {
				told = taken.Holder.key()
				p.emit("error", "NAME_TAKEN", strings.TrimPrefix(err.Error(), "mqtt: ")+". Until then this one publishes nothing and takes no "+
					"commands over MQTT")
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}()
}

// changed tells the sender about a connection: up when err is nil, else lost. Paho calls it from a goroutine of its own.
func (p *Publisher) changed(c paho.Client, err error) {
	select {
	case p.link <- linkChange{c, err, time.Now()}:
	case <-p.commands.ctx.Done():
		c.Disconnect(0)
	}
}
