// Package gateway is the only holder of model keys (design 5). It is an OpenAI-compatible reverse proxy on a unix socket
// inside prloop: an agent gets a placeholder token and the socket, nothing else. Each call is checked, its budget is
// reserved before it is made, the caller's headers are replaced, and what it cost is counted.
//
// A call passes through a chain, outermost first: token, path and size (server.go); what may be asked (inspect.go); the
// models that may answer (failover.go); the budget of each (budget.go, ledger.go); then a recorded conversation
// (cassette.go), or the transports: retry, whole answers, the network (transport.go). On the way back usage is read and
// streams and tool calls are held to their bounds (answer.go, tools.go).
package gateway
