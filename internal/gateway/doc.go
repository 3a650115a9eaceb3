// Package gateway is the only holder of model keys (design 5). It is an OpenAI-compatible reverse proxy on a unix socket
// inside prloop: an agent gets a placeholder token and the socket, nothing else. Each call is checked, its budget is
// reserved before it is made, the caller's headers are replaced, and what it cost is counted.
//
// A call passes through a chain, outermost first: token, path and size (server.go); what may be asked (inspect.go); the
// budget (budget.go); then the transports: retry, whole answers, the network (transport.go). Fail-over and recorded
// conversations become further links of the transports.
package gateway
