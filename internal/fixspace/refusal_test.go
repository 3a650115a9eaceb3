package fixspace

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// Work that git can print and prloop cannot read is refused: it is the fixer's, and another try may do without it (threats.md T579).
func TestUnreadableWorkIsRefused(t *testing.T) {
	for _, fault := range []error{&diff.Error{Err: diff.ErrMalformed}, &diff.Error{Err: diff.ErrTruncated}, diff.ErrIncomplete} {
		work := &outcome{Workspace: &Workspace{}}
		if !work.refused(fmt.Errorf("changes: %w", fault)) || len(work.Refusals) != 1 || work.Refusals[0].Rule != pushpolicy.RuleBadName {
			t.Errorf("%v: %+v", fault, work.Refusals)
		}
	}
	if work := (&outcome{Workspace: &Workspace{}}); work.refused(errors.New("the disk is full")) {
		t.Errorf("a full disk: %+v", work.Refusals)
	}
}
