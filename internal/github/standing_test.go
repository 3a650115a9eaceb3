package github

import "testing"

// GitHub tells reviews apart by numbers that are too large for databaseId, which may be null for all of them.
func TestReviewsWithoutNumbers(t *testing.T) {
	of := func(id, login, state string) decision {
		return decision{ID: id, State: state, Author: &actor{Typename: "User", Login: login}, AuthorAssociation: "MEMBER"}
	}
	mona, lisa := of("PRR_1", "mona", "CHANGES_REQUESTED"), of("PRR_2", "lisa", "APPROVED")
	one, _ := standing([]decision{lisa}, []decision{lisa})
	both, refused := standing([]decision{mona, lisa}, []decision{mona, lisa})
	if one == both || !refused {
		t.Errorf("%q stands where one approves, %q where another requests changes: %v", one, both, refused)
	}
}
