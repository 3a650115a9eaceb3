package modelagent

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// A model is shown names of files as a person sees them; its findings name the files themselves (threats.md T40).
func TestVisibleNames(t *testing.T) {
	const odd = "docs/a\U000e0041\u202eb.md"
	task := review.Task{
		Brief:      review.Brief{Files: []review.BriefFile{{Path: "plain.go"}, {Path: odd, OldPath: odd + "x"}}, Related: []review.RelatedFile{{Path: odd}}},
		Discussion: &review.Discussion{Threads: []review.Thread{{File: odd}}},
	}
	shown, back := visibleNames(task)
	if got := shown.Brief.Files[1].Path; got != "docs/a⟨U+E0041⟩⟨U+202E⟩b.md" || shown.Brief.Related[0].Path != got || shown.Discussion.Threads[0].File != got {
		t.Errorf("shown as %q and %q", got, shown.Discussion.Threads[0].File)
	}
	if task.Brief.Files[1].Path != odd || task.Brief.Related[0].Path != odd || task.Discussion.Threads[0].File != odd || shown.Brief.Files[0].Path != "plain.go" {
		t.Error("the task itself was changed, or a plain name")
	}
	found := []review.Finding{{File: shown.Brief.Files[1].Path}, {File: "plain.go"}}
	if own(found, back); found[0].File != odd || found[1].File != "plain.go" {
		t.Errorf("findings are about %q and %q", found[0].File, found[1].File)
	}
}
