package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// playbook is what the actors of a test do: a reviewer who sees certain lines, and a fixer who makes certain edits. They
// are programs like any other agent of the kind command.
type playbook struct {
	Sees  []sight
	Edits []edit
	// Rejects is what stands in the titles of findings the fixer rejects.
	Rejects string
	// Wait is a file the fixer makes before it works; it goes on when the file is gone.
	Wait string
	// Tape is a file that keeps the request a reviewer was given, as it came.
	Tape string
}

// sight is one finding, seen wherever a line with the text is added in one of the rounds.
type sight struct {
	Line        string
	Rounds      []int
	ID          string
	Priority    review.Priority
	Title, Text string
	// Quote makes the line the evidence of the finding; Evidence is evidence of another kind.
	Quote    bool
	Evidence string
}

// edit is one replacement in the fixer's clone, for the finding with an id; every finding is claimed to be fixed.
type edit struct {
	Rounds         []int
	File, Old, New string
}

func in(rounds []int, n int) bool { return len(rounds) == 0 || slices.Contains(rounds, n) }

// act reads playbook and task, and writes the answer.
func act(answer func(playbook, review.Task) (any, error)) {
	err := func() error {
		data, err := os.ReadFile(os.Args[1])
		if err != nil {
			return err
		}
		var p playbook
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		var task review.Task
		request, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		if p.Tape != "" {
			if err := os.WriteFile(p.Tape, request, 0o600); err != nil {
				return err
			}
		}
		if err := json.Unmarshal(request, &task); err != nil {
			return err
		}
		got, err := answer(p, task)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(got)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func observer() { act(observe) }
func mender()   { act(mendAll) }

func observe(p playbook, task review.Task) (any, error) {
	r := review.ReviewerResult{Agent: task.Agent, PRNumber: task.PRNumber, Conclusion: review.Approve, Findings: []review.Finding{}, FullReport: "Read it."}
	for _, file := range task.Brief.Files {
		d, err := diff.Parse(file.Diff)
		if err != nil {
			return nil, fmt.Errorf("diff of %s: %w", file.Path, err)
		}
		for i := range d.Files {
			for line := range d.Files[i].Added() {
				for _, s := range p.Sees {
					if !in(s.Rounds, task.Round) || !strings.Contains(line.Text, s.Line) {
						continue
					}
					at, quote := line.New, s.Evidence
					if s.Quote {
						quote = line.Text
					}
					r.Findings = append(r.Findings, review.Finding{
						ID: s.ID, Priority: s.Priority, Category: review.CategoryBug, File: file.Path, Line: &at, Title: s.Title, Description: s.Text,
						Suggestion: "Fix it.", Evidence: quote, Source: review.Source{Type: "agent", Name: task.Agent, Timestamp: time.Unix(1_800_000_000, 0).UTC()},
					})
				}
			}
		}
	}
	r.Issues = review.Count(r.Findings)
	if r.Issues.Total() > 0 {
		r.Conclusion = review.RequestChanges
	}
	return r, nil
}

func mendAll(p playbook, task review.Task) (any, error) {
	if p.Wait != "" {
		if err := os.WriteFile(p.Wait, nil, 0o600); err != nil {
			return nil, err
		}
		for {
			if _, err := os.Stat(p.Wait); os.IsNotExist(err) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for _, e := range p.Edits {
		if !in(e.Rounds, task.Round) {
			continue
		}
		data, err := os.ReadFile(e.File)
		if err != nil {
			return nil, err
		}
		if n := strings.Count(string(data), e.Old); n != 1 {
			return nil, fmt.Errorf("%q stands %d times in %s", e.Old, n, e.File)
		}
		if err := os.WriteFile(e.File, []byte(strings.Replace(string(data), e.Old, e.New, 1)), 0o600); err != nil {
			return nil, err
		}
	}
	r := review.FixResult{Agent: task.Agent, PRNumber: task.PRNumber, FixedIssues: []review.FixedIssue{}, RejectedIssues: []review.RejectedIssue{}, Commits: []review.FixCommit{}}
	for _, f := range task.Fix.IssuesToFix {
		if p.Rejects != "" && strings.Contains(f.Title, p.Rejects) {
			r.RejectedIssues = append(r.RejectedIssues, review.RejectedIssue{FindingID: f.ID, Reason: "It is meant so."})
			continue
		}
		r.FixedIssues = append(r.FixedIssues, review.FixedIssue{FindingID: f.ID, Description: "fixed " + f.Title})
	}
	r.Summary.Fixed, r.Summary.Rejected = len(r.FixedIssues), len(r.RejectedIssues)
	return r, nil
}
