package doctor

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/fixspace"
)

// packages says where verify commands find the packages that the repository here needs.
func (d *Doctor) packages(ctx context.Context) Checkup {
	c := Checkup{What: "packages", State: OK}
	order, err := d.Order()
	if err != nil {
		c.Note, c.State = "skipped: invalid configuration", Broken
		return c
	}
	settings, err := order.EarlySettings(true)
	if err != nil {
		c.Note, c.State = "skipped: invalid configuration", Broken
		return c
	}
	var have, lent []string
	for _, l := range d.Operator.Caches() {
		have = append(have, l.Tool)
		if slices.Contains(settings.LendCaches, l.Tool) {
			lent = append(lent, l.Tool)
		}
	}
	var notes []string
	if len(settings.VerifyRegistries) > 0 {
		notes = append(notes, "setups may reach "+strings.Join(settings.VerifyRegistries, ", "))
	}
	if len(lent) > 0 {
		notes = append(notes, "lent to verify commands: the module caches of "+strings.Join(lent, ", "))
	}
	if len(notes) == 0 {
		notes = append(notes, "verify commands have only the packages that the repository itself holds")
	}
	c.Note = strings.Join(notes, "; ")
	var needs, lend []string
	for _, s := range d.setups(ctx) {
		if len(settings.VerifyRegistries) > 0 || slices.Contains(lent, s.Lend) {
			continue
		}
		if needs = append(needs, s.From); slices.Contains(have, s.Lend) {
			lend = append(lend, s.Lend)
		}
	}
	if len(needs) == 0 {
		return c
	}
	c.State, c.Note = Missing, c.Note+"; this one needs those that "+strings.Join(needs, ", ")+map[bool]string{true: " names", false: " name"}[len(needs) == 1]
	path, _ := config.OperatorPath(d.Operator.Get)
	c.Next = "set verify_registries in " + path + " and verify_setup in .reviewerc"
	if len(lend) > 0 {
		c.Next = "put `lend_caches: [" + strings.Join(lend, ", ") + "]` in " + path + ", or " + c.Next
	}
	return c
}

// setups are the setup commands that the lock files of the checkout here suggest.
func (d *Doctor) setups(ctx context.Context) []fixspace.Setup {
	here, err := app.RulesIn(ctx, d.Dir)
	if err != nil || here.Top == "" {
		return nil
	}
	root, err := os.OpenRoot(here.Top)
	if err != nil {
		return nil
	}
	defer root.Close()
	found, err := fixspace.DetectSetup(root.ReadFile)
	if err != nil {
		return nil
	}
	return found
}
