package conversation

import (
	"slices"
	"strings"
	"unicode"
)

// thankful are the words of which thanks consist. No objection can be made of them: none denies, doubts or asks, and what affirms something needs thanks beside it.
var thankful = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq("thank thanks thankyou thx ty cheers you u so much very a lot many for the your great nice good awesome perfect excellent " +
		"cool brilliant wonderful amazing work job catch fixed makes sense ok okay yes yep lgtm looks to me it's is resolved confirmed prloop everyone merci danke gracias") {
		words[w] = true
	}
	return words
}()

// affirming are words that may affirm what somebody asked or said against a cure, filling the words that say nothing beside them: of these alone, with one that
// affirms, no thanks consist.
var (
	affirming = []string{"yes", "yep"}
	filling   = strings.Fields("u you so much very a lot many for the your to me it's is everyone prloop")
)

// agreeing takes words out that only thank in the company of these: alone they ask for something.
var agreeing = strings.NewReplacer("for the fix", "for the work", "lgtm now", "lgtm", "’", "'")

// OnlyThanks reports whether a remark says nothing but thanks or agreement: words of a fixed list, emoji and marks. A question is more.
func OnlyThanks(remark string) bool {
	if strings.Contains(remark, "?") {
		return false
	}
	words := strings.FieldsFunc(agreeing.Replace(strings.ToLower(remark)), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;!:)(-*_@", r) || cheer(r)
	})
	for _, w := range words {
		if !thankful[w] {
			return false
		}
	}
	said := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(filling, w) })
	if len(said) > 0 && !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(affirming, w) }) && !strings.ContainsFunc(remark, cheer) {
		return false
	}
	return len(words) > 0 || strings.ContainsFunc(remark, cheer)
}

// cheer reports whether a rune is part of an emoji that approves.
func cheer(r rune) bool {
	return strings.ContainsRune("👍🎉🙏👏🚀💯👌😀😊🙂✅🙌❤♥\ufe0f", r) || r >= 0x1f3fb && r <= 0x1f3ff
}
