package pushpolicy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

func TestUnread(t *testing.T) {
	got := Unread([]review.LeftOut{
		{Path: "vendor/x/a.go", Reason: "vendored", Excused: true}, {Path: "vendor/opened/a.go", Reason: "vendored", Excused: true},
		{Path: "src/huge.go", Reason: "too large"}, {Path: `"vendor/caf\351.go"`, Reason: "vendored", Excused: true},
	}, []string{"vendor/opened/**"})
	want := []review.Refusal{
		{Rule: RuleUnread, Path: "vendor/x/a.go", Detail: "no review reads what is written there: vendored"},
		{Rule: RuleUnread, Path: "src/huge.go", Detail: "no review reads what is written there: too large"},
		{Rule: RuleUnread, Path: `"vendor/caf\351.go"`, Detail: "no review reads what is written there: vendored"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
