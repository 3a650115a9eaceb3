package conversation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// The words of which thanks consist. No objection can be made of them: none denies, doubts or asks.
var (
	// settling words say that something is done.
	settling = strings.Fields("fixed resolved addressed approved lgtm sgtm done works")
	telling  = strings.Fields("thank thanks thankyou thx ty cheers work makes sense ok okay verified looks sounds merci beaucoup danke vielen dank gracias 谢谢 fixes quick quickly fast +1")
	praise   = strings.Fields("good great nice better fine awesome perfect excellent cool brilliant wonderful amazing")
	// Affirming words may affirm what somebody asked or said against a cure: beside one of these no thanks consist without a settling word.
	affirming = strings.Fields("yes yep confirmed agreed ack catch point")
	// Of these alone no thanks consist: they say nothing.
	filling = strings.Fields("u you so much very a lot many for the your to me it it's is that that's this all now in everyone prloop tested")
)

// thankful are all of them.
var thankful = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range slices.Concat(settling, telling, praise, affirming, filling) {
		words[w] = true
	}
	return words
}()

// Words that only thank in the company of these, and alone ask for something, or name a priority.
var (
	// settles says that something is done.
	settles = lazyregexp.New(`(?:\b(?:i|i have|i've) )?\bpushed a fix\b|(?:^|[.,!;]\s*)ship it\b|\bverified (?:the|this|your) fix\b|\b(?:the |this |your )?fix (?:is )?verified\b|\bgood to (?:go|merge)\b|` +
		`\blooks (?:all )?(?:correct|right|(?:(?:much|very|all) )?(?:good|great|fine|nice|better|perfect|excellent))\b|\blooking good\b|\b(?:it|this|that) fixes (?:it|this|that)\b|` +
		`\bfixed (?:by|with) [0-9a-f]{7,40}\b|\bfixed (?:by|with|in) (?:#[0-9]+|(?:the )?(?:last|latest) (?:commit|push))\b|(?:^|[.,!;]\s*)(?:approving|merging)(?: (?:this|it))?(?: now)?\s*(?:$|[.,!;])|` +
		`\bthat(?:'s| is) (?:now )?(?:fixed|resolved|done|addressed)\b|\b(?:the |this |your )?fix looks (?:good|great|right|fine)\b|` +
		`\b(?:no longer an (?:issue|problem)|happy to approve|works as expected|that solves it|i can confirm (?:that )?(?:this|it|that) is (?:now )?(?:fixed|resolved))\b|\bp[0-3] (?:is|was|has been) (?:now )?(?:fixed|resolved|gone|done|addressed)\b`)
	// agrees says no more than that somebody is content.
	agrees = lazyregexp.New(`\bfor (?:the|your|this) (?:(?:quick|fast|prompt|good|great|nice) )?(?:fix|change|update|turnaround)(?:es|s)?\b|` +
		`(?:^|[.,!;]\s*)(?:good|great|nice|excellent|perfect|awesome) (?:fix|refactor|cleanup)\b|(?:^|[.,!;]\s*)(?:(?:i'm|i am) )?happy with (?:this|it)\b|` +
		`\b(?:good|great|nice|excellent|perfect|awesome|amazing|wonderful|brilliant|quick|fast) (?:job|work)(?: (?:fixing|addressing))?\b|\b(?:thanks|thank you|thx) for (?:fixing|addressing)\b|` +
		`\b(?:fine|good|ok|okay) (?:by|with) me\b|\+1 from me\b|\b(?:got it|fair enough|well done|no (?:more |further )?objections?|no (?:more|further) comments?)\b`)
	// affirms is an affirming word in other words.
	affirms = lazyregexp.New(`\b(?:it|this|that) is([^\pL\pN]*(?:$|[.,!;]))|\byou(?:'re| are) right\b`)
)

var (
	// named is somebody to whom it is said.
	named = lazyregexp.New(`(^|[\s,(])@[a-z0-9][a-z0-9/-]*(?:\[bot\])?`)
	// cheers are the emoji that approve, as GitHub's names of them.
	cheers = lazyregexp.New(`:(?:\+1|thumbsup|tada|rocket|clap|pray|heart|[a-z]+_heart|100|ok_hand|raised_hands|white_check_mark|heavy_check_mark|sparkles|smile|smiley|grin|blush|slightly_smiling_face|heart_eyes|star_struck|partying_face|muscle):`)
)

// commit is the name of a commit, in which somebody says that something is done.
var commit = lazyregexp.New(`^[0-9a-f]{7,40}$`)

var (
	// much is thanks that may be for something.
	much = lazyregexp.New(`\b(thanks|thank you|thx) (?:so|very) much\b`)
	// explaining is what thanks may be for, or stand beside.
	explaining = lazyregexp.New(`(?:^|[.,!;]\s*)(?:(?:ah|oh|ok|okay),? )?i see\s*(?:$|[.,!;])|\bfor (?:explaining|clarifying|the (?:explanation|clarification))(?: (?:it|that|this))?\b`)
	// sad is no thanks, whatever stands beside it.
	sad = lazyregexp.New(`[:;=]['’]?-?[(/\\|\[]`)
	// locally is where somebody tried it.
	locally = lazyregexp.New(`\b(tested|verified)(?: (?:it|this))? locally\b`)
	// catching is praise, as a good catch is.
	catching = lazyregexp.New(`\b(?:thanks|thank you|thx) for catching\b`)
	// wondering is what may be a question without its mark, or mockery.
	wondering = lazyregexp.New(`^\W*(?:is|are|was|were|does|do|did)\b|\b(?:is|are|was|were|does|do|did) (?:it|this|that|your|the)\b|\bso (?:is|are|was|were|it|this|that|all)\b|\bmuch for\b`)
)

// OnlyThanks reports whether a remark says nothing but thanks or agreement: words of a fixed list, emoji, marks, and to whom that is said. A question is more, also one without its mark.
func OnlyThanks(remark string) bool {
	if strings.Contains(remark, "?") || sad.MatchString(remark) {
		return false
	}
	remark = strings.ReplaceAll(strings.ToLower(remark), "’", "'")
	remark = catching.ReplaceAllString(much.ReplaceAllString(remark, "$1"), "catch")
	remark = locally.ReplaceAllString(remark, "$1")
	remark = named.ReplaceAllString(cheers.ReplaceAllString(remark, "👍"), "$1")
	if wondering.MatchString(remark) {
		return false
	}
	remark = explaining.ReplaceAllString(agrees.ReplaceAllString(settles.ReplaceAllString(remark, " done "), " thanks "), " it ")
	remark = affirms.ReplaceAllString(remark, " agreed$1")
	words := strings.FieldsFunc(remark, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(".,;!:)(-*_@", r) || cheer(r)
	})
	for _, w := range words {
		if !thankful[w] && !commit.MatchString(w) {
			return false
		}
	}
	among := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if among(affirming) {
		return among(settling)
	}
	return among(slices.Concat(settling, telling, praise)) || strings.ContainsFunc(remark, cheer) // a commit says nothing by itself
}

// cheer reports whether a rune is part of an emoji that approves.
func cheer(r rune) bool {
	return strings.ContainsRune("👍🎉🙏👏🚀💯👌😀😊🙂✅🙌❤♥✔✨🥳🤩😍💪💚💙\ufe0f", r) || r >= 0x1f3fb && r <= 0x1f3ff
}
