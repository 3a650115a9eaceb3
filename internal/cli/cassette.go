package cli

import (
	"cmp"
	"path/filepath"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/gateway"
)

// The operator's word on recorded conversations stands in the command line and the environment alone: no repository has a
// say in where they are kept, nor in what models are believed to have said.
const (
	envRecord = "PRLOOP_RECORD_MODELS"
	envReplay = "PRLOOP_REPLAY_MODELS"
)

// cassette settles whether the conversations of a run are recorded or replayed; its zero value is neither.
func (p *Invocation) cassette(o runOptions) (gateway.Cassette, error) {
	record, replay := cmp.Or(o.recordModels, p.env(envRecord)), cmp.Or(o.replayModels, p.env(envReplay))
	if o.recordModels != "" && o.replayModels == "" || o.replayModels != "" && o.recordModels == "" {
		record, replay = o.recordModels, o.replayModels // the command line is stronger than the environment
	}
	c := gateway.Cassette{Path: record, Mode: gateway.Record}
	switch {
	case record != "" && replay != "":
		return c, advice.Misuse("give one of the two", "the same run cannot record conversations and replay them")
	case replay != "":
		c = gateway.Cassette{Path: replay, Mode: gateway.Replay}
	case record == "":
		return gateway.Cassette{}, nil
	}
	if !filepath.IsAbs(c.Path) {
		c.Path = filepath.Join(p.Dir, c.Path)
	}
	return c, nil
}
