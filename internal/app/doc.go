// Package app is the application service: everything between "somebody wants this reviewed" and "it ended". A Service is what the
// runs of one process share: the record of runs, the engine, the state folder. A run has the rest for itself, so that several can be
// under way side by side. Callers bring an Order with the layers of its settings, and hear of progress as events. Nothing here
// knows a flag, a terminal or a variable of the environment: the front that takes the order does.
package app
