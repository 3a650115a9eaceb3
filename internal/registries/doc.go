// Package registries is the way out of setup commands (decision 46): a proxy that leads to the package registries the operator lists and
// to nothing else. A child reaches it over a unix socket, as agents reach the model gateway; prloop resolves the names and makes the
// connections.
//
// An entry of the list is a host (names below it with *.), which means TLS on port 443 of an address of the public internet, or a
// host with a port, which may be anywhere and may speak plain HTTP: who writes a port means that very server. A tunnel carries TLS
// alone, to the server it was opened for: what a client calls the server in its first message has to be that name, because many
// hosts share the addresses of one provider. What is said inside the tunnel nobody here can read, so that whoever runs in a setup can
// hand what it reads to a listed registry; the bytes that may be sent are bounded.
package registries
