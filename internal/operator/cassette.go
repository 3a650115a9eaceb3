package operator

import (
	"cmp"
	"path/filepath"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/gateway"
)

// The operator's word on recorded conversations stands in the command line and the environment alone: no repository has a
// say in where they are kept, nor in what models are believed to have said.
const (
	EnvRecord = "PRLOOP_RECORD_MODELS"
	EnvReplay = "PRLOOP_REPLAY_MODELS"
)

// Cassette settles whether the conversations of a run are recorded or replayed; its zero value is neither. The files that the command line
// names, if it does, are recorded and replayed; names are those of the folder dir.
func (w *Words) Cassette(dir, recorded, replayed string) (gateway.Cassette, error) {
	record, replay := cmp.Or(recorded, w.Get(EnvRecord)), cmp.Or(replayed, w.Get(EnvReplay))
	if recorded != "" && replayed == "" || replayed != "" && recorded == "" {
		record, replay = recorded, replayed // the command line is stronger than the environment
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
		c.Path = filepath.Join(dir, c.Path)
	}
	return c, nil
}
