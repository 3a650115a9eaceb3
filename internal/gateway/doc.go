// Package gateway is the only holder of model keys. It is a reverse proxy on a unix socket inside prloop: an agent
// gets a placeholder token and the socket, nothing else. Each call is checked, its budget is reserved before it is made, the
// caller's headers are replaced, and what it cost is counted. It serves chat completions and responses, and Anthropic's
// messages to callers that speak nothing else; nothing is translated, the endpoint has to serve the same.
//
// A call passes through a chain, outermost first: token, path and size (server.go); what may be asked (inspect.go,
// messages.go); the models that may answer (failover.go); the budget of each (budget.go, ledger.go); then a recorded
// conversation (cassette.go), or the transports: retry, whole answers, the network (transport.go). On the way back usage is
// read and streams and tool calls are held to their bounds (answer.go, tools.go).
package gateway
