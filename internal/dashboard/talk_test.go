package dashboard

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/review"
)

// The page of a pull request shows what was said on it: the threads of findings and where they stand, and what people said elsewhere, as text.
func TestAPullRequestShowsItsConversation(t *testing.T) {
	st := newState(t)
	f := made(review.P1, "Total divides by zero "+hostile, "security")
	older, r := st.begin(t, at("acme", "shop", 7)), st.begin(t, at("acme", "shop", 7))
	st.end(t, older, review.ChangesRequested, "1 P1 must be fixed", f)
	st.talked(t, older, f, "said to an older review")
	st.end(t, r, review.ChangesRequested, "1 P1 must be fixed", f)
	st.talked(t, r, f, hostile)
	st.begin(t, at("acme", "shop", 7)) // which has not read anything yet
	s := st.serve(t, Options{})
	s.enter(t)
	body := s.shows(t, "/pulls/github.com/acme/shop/7", `<a href="#thread-1001">thread: disputed</a>`, `id="thread-1001"`, "the caller that is named passes a cart that may be empty",
		"The cart is never empty here: &lt;script&gt;", "the error is returned now", "resolved on GitHub", "by hubot", "All 214 tests pass.", `<span class="pill">bot</span>`, "requested changes", "commented on pay/total.go")
	for _, never := range []string{"<script>alert", "<img src=x", "of ours, which stands above", "said to an older review"} {
		if strings.Contains(body, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if strings.Index(body, "Ready for a look.") > strings.Index(body, "Please test the empty cart.") {
		t.Error("what was said is not in its order")
	}
}

// A long conversation is cut to its newest part, which says how much is left out.
func TestALongConversationIsCut(t *testing.T) {
	var said app.Talk
	for i := range mostWords + 7 {
		said.Discussion.Comments = append(said.Discussion.Comments, review.Comment{Body: strings.Repeat("ä", longestWord), CreatedAt: time.Unix(int64(1000-i), 0)})
	}
	talk := talkFrom(said, time.Now())
	if len(talk.Words) != mostWords || talk.Left != 7 || !talk.Words[mostWords-1].At.Equal(time.Unix(1000, 0)) {
		t.Errorf("%d words, %d are left out", len(talk.Words), talk.Left)
	}
	if b := talk.Words[0].Body; !utf8.ValidString(b) || len(b) > longestWord+10 || !strings.HasSuffix(b, " …") {
		t.Errorf("a word of %d bytes", len(b))
	}
}
