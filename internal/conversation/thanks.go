package conversation

import (
	"strings"
	"unicode"
)

// thankful are the words of which thanks consist. No objection can be made of them: none denies, doubts or asks.
var thankful = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq("thank thanks thankyou thx ty cheers you u so much very a lot many for the your great nice good awesome perfect excellent " +
		"cool brilliant wonderful amazing work job catch fixed makes sense ok okay yes yep lgtm looks to me it's is resolved confirmed prloop everyone merci danke gracias") {
		words[w] = true
	}
	return words
}()

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
	return len(words) > 0 || strings.ContainsFunc(remark, cheer)
}

// cheer reports whether a rune is part of an emoji that approves.
func cheer(r rune) bool {
	return strings.ContainsRune("👍🎉🙏👏🚀💯👌😀😊🙂✅🙌❤♥\ufe0f", r) || r >= 0x1f3fb && r <= 0x1f3ff
}
