package sink

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"syscall"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

// ConnectError says why the first connection to a broker failed and how to go on; the program ends with the exit code for
// an unavailable device or broker.
type ConnectError struct {
	Broker string // address without password
	Reason string
	Hint   string
	Err    error
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("mqtt: cannot use broker %s: %s. %s", e.Broker, e.Reason, e.Hint)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// connectError finds the reason in what paho reports.
func connectError(broker, user string, err error) *ConnectError {
	e := &ConnectError{Broker: redact(broker), Err: err}
	var (
		cert  *tls.CertificateVerificationError
		auth  x509.UnknownAuthorityError
		host  x509.HostnameError
		plain tls.RecordHeaderError
		dns   *net.DNSError
		ne    net.Error
	)
	switch {
	case errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword):
		e.Reason = fmt.Sprintf("bad user name or password (user %q)", user)
		e.Hint = "Check mqtt.user and mqtt.password"
	case errors.Is(err, packets.ErrorRefusedNotAuthorised):
		e.Reason = fmt.Sprintf("not authorised (user %q)", user)
		e.Hint = "Check mqtt.user and mqtt.password; the broker may also refuse anonymous clients or this address"
	case errors.Is(err, packets.ErrorRefusedServerUnavailable):
		e.Reason, e.Hint = "the broker says it is unavailable", "It may be starting or full; try again"
	case errors.As(err, &cert), errors.As(err, &auth), errors.As(err, &host):
		e.Reason = "TLS verification failed: " + innermost(err).Error()
		e.Hint = "Set mqtt.ca to the PEM file of the authority that signed the broker's certificate, and use the host name that is in it"
	case errors.As(err, &plain):
		e.Reason, e.Hint = "the far side does not speak TLS", "Use tcp:// instead of ssl://, or the broker's TLS port (often 8883)"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Reason, e.Hint = "connection refused", "Is the broker running and listening there? Leave mqtt.broker empty for the embedded one"
	case errors.As(err, &dns):
		e.Reason = fmt.Sprintf("no address for host %q", dns.Name)
		e.Hint = "Check the spelling of mqtt.broker"
	case errors.As(err, &ne) && ne.Timeout():
		e.Reason = fmt.Sprintf("no answer within %v", dialWait)
		e.Hint = "Check address, port and firewall; a port that speaks TLS does not answer tcp://"
	default:
		e.Reason = err.Error()
		e.Hint = "Check mqtt.broker, and that an MQTT 3.1.1 broker listens there"
	}
	return e
}

func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// redact is the address without a password.
func redact(broker string) string {
	u, err := url.Parse(broker)
	if err != nil {
		return "(unreadable address)"
	}
	return u.Redacted()
}

// clientOptions sets paho up: bounded waits everywhere, a last will, and a session that starts clean, because commands that
// waited for us must not be carried out late.
func (p *Publisher) clientOptions() (*paho.ClientOptions, error) {
	u, err := url.Parse(p.o.Broker)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("mqtt.broker: %q is not an address like tcp://host:1883", redact(p.o.Broker))
	}
	co := paho.NewClientOptions()
	switch u.Scheme {
	case "tcp", "mqtt", "ws":
	case "ssl", "tls", "mqtts", "wss":
		conf, err := tlsConfig(p.o.CA, u.Hostname())
		if err != nil {
			return nil, err
		}
		co.SetTLSConfig(conf)
	default:
		return nil, fmt.Errorf("mqtt.broker: %q has the scheme %q, want tcp, ssl, ws or wss", redact(p.o.Broker), u.Scheme)
	}
	if p.o.CA != "" && co.TLSConfig != nil && co.TLSConfig.RootCAs == nil {
		return nil, fmt.Errorf("mqtt.ca is set, but %q does not use TLS; use ssl:// or wss://", redact(p.o.Broker))
	}
	var tail [6]byte
	rand.Read(tail[:])
	co.AddBroker(p.o.Broker).
		SetClientID("hil-"+hex.EncodeToString(tail[:])).
		SetUsername(p.o.User).SetPassword(p.o.Password).
		SetProtocolVersion(4).SetCleanSession(true).
		SetConnectTimeout(dialWait).SetKeepAlive(keepAlive).SetPingTimeout(pingWait).SetWriteTimeout(writeLimit).
		SetAutoReconnect(true).SetMaxReconnectInterval(reconnectBy).SetConnectRetry(false).
		SetDialer(&net.Dialer{Timeout: dialWait, KeepAlive: 30 * time.Second}).
		SetWill(p.root+"status", statusDown, 1, true).
		SetOnConnectHandler(func(paho.Client) { p.desk.subscribe(); p.changed(nil) }).
		SetConnectionLostHandler(func(_ paho.Client, err error) { p.changed(err) })
	return co, nil
}

// changed tells the sender about the connection; paho calls it from goroutines of its own.
func (p *Publisher) changed(err error) {
	select {
	case p.link <- linkChange{err, time.Now()}:
	default: // sixteen changes are waiting already: the sender looks at the connection itself before it sends
	}
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
