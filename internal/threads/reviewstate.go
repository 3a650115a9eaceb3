package threads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// decisive are the review states that say something about approval. COMMENTED and PENDING leave the earlier word
// standing, as GitHub's own merge box does.
var decisive = []string{"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}

const changesRequested = "CHANGES_REQUESTED"

// ghost is what GitHub calls the owner of a deleted account.
const ghost = "ghost"

func login(p review.Person) string { return cmp.Or(p.Login, ghost) }

// person tells people apart: by number, because logins can be renamed, else by login in any case.
func person(p review.Person) string {
	if p.ID != 0 {
		return fmt.Sprint(p.ID)
	}
	return strings.ToLower(login(p))
}

// Standing returns the newest decisive review of each person, ordered by login. At the same instant a request for
// changes wins: when in doubt, ask a person.
func Standing(reviews []review.Review) []review.Review {
	newest := map[string]review.Review{}
	for _, r := range reviews {
		if !slices.Contains(decisive, r.State) {
			continue
		}
		old, seen := newest[person(r.Author)]
		if !seen || later(r, old) {
			newest[person(r.Author)] = r
		}
	}
	all := make([]review.Review, 0, len(newest))
	for _, r := range newest {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b review.Review) int {
		return cmp.Or(
			cmp.Compare(strings.ToLower(login(a.Author)), strings.ToLower(login(b.Author))),
			cmp.Compare(a.Author.ID, b.Author.ID),
		)
	})
	return all
}

func later(a, b review.Review) bool {
	if c := a.SubmittedAt.Compare(b.SubmittedAt); c != 0 {
		return c > 0
	}
	if (a.State == changesRequested) != (b.State == changesRequested) {
		return a.State == changesRequested
	}
	return a.ID > b.ID
}

func stateOf(last []review.Review) review.ReviewState {
	s := review.ReviewState{ChangesRequestedBy: []review.ChangesRequestedBy{}}
	for _, r := range last {
		if r.State != changesRequested {
			continue
		}
		s.HasChangesRequested = true
		s.ChangesRequestedBy = append(s.ChangesRequestedBy, review.ChangesRequestedBy{
			Login: login(r.Author), Association: strings.ToUpper(r.Author.Association),
		})
	}
	return s
}

func statsOf(threads []review.Thread) review.ThreadStats {
	s := review.ThreadStats{Total: len(threads)}
	for _, t := range threads {
		if t.Resolved {
			s.Resolved++
		} else {
			s.Unresolved++
		}
	}
	return s
}
