package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// However many runs that come to nothing began in between, the newer one that has heard reviewers takes the place of an interrupted one (threats.md T349).
func TestNoNumberOfRunsHidesTheNewer(t *testing.T) {
	t.Parallel()
	p := process(t, t.TempDir(), "resumed")
	target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: 7}
	begin := func(id string, dry bool, agents ...review.AgentReceipt) stored {
		t.Helper()
		st := stored{Request: orchestrator.Request{Run: id, ReviewID: id, Target: target, Head: "c0ffee", DryRun: dry}, Engine: engine.Version, RepoID: 5}
		if err := p.record(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		result := review.RunResult{Run: id, Target: target, Outcome: review.ChangesRequested, Receipt: review.Receipt{HeadSHA: "c0ffee", Agents: agents}}
		data, err := json.Marshal(st)
		if err == nil {
			err = p.folder.Save(t.Context(), id, requestName, data)
		}
		if err == nil && id != "interrupted" {
			err = p.store.FinishRun(t.Context(), result)
		}
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	old := begin("interrupted", false)
	begin("refuses", false, review.AgentReceipt{Name: "one", State: review.AgentComplete})
	for i := range 2*mostEarlier + 1 {
		begin(fmt.Sprintf("dry-%02d", i), true, review.AgentReceipt{Name: "one", State: review.AgentComplete})
	}
	if why, err := p.newerThan(t.Context(), old); err != nil || !strings.HasPrefix(why, "run refuses has reviewed") {
		t.Errorf("%q, %v", why, err)
	}
	var told []string
	p.repoID, p.settings = 5, config.Settings{}
	for s, err := range p.earlier(t.Context(), orchestrator.Request{Run: "today", Target: target, Head: "c0ffee"}) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, s.Result.Run)
	}
	if len(told) != 2*mostEarlier+3 || told[len(told)-1] != "interrupted" || told[len(told)-2] != "refuses" {
		t.Errorf("%d runs are told of: %q", len(told), told)
	}
}
