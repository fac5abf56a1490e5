package sink

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// Every connection is a paho client of its own. Paho can restore a connection by itself, but then sends again what it has
// stored while we publish already: messages arrive twice, and the same packet is written from two goroutines.

// checkBroker reads the address and the certificates, once.
func (p *Publisher) checkBroker() error {
	u, err := url.Parse(p.o.Broker)
	if err != nil || u.Host == "" {
		return fmt.Errorf("mqtt.broker: %q is not an address like tcp://host:1883", redact(p.o.Broker))
	}
	switch u.Scheme {
	case "tcp", "mqtt", "ws":
		if p.o.CA != "" {
			return fmt.Errorf("mqtt.ca is set, but %q does not use TLS; use ssl:// or wss://", redact(p.o.Broker))
		}
	case "ssl", "tls", "mqtts", "wss":
		if p.tls, err = tlsConfig(p.o.CA, u.Hostname()); err != nil {
			return err
		}
	default:
		return fmt.Errorf("mqtt.broker: %q has the scheme %q, want tcp, ssl, ws or wss", redact(p.o.Broker), u.Scheme)
	}
	var tail [6]byte
	rand.Read(tail[:])
	p.id = "hil-" + hex.EncodeToString(tail[:])
	return nil
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

// clientOptions set paho up: bounded waits everywhere, a last will, and a session that starts clean, because commands that
// waited for us must not be carried out late.
func (p *Publisher) clientOptions() *paho.ClientOptions {
	co := paho.NewClientOptions().
		AddBroker(p.o.Broker).SetClientID(p.id).SetUsername(p.o.User).SetPassword(p.o.Password).
		SetProtocolVersion(4).SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false).
		SetConnectTimeout(dialWait).SetKeepAlive(keepAlive).SetPingTimeout(pingWait).SetWriteTimeout(writeLimit).
		SetDialer(&net.Dialer{Timeout: dialWait}).
		SetWill(p.root+"status", statusDown, 1, true).
		SetConnectionLostHandler(p.changed)
	if p.tls != nil {
		co.SetTLSConfig(p.tls)
	}
	return co
}

// dial makes one connection.
func (p *Publisher) dial(ctx context.Context) (paho.Client, error) {
	c := paho.NewClient(p.clientOptions())
	tok := c.Connect()
	select {
	case <-tok.Done():
	case <-ctx.Done():
		c.Disconnect(0)
		return nil, ctx.Err()
	}
	if err := tok.Error(); err != nil {
		return nil, connectError(p.o.Broker, p.o.User, err)
	}
	return c, nil
}

// redial connects again, however long it takes, unless the publisher is closed.
func (p *Publisher) redial() {
	if !p.commands.enter() {
		return
	}
	go func() {
		defer p.commands.wg.Done()
		ctx := p.commands.ctx
		for pause := redialFirst; ctx.Err() == nil; pause = min(2*pause, redialLast) {
			if c, err := p.dial(ctx); err == nil {
				p.changed(c, nil)
				return
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
