// Package deploy has the files by which prloop is run as a service. Its tests hold them to what they promise.
package deploy
