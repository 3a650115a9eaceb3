package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/review"
)

// What a model answered stands on standard output even when it is no envelope, and it is an error all the same.
func TestServeHandsOnABrokenAnswer(t *testing.T) {
	request, err := json.Marshal(review.Task{Version: review.TaskVersion, Role: review.RoleReviewer, Agent: "one", BaseSHA: strings.Repeat("1", 40),
		HeadSHA: strings.Repeat("2", 40), Limits: review.DefaultLimits(), Options: review.Options{Threshold: 5}})
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("findings/0: no title")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a broken answer", &modelagent.InvalidError{Raw: []byte(`{"findings":[{}]}`), Err: reason}, `{"findings":[{}]}` + "\n"},
		{"no answer", reason, ""},
	} {
		var out bytes.Buffer
		err := Serve(t.Context(), bytes.NewReader(request), &out, func(context.Context, review.Task, func(review.Event)) (any, error) {
			return nil, c.err
		})
		if !errors.Is(err, reason) || out.String() != c.want {
			t.Errorf("%s: %q %v", c.name, out.String(), err)
		}
	}
}

// Without a way to a model the rules alone read the discussion, and there may be none.
func TestAnalyzeCommentsWithoutModel(t *testing.T) {
	got, err := Agent{}.AnalyzeComments(t.Context(), review.Task{PRNumber: 7}, func(review.Event) {})
	if r, ok := got.(review.CommentsResult); err != nil || !ok || r.PRNumber != 7 || len(r.PendingIssues) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}
