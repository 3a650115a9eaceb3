package app

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// SettingsOf resolves what holds for pull requests of a repository now: the layers of an order, .reviewerc at the head of the default branch,
// and a row of policy, or the one that is stored when row is nil. from says which file was read.
func (s *Service) SettingsOf(ctx context.Context, o Order, repo review.Repo, row *policy.Row) (settings config.Settings, from string, err error) {
	r := &run{Service: s}
	defer r.cleanup.run()
	if err := r.meet(ctx, repo); err != nil {
		return settings, "", err
	}
	o.Target = review.Target{Repo: repo, Job: "settings"} // of a repository, and not a local change
	base, head, err := r.defaultHead(ctx, &o.Target)
	if err != nil {
		return settings, "", err
	}
	rules, err := r.jobRules(ctx, repo, base, head)
	if err != nil {
		return settings, "", err
	}
	if row != nil {
		rules.Policy = row
	}
	settings, err = o.Settings(rules)
	return settings, rules.From, err
}

// Previewed is a pull request under other settings than those it was reviewed by.
type Previewed struct {
	Run store.Run
	// Does says what would run.
	Does string
	// Was is the status that was set; nil when none was. Would is the one that would be: nil where none is set, and where Unknown says why nobody
	// can tell.
	Was, Would *review.Gate
	Unknown    string
}

// mostPreviewed is how many pull requests a preview is about, out of mostLooked runs.
const (
	mostPreviewed = 10
	mostLooked    = 100
)

// Preview says what settings would have made of the newest reviews of the last ten pull requests of a repository. It reads what is stored; nobody
// is asked.
func (s *Service) Preview(ctx context.Context, key review.RepoKey, settings config.Settings) ([]Previewed, error) {
	runs, err := s.store.ListRuns(ctx, store.Filter{Keys: []review.RepoKey{key}, State: store.Finished, Limit: mostLooked})
	if err != nil {
		return nil, err
	}
	var out []Previewed
	seen := map[int]bool{}
	for _, r := range runs {
		if len(out) == mostPreviewed {
			break
		}
		if r.Target.PR == 0 || seen[r.Target.PR] || r.Outcome == review.Failed || r.Outcome == review.Superseded {
			continue
		}
		whole, err := s.store.Run(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if whole.Result == nil || whole.Result.Command != "" || whole.Result.Again != "" {
			continue
		}
		seen[r.Target.PR] = true
		p := Previewed{Was: whole.Result.Gate, Run: r}
		var in orchestrator.Inputs
		data, err := s.folder.Load(r.ID, fmt.Sprintf("round-%d/inputs.json", whole.Result.Round))
		if err != nil || json.Unmarshal(data, &in) != nil {
			p.Unknown = "the files of its newest run are not here"
		} else {
			p.would(settings, in, *whole.Result)
		}
		out = append(out, p)
	}
	return out, nil
}

// would fills in what would run, and which status would be set.
func (p *Previewed) would(s config.Settings, in orchestrator.Inputs, r review.RunResult) {
	change, facts := in.Known()
	tier, triggers := s.Quick.Tier, s.Quick.Triggers
	if s.Scout.Use == "" || s.Scout.Use == config.UseNone {
		tier = escalate.Full
	}
	scan := r.Scan
	reviewed := scan == nil || scan.Escalated != ""
	why := escalate.Before(tier, triggers, change)
	switch {
	case why != "":
		p.Does = "a full review: " + why
	case scan == nil:
		p.Does, p.Unknown = "a quick scan", "no quick scan was made of this commit"
		if tier == escalate.Auto {
			p.Does += ", and a full review where it says so"
		}
		return
	default:
		seen := escalate.Scan{Whole: scan.Complexity != "" && (r.Outcome == review.LGTM || r.Outcome == review.Flagged || scan.Escalated != ""), Complexity: scan.Complexity, Verdict: scan.Verdict}
		why = escalate.After(tier, triggers, seen)
		if p.Does = "a quick scan"; why != "" {
			p.Does += ", and a full review: " + why
		}
	}
	full := why != ""
	switch plan := gatePlan(s); {
	case plan == nil:
	case full && !reviewed:
		p.Unknown = "no full review was made of this commit"
	case !full && reviewed:
		p.Unknown = "a full review took the place of the scan"
	default:
		if scan != nil && full == (scan.Escalated != "") {
			facts.Scout = scan.Complexity
		}
		g := gate.Decide(*plan, facts, gate.End(r))
		p.Would = &g
	}
}
