package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/nearest"
)

// Schedule is scheduled maintenance (spec.md C4).
type Schedule struct {
	// Enabled is true unless a file says otherwise.
	Enabled bool
	// Runs maps the workflow's job id to command ids.
	Runs map[string][]string
	// Limits are MaxFiles and MaxDiffLines of the change a job makes; 0 is no bound but the push policy's.
	Limits CommandLimits
	// Conditions say when a job is skipped; Jobs may say it of one job.
	Conditions Conditions
	Jobs       map[string]JobSettings
	// WriteScope are the paths a job may change.
	WriteScope Globs
}

// Conditions skip a scheduled job unless commits of its window touched its paths.
type Conditions struct {
	Paths Globs `json:"paths,omitzero"`
	// Window is how far back commits are looked at; 0 in a job is that of all jobs.
	Window Duration `json:"window,omitempty"`
}

// JobSettings are what holds for one job alone.
type JobSettings struct {
	Conditions Conditions `json:"conditions,omitzero"`
}

// Job is one scheduled job with what holds for it.
type Job struct {
	ID string
	// Commands are ids, in the order they run in.
	Commands []string
	Limits   CommandLimits
	// Paths skip the job unless a commit of Window touched one of them; without a pattern it is never skipped.
	Paths      Globs
	Window     time.Duration
	WriteScope Globs
}

// UnknownJobError is a job that schedule.runs does not have.
type UnknownJobError struct {
	ID string
	// File is the file that has the others, Line where schedule.runs begins in it: 0 when it has none.
	File string
	Line int
	// Known are the jobs there are, sorted; Suggestion is the one that was probably meant, or empty.
	Known      []string
	Suggestion string
}

// Error names the job and those that exist.
func (e *UnknownJobError) Error() string {
	at := e.File
	if e.Line > 0 {
		at += fmt.Sprintf(":%d", e.Line)
	}
	s := fmt.Sprintf("%s: schedule.runs has no job %q", at, clip(e.ID))
	if e.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return s + " (known: " + knownNames(e.Known) + ")"
}

// Job gives a job of schedule.runs. The error is *UnknownJobError. Whether schedules are enabled at all says Schedule.Enabled.
func (s Settings) Job(id string) (Job, error) {
	commands, ok := s.Schedule.Runs[id]
	if !ok {
		known := slices.Sorted(maps.Keys(s.Schedule.Runs))
		o := s.resolved.origins["schedule.runs"]
		return Job{}, &UnknownJobError{ID: id, File: cmp.Or(o.where, RepositoryFile), Line: o.line, Known: known, Suggestion: nearest.Name(id, known)}
	}
	own, all := s.Schedule.Jobs[id].Conditions, s.Schedule.Conditions
	j := Job{ID: id, Commands: commands, Limits: s.Schedule.Limits, Paths: own.Paths, WriteScope: s.Schedule.WriteScope,
		Window: time.Duration(cmp.Or(own.Window, all.Window))}
	if own.Paths.Empty() {
		j.Paths = all.Paths
	}
	return j, nil
}

const windowDoc = "How far back commits are looked at."

func scheduleKeys() []key {
	row := func(name, doc string, s shape, field func(*Schedule) any) key {
		return key{path: "schedule." + name, shape: s, repositoryOnly: true, doc: doc, field: func(s *Settings) any { return field(&s.Schedule) }}
	}
	named := func(values shape) shape {
		return shape{"type": "object", "maxProperties": 50, "propertyNames": match(jobID), "additionalProperties": values}
	}
	conditions := object(nil, "paths", pathFilter(), "window", described(duration(), windowDoc))
	return []key{
		row("enabled", "Whether scheduled jobs do anything.", boolean(), func(s *Schedule) any { return &s.Enabled }),
		row("runs", "The commands of each scheduled job, by the id of the job in its workflow. The workflow also says when the job runs (`on.schedule`).", named(ids()), func(s *Schedule) any { return &s.Runs }),
		row("limits.maxFiles", "Files the pull request of a job may change. Without it: what the push policy allows.", integer(1, 100_000), func(s *Schedule) any { return &s.Limits.MaxFiles }),
		row("limits.maxDiffLines", "Lines it may add and delete together. Without it: what the push policy allows.", integer(1, 1_000_000), func(s *Schedule) any { return &s.Limits.MaxDiffLines }),
		row("conditions.paths", "Globs of paths. A job is skipped unless commits of its window touched one. Without it: no job is skipped.", pathFilter(), func(s *Schedule) any { return &s.Conditions.Paths }),
		row("conditions.window", windowDoc, duration(), func(s *Schedule) any { return &s.Conditions.Window }),
		row("jobs", "What holds for single jobs, by their ids: their `conditions`, which stand before those above.",
			named(object(nil, "conditions", conditions)), func(s *Schedule) any { return &s.Jobs }),
		row("writeScope", "Globs of the paths that jobs may change. Without it: all but those that are always refused, such as `.github/workflows/**` and `.reviewerc`.",
			pathFilter(), func(s *Schedule) any { return &s.WriteScope }),
	}
}
