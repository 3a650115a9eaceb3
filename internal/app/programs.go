package app

import (
	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

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
	case review.KindCommand:
	case review.KindACP:
		if preset, ok := acp.Find(a.Preset); ok && name == "" {
			name, from = preset.Command, preset.Package
		}
	default:
		return nil
	}
	if _, err := proc.LookPath(name); err != nil {
		return &ProgramError{Agent: a, Program: name, Package: from, Err: err}
	}
	return nil
}
