package sink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"

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
		// many brokers answer a wrong password like this
		e.Reason = fmt.Sprintf("not authorised as user %q: bad user name or password, or this user may not connect", user)
		e.Hint = "Check mqtt.user and mqtt.password"
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
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		e.Reason = "the far side closed the connection"
		e.Hint = "Check that the scheme fits the port: ssl:// for one that speaks TLS (often 8883), tcp:// for one that does not"
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
