package registries

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// helloLimit bounds what is read of a client before it has said whom it wants, in bytes.
const helloLimit = 64 << 10

// encryptedHello is the extension that hides another name behind the one that can be read (RFC 9849).
const encryptedHello = 0xfe0d

var errSeen = errors.New("that is all there is to see")

// clientHello reads the first message of a TLS client and gives it back with the name of the server it wants.
func clientHello(from io.Reader) (first []byte, name string, err error) {
	var seen bytes.Buffer
	var hello *tls.ClientHelloInfo
	server := tls.Server(listening{io.TeeReader(io.LimitReader(from, helloLimit), &seen)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errSeen
		},
	})
	_ = server.Handshake() // it never ends well: nobody answers
	switch {
	case hello == nil:
		return nil, "", &refusedError{"only TLS goes through a tunnel"}
	case slices.Contains(hello.Extensions, encryptedHello):
		return nil, "", &refusedError{"the client hides the name of the server it wants"}
	}
	return seen.Bytes(), hello.ServerName, nil
}

// listening is a connection on which nothing is said.
type listening struct{ io.Reader }

func (listening) Write(b []byte) (int, error)      { return len(b), nil }
func (listening) Close() error                     { return nil }
func (listening) LocalAddr() net.Addr              { return nil }
func (listening) RemoteAddr() net.Addr             { return nil }
func (listening) SetDeadline(time.Time) error      { return nil }
func (listening) SetReadDeadline(time.Time) error  { return nil }
func (listening) SetWriteDeadline(time.Time) error { return nil }
