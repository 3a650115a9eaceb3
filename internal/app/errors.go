package app

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// ClosedError: the pull request is not open.
type ClosedError struct {
	Target review.Target
	State  string
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("%s is %s", e.Target, strings.ToLower(e.State))
}

// MovedOnError: the pull request has another head than the order is about.
type MovedOnError struct {
	Target    review.Target
	Head, Now string
}

func (e *MovedOnError) Error() string {
	return fmt.Sprintf("%s is at %.7s by now, and this job is about %.7s", e.Target, e.Now, e.Head)
}

// UnheededError: a flag has no effect, because no model is configured.
type UnheededError struct{ Flag string }

func (e *UnheededError) Error() string { return e.Flag + " has no effect: no model is configured" }

// DraftError: the pull request is a draft, and the order does not allow one.
type DraftError struct{ Target review.Target }

func (e *DraftError) Error() string { return fmt.Sprintf("%s is a draft", e.Target) }

// ProgramError: the program of an agent cannot be started.
type ProgramError struct {
	Agent orchestrator.AgentPlan
	// Program is its name or path, Package the npm package it comes with, if it does.
	Program, Package string
	Err              error
}

func (e *ProgramError) Error() string {
	noun := "reviewer"
	switch e.Agent.Role {
	case review.RoleFixer:
		noun = "fixer"
	case review.RoleVerifier:
		noun = "verifier"
	case review.RoleScout:
		noun = "scout"
	case review.RoleFinder:
		noun = "finder"
	case review.RoleCommand:
		noun = "command"
	case review.RoleCommentsAnalyzer:
		noun = "agent"
	}
	return fmt.Sprintf("%s %s cannot be started: %v", noun, e.Agent.Name, e.Err)
}

func (e *ProgramError) Unwrap() error { return e.Err }

// CalibrationError: the configured table of calibration cannot be used.
type CalibrationError struct {
	File string
	Err  error
}

func (e *CalibrationError) Error() string {
	return fmt.Sprintf("read calibration %s: %v", e.File, e.Err)
}

func (e *CalibrationError) Unwrap() error { return e.Err }

// Part names a part of a run's setup that a resumed run must find as it was.
type Part int

// The parts.
const (
	CommonEndpoint Part = iota // the endpoint of all models that no other one names
	NamedEndpoint
	Isolation
	Readable
	VerifyEnv
	Folders
	Seal
)

// ChangedError: a run cannot be resumed because this machine or its configuration is not what the run began with.
type ChangedError struct {
	Run  string
	Part Part
	// Had is what the run began with, Now what there is, where they can be told.
	Had, Now string
}

func (e *ChangedError) Error() string {
	switch e.Part {
	case Isolation:
		return fmt.Sprintf("run %s started with another isolation than this machine provides now: it had %s; now it is %s", e.Run, e.Had, e.Now)
	case Readable:
		return fmt.Sprintf("run %s started with other files for agents to read than are configured now", e.Run)
	case Folders:
		return fmt.Sprintf("run %s started with other folders beside the tree: it had %s; now it is %s", e.Run, e.Had, e.Now)
	case Seal:
		return fmt.Sprintf("what run %s was asked does not come from a machine with this key: it has no seal of one, or was changed since", e.Run)
	case VerifyEnv:
		return fmt.Sprintf("run %s started with other variables for verify commands than are configured now", e.Run)
	}
	return fmt.Sprintf("run %s started with the model endpoint %s, which is not configured any more", e.Run, e.Had)
}
