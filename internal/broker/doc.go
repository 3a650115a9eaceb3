// Package broker keeps the keys of model endpoints out of the processes that use them (decision 94): a process of its own holds them, and whoever
// may open its socket has calls made with them. It also has what brokers share: the socket, and the way to it.
package broker
