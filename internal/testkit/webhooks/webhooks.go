// Package webhooks carries events as GitHub sends them, for the tests of whatever reads events. README.md beside it says where they
// come from.
package webhooks

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

//go:embed webhooks.tar.gz
var packed []byte

// Event is one recorded event.
type Event struct {
	// File names the recording, Name the event, Action what happened; empty where the event has no action.
	File, Name, Action string
	Payload            []byte
}

// All gives every recorded event, by the names of the files. It panics on a damaged archive: it is part of the binary.
func All() []Event {
	files, err := unpack()
	var index struct {
		Files []struct{ File, Event string }
	}
	if err == nil {
		err = json.Unmarshal(files["index.json"], &index)
	}
	if err != nil {
		panic(fmt.Sprintf("unpack the recorded events: %v", err))
	}
	var all []Event
	for _, f := range index.Files {
		var what struct{ Action string }
		_ = json.Unmarshal(files[f.File], &what) // an event without an action
		all = append(all, Event{f.File, f.Event, what.Action, files[f.File]})
	}
	return all
}

func unpack() (map[string][]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}
