package answer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prloop/prloop/review"
)

// Text beside an answer that has the field of one may be another answer (threats.md T789).
func TestAnother(t *testing.T) {
	for _, role := range []review.Role{review.RoleReviewer, review.RoleCommentsAnalyzer, review.RoleFixer, review.RoleVerifier, review.RoleCommand, review.RoleScout, review.RoleFinder} {
		for _, form := range []string{"{\"%s\": []}", "the file:\n~~~\n{\"%s\"\n: 1}\n~~~\n", "x{\"a\":1,\"%s\":"} {
			beside := fmt.Appendf(nil, form, Key(role))
			if !errors.Is(Another(beside, role), ErrAnother) || !errors.Is(Another(beside, ""), ErrAnother) {
				t.Errorf("%s: %q is taken for nothing", role, beside)
			}
		}
		if err := Another(fmt.Appendf(nil, "I have no more %s: none. \"%[1]s\" is empty.", Key(role)), role); err != nil {
			t.Errorf("%s: prose: %v", role, err)
		}
	}
	if err := Another([]byte(`{"confidence": 0.8}`), review.RoleReviewer); err != nil {
		t.Error("the field of another role:", err)
	}
}
