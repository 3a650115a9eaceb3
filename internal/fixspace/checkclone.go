package fixspace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/review"
)

// AllChecks asks CheckClone for every command.
const AllChecks = "all"

// CheckClone runs verify commands on what a fixer's clone holds now, as Verify does on what it hands over: the clone's files are taken
// as data into prloop's own repository, and the commands see an export of that. Nothing is run in the clone, nothing that runs
// can write there, and no builds are kept. command is AllChecks or one of the order's, as the fixer is told of it. A command that was only found and fails on the reviewed head as well
// is set aside, as after the submission. The error is fit to be shown to the fixer.
func (b *Workspace) CheckClone(ctx context.Context, o review.FixOrder, clone, command string) ([]review.Check, error) {
	commands := o.Verify
	if command != AllChecks {
		i := slices.IndexFunc(o.Verify, func(c string) bool { return c == command || b.shown(c) == command })
		if i < 0 {
			return nil, fmt.Errorf("the command is none of the verify commands; %q runs all of them", AllChecks)
		}
		commands = o.Verify[i : i+1]
	}
	tree, err := b.seen().TakeTree(ctx, clone, o.From)
	if err != nil {
		var take *git.TakeError
		if errors.As(err, &take) {
			return nil, fmt.Errorf("the tree cannot be checked: %s", b.oneLine(take.Error()))
		}
		return nil, errors.New("the tree cannot be checked now")
	}
	checks, err := b.Verify(ctx, VerifyOrder{Commit: tree, Commands: commands})
	if err != nil {
		return nil, errors.New("the commands could not be run now")
	}
	if !o.Detected {
		return checks, nil
	}
	var again []string
	for i, c := range checks {
		if !c.Good() {
			again = append(again, commands[i])
		}
	}
	before, err := b.Verify(ctx, VerifyOrder{Commit: o.Reviewed, Commands: again})
	if err != nil {
		return nil, errors.New("the commands could not be run on the reviewed head")
	}
	for _, was := range before {
		for i := range checks {
			if c := &checks[i]; c.Command == was.Command && !c.Good() && !was.Good() {
				c.State, c.Log = review.CheckSkipped, "it does not pass on the reviewed head either"
			}
		}
	}
	return checks, nil
}
