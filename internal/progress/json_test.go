package progress

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// What --json prints says the same and is obeyed by nobody: no terminal, and no runner that finds "##[" anywhere in a line (threats.md T41).
func TestJSONIsInert(t *testing.T) {
	want := map[string]string{"title": "a \u009b31m \u202eb \x7f \U000e0041 ##[set-output name=x]y é ⚠️ 日本 \\##[z] ##vso[task.x]y", "plain": "a [b] # c"}
	var out strings.Builder
	if err := JSON(&out, want); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "##[") || strings.Contains(s, "##vso[") || sanitize.Terminal(s) != s || !strings.Contains(s, "é") || !strings.Contains(s, "日本") {
		t.Errorf("printed is %s", s)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || !maps.Equal(got, want) {
		t.Errorf("read again it is %q, %v", got, err)
	}
}
