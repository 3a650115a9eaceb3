package app

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/prloop/prloop/internal/agentrun"
)

// room asks for what a run needs on the disk of a folder to begin. Where that is too little, all goes that may go, and room is asked for again: as long
// as no run begins, nothing else would take it away (threats.md T717).
func (s *Service) room(ctx context.Context, dir, run string) error {
	limits, low := s.opts.Machine.Limits, (*agentrun.LowDiskError)(nil)
	if err := limits.Room(dir); !errors.As(err, &low) {
		return err
	}
	s.sweepInTurn(ctx, filepath.Join(s.opts.State, scratchName))
	s.sweepRepos()
	s.forgetArtifacts(run)
	return limits.Room(dir)
}
