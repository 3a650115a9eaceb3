package conversation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// thankful are the words of which thanks consist. No objection can be made of them: none denies, doubts or asks, and what affirms something needs thanks beside it.
var thankful = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq("thank thanks thankyou thx ty cheers you u so much very a lot many for the your great nice good awesome perfect excellent " +
		"cool brilliant wonderful amazing work job catch point fixed makes sense ok okay yes yep lgtm looks to me it's is resolved confirmed prloop everyone merci danke gracias " +
		"done now works that this it fixes fixing in so quick quickly fast") {
		words[w] = true
	}
	return words
}()

// Of saying words alone no thanks consist: they say nothing. Nor do they of affirming ones, which may affirm what somebody asked or said against a cure, though praise
// stands beside them.
var (
	saying    = strings.Fields("u you so much very a lot many for the your to me it it's is that this now in everyone prloop")
	affirming = strings.Fields("yes yep confirmed")
	praise    = strings.Fields("good great nice catch point")
)

// agreeing takes words out that only thank in the company of these: alone they ask for something.
var agreeing = strings.NewReplacer("for the fix", "for the work", "i have pushed a fix", "done", "i've pushed a fix", "done", "i pushed a fix", "done", "pushed a fix", "done", "’", "'")

// commit is the name of a commit, in which somebody says that something is done.
var commit = lazyregexp.New(`^[0-9a-f]{7,40}$`)

// OnlyThanks reports whether a remark says nothing but thanks or agreement: words of a fixed list, emoji and marks. A question is more.
func OnlyThanks(remark string) bool {
	if strings.Contains(remark, "?") {
		return false
	}
	words := strings.FieldsFunc(agreeing.Replace(strings.ToLower(remark)), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;!:)(-*_@", r) || cheer(r)
	})
	for _, w := range words {
		if !thankful[w] && !commit.MatchString(w) {
			return false
		}
	}
	without := func(words []string, of ...string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(of, w) })
	}
	said := without(words, saying...)
	affirms := slices.ContainsFunc(said, func(w string) bool { return slices.Contains(affirming, w) })
	switch {
	case strings.ContainsFunc(remark, cheer):
		return true
	case affirms:
		return len(without(said, slices.Concat(affirming, praise)...)) > 0
	}
	return len(said) > 0
}

// cheer reports whether a rune is part of an emoji that approves.
func cheer(r rune) bool {
	return strings.ContainsRune("👍🎉🙏👏🚀💯👌😀😊🙂✅🙌❤♥\ufe0f", r) || r >= 0x1f3fb && r <= 0x1f3ff
}
