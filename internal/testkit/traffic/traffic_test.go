package traffic

import "testing"

// The sequences are whole and lead to the state that the source names.
func TestAll(t *testing.T) {
	t.Parallel()
	all := All()
	if len(all) != 949 {
		t.Fatalf("%d pull requests", len(all))
	}
	kinds, drafts := map[Kind]int{}, 0
	for _, p := range all {
		closed := false
		for _, e := range p.Events {
			kinds[e.Kind]++
			switch e.Kind {
			case Close, Reopen:
				if closed == (e.Kind == Close) {
					t.Errorf("%s: %s when it was that already", p.ID, e.Kind)
				}
				closed = e.Kind == Close
			case Push:
				if len(e.Commit) != 40 {
					t.Errorf("%s: a push to %q", p.ID, e.Commit)
				}
			case Review:
				if e.State != approved && e.State != changes && e.State != commented {
					t.Errorf("%s: a review is %q", p.ID, e.State)
				}
			}
		}
		if closed != p.Closed || len(p.Head) != 40 || p.Author == "" {
			t.Errorf("%s: closed %v, recorded %v; head %q by %q", p.ID, closed, p.Closed, p.Head, p.Author)
		}
		if p.Draft {
			drafts++
		}
	}
	if kinds[Comment] != 4770 || kinds[Review] != 5638 || kinds[Dismiss] != 38 || drafts < 300 {
		t.Errorf("%v, %d drafts", kinds, drafts)
	}
}
