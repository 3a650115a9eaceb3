package app

import (
	"fmt"
	"testing"

	"github.com/prloop/prloop/internal/diff"
)

// What git prints of a change and prloop cannot read is the same the next time: the review ends by name (threats.md T579).
func TestUnreadableIsPermanent(t *testing.T) {
	r := &run{}
	for _, text := range []string{
		"diff --git \"a/x b/x\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n",
	} {
		_, err := diff.Parse(text)
		if err == nil || !r.permanent(t.Context())(fmt.Errorf("diff: %w", err)) || r.permanently.Load() == nil {
			t.Errorf("%q: %v is one that a later try gets past", text, err)
		}
	}
	if err := (&diff.Diff{}).Check(1); !r.permanent(t.Context())(err) {
		t.Errorf("%v is one that a later try gets past", err)
	}
}
