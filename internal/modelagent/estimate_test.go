package modelagent

import (
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// What is estimated is what is sent: the whole request of the first call, within a tenth, and as many calls as an ordinary review takes.
func TestEstimateIsWhatIsSent(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: ptr(respond())}, review.Limits{})
	asked := task()
	got, err := Estimate(asked, Options{Fence: r.options.Fence})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Review(t.Context(), asked, r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	all := r.model.Requests()
	if sent := len(all[0].Body) / bytesPerToken; len(all) != got.Calls || got.Input > sent*11/10 || got.Input < sent*8/10 {
		t.Errorf("estimated %+v; sent were %d calls, the first of %d tokens", got, len(all), sent)
	}
	asked.Limits = review.Limits{LLMCalls: 10, ToolCalls: 5}
	if passes, err := Estimate(asked, Options{}); err != nil || passes.Calls != passCalls || passes.Most != 10 || passes.Input < 4*got.Input {
		t.Errorf("in passes: %+v %v", passes, err)
	}
}

// A comments analyzer without open conversations asks nobody; with one, once.
func TestEstimateOfTheCommentsAnalyzer(t *testing.T) {
	asked := review.Task{Version: 1, Role: review.RoleCommentsAnalyzer, Agent: "c", PRNumber: 7, Discussion: &review.Discussion{}}
	if got, err := Estimate(asked, Options{}); err != nil || got != (Estimated{}) {
		t.Errorf("nothing is pending: %+v %v", got, err)
	}
	asked.Discussion.Threads = []review.Thread{{File: "a.go", Comments: []review.Comment{{Body: "Please close the file.", Author: review.Person{Login: "mona"}}}}}
	if got, err := Estimate(asked, Options{}); err != nil || got.Calls != 1 || got.Input < 500 {
		t.Errorf("a thread is open: %+v %v", got, err)
	}
}
