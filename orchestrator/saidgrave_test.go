package orchestrator

import (
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
)

// Whose closing settles what people say as grave in a thread of ours: theirs alone, or that of somebody else who may write, but for the author, prloop's account where no
// answer of prloop's leaves the thread to people, and apps (threats.md T383, T517). In an app's pull request it is theirs alone (threats.md T519).
func TestClosedOver(t *testing.T) {
	for _, row := range []struct {
		by        string
		said      []string
		status    conversation.Status
		answered  int
		over, app bool
	}{
		{"boss", []string{"boss"}, conversation.Pending, 0, false, false},
		{"other", []string{"boss"}, conversation.Pending, 0, false, true},
		{"other", []string{"boss", "other"}, conversation.Pending, 0, false, true},
		{"member", []string{"boss", "member"}, conversation.Pending, 0, true, true},
		{"ada", []string{"boss"}, conversation.Pending, 0, true, true},
		{"prloop", []string{"boss"}, conversation.Pending, 0, true, true},
		{"prloop", []string{"boss"}, conversation.Resolved, 0, true, true},
		{"prloop", []string{"boss"}, conversation.HandedOver, 0, true, true},
		{"prloop", []string{"boss"}, conversation.HandedOver, 1, false, true},
		{"", []string{"boss"}, conversation.Pending, 0, true, true},
		{"boss", nil, conversation.Pending, 0, false, false},
	} {
		th := conversation.Thread{Status: row.status, Closed: true, ClosedBy: row.by, Answered: row.answered}
		for _, who := range row.said {
			th.DeveloperReplies = append(th.DeveloperReplies, conversation.Reply{Author: who, Body: "P1: it leaks.", Association: "MEMBER"})
		}
		people := conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"ada": "write", "boss": "write", "other": "write", "member": "read", "prloop": "write"}}
		for app, want := range map[bool]bool{false: row.over, true: row.app} {
			if people.ByApp = app; app && row.by == "ada" {
				people.Author = "renovate[bot]"
			}
			if got := objections.ClosedOver(people, th); got != want {
				t.Errorf("closed by %q over %q, an app's %t: %t, want %t", row.by, row.said, app, got, want)
			}
			people.Author = "ada"
		}
	}
}
