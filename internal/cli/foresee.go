package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// foresee refuses what the call, the environment and the operator's own file prove wrong by themselves, before GitHub is
// asked and before there is a run. A name in --reviewers may stand in the repository's file, which is not known yet.
func (p *Proc) foresee(o runOptions) error {
	in, err := p.layers(o, rules{}, o.base != "")
	if err != nil {
		return err
	}
	settings, err := config.Foresee(in)
	if err != nil {
		return err
	}
	if _, err := p.confinement(); err != nil {
		return err
	}
	if _, err := p.verifyEnv(); err != nil {
		return err
	}
	agents := plan(settings, review.Target{Base: o.base}, p.Dir)
	if fixer, some := planFixer(settings, p.Dir); some && !o.dryRun && o.base == "" && settings.Rounds > 1 {
		agents = append(agents, fixer)
	}
	return startable(agents...)
}

// startable looks for the programs of agents. One that is not there would be missed only when all others had answered.
func startable(agents ...orchestrator.AgentPlan) error {
	for _, a := range agents {
		if err := findProgram(a); err != nil {
			return err
		}
	}
	return nil
}

// findProgram looks for the program of one agent; builtin and static ones are this program.
func findProgram(a orchestrator.AgentPlan) error {
	name, from := a.Path, ""
	switch a.Kind {
	case kindCommand:
	case kindACP:
		if preset, ok := acp.Find(a.Settings["preset"]); ok && name == "" {
			name, from = preset.Command, preset.Package
		}
	default:
		return nil
	}
	_, err := proc.LookPath(name)
	if err == nil {
		return nil
	}
	return usage(obtain(a, name, from, err), "%s %s cannot be started: %w", noun(a.Role), a.Name, err)
}

// obtain is the next step for a program that cannot be started; from is the npm package it comes with, if it does.
func obtain(a orchestrator.AgentPlan, name, from string, err error) string {
	without := "choose others with --reviewers"
	switch a.Role {
	case review.RoleFixer:
		without = "use --no-fix"
	case review.RoleCommentsAnalyzer:
		without = "leave comments_analyzer to its default"
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("chmod +x %s, or %s", name, without)
	case from != "":
		return fmt.Sprintf("npm install -g %s, or %s", from, without)
	case !strings.ContainsRune(name, filepath.Separator):
		return fmt.Sprintf("install it, write ./%s if it stands in this folder, or %s", name, without)
	}
	return "correct the path, or " + without
}

// noun is what a role is called in a sentence.
func noun(r review.Role) string {
	switch r {
	case review.RoleFixer:
		return "fixer"
	case review.RoleCommentsAnalyzer:
		return "agent"
	}
	return "reviewer"
}
