package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// A judge is asked in the first round about what people said against findings by then, and about nothing else.
func TestQuestionsOfJudges(t *testing.T) {
	in := disputedInputs(foundAt(review.P2, 3, subjects[0]), foundAt(review.P1, 9, subjects[1]))
	l := &Loop{Fence: func(string) string { return "fence" }}
	ask := func(in Inputs) *review.Task {
		t.Helper()
		q := l.questions(in.Request, in.Snapshot)
		if len(q.Judges) != 1 {
			t.Fatalf("%d judges", len(q.Judges))
		}
		return q.Judges[0]
	}
	if task := ask(in); task == nil || task.Agent != "judge" || len(task.Verify.Findings) != 2 || len(task.Verify.Disputes) != 2 {
		t.Errorf("asked %+v", task)
	}
	in.Snapshot.Conversation.Threads[0].DeveloperReplies = nil
	if task := ask(in); task == nil || len(task.Verify.Findings) != 1 {
		t.Errorf("asked %+v", task)
	}
	in.Snapshot.Conversation.Threads[1].DeveloperReplies = nil
	if task := ask(in); task != nil {
		t.Errorf("asked %+v", task)
	}
}
