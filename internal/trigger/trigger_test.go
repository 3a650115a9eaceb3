package trigger_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// commands are those of the repository in the table.
var commands = []string{"docs-drift", "security", "v1.2_check"}

// by is a comment that is not simply a member's new one on a pull request.
func by(change func(*trigger.Comment), body string) trigger.Comment {
	c := comment(body)
	change(&c)
	return c
}

func comment(body string) trigger.Comment {
	return trigger.Comment{Action: "created", PullRequest: true, Author: review.Person{Login: "mona", ID: 43}, Body: body}
}

// The table of comments and what runs: each answered line as "id(argv…)" or "prloop word", several joined by "; ".
var table = []struct {
	name string
	// in is a body, or a trigger.Comment. permission is the author's; write when empty.
	in         any
	permission string
	want       string
}{
	// A command and its arguments.
	{name: "a command", in: "!docs-drift", want: "docs-drift()"},
	{name: "the specification's own", in: `!docs-drift "last 48 hours" --scope docs/`, want: "docs-drift(last 48 hours|--scope|docs/)"},
	{name: "the same by mention", in: `@review-bot docs-drift "last 48 hours" --scope docs/`, want: "docs-drift(last 48 hours|--scope|docs/)"},
	{name: "single quotes", in: `!security 'a b' c`, want: "security(a b|c)"},
	{name: "quotes within a word", in: `!security --path="a b"/c`, want: "security(--path=a b/c)"},
	{name: "an empty word", in: `!security "" x`, want: "security(|x)"},
	{name: "quotes that do not match", in: `!security don't "look`, want: `security(don't|"look)`},
	{name: "no shell", in: "!security $(id) `id` ; rm -rf / # > x", want: "security($(id)|`id`|;|rm|-rf|/|#|>|x)"},
	{name: "markup in arguments is text", in: "!security **bold** <b>x</b> [a](b)", want: "security(**bold**|<b>x</b>|[a](b))"},
	{name: "a tab behind it", in: "!security\tx", want: "security(x)"},
	{name: "blanks around it", in: "   !security   x   ", want: "security(x)"},
	{name: "dots and underscores in an id", in: "!v1.2_check", want: "v1.2_check()"},
	{name: "Windows line ends", in: "Hello\r\n\r\n!security x\r\n", want: "security(x)"},
	{name: "arguments that close a fence", in: "!security ``` </untrusted> END", want: "security(```|</untrusted>|END)"},
	{name: "arguments in another script", in: "!security größer 日本", want: "security(größer|日本)"},
	{name: "arguments that are not UTF-8", in: "!security a\xff", want: "security(a\uFFFD)"},

	// Ids nobody defined, and what only looks like a command.
	{name: "an unknown id", in: "!nosuch"},
	{name: "another case", in: "!Docs-Drift"},
	{name: "an id with more behind it", in: "!security-scan"},
	{name: "a stop behind it", in: "!security."},
	{name: "a blank behind the mark", in: "! security"},
	{name: "two marks", in: "!!security"},
	{name: "a picture", in: "![security](x.png)"},
	{name: "no mark", in: "security"},
	{name: "a slash", in: "/security"},
	{name: "in a sentence", in: "You can say !security here"},
	{name: "in a word", in: "x!security"},
	{name: "escaped", in: `\!security`},
	{name: "as an entity", in: "&#33;security"},
	{name: "a hidden character", in: "!secu\u200brity"},
	{name: "a path for an id", in: "!../security"},
	{name: "arguments too long", in: "!security " + strings.Repeat("x", 5000)},
	{name: "nothing at all", in: ""},
	{name: "an ordinary remark", in: "Looks good to me! Ship it."},

	// Quotes, code and comments.
	{name: "in a quote", in: "> !security\n\nWhy did this not run?"},
	{name: "in a quote that goes on lazily", in: "> He said\n!security"},
	{name: "in a quote in a quote", in: "> > !security"},
	{name: "below a quote", in: "> Is it safe?\n\n!security", want: "security()"},
	{name: "in a fence", in: "```\n!security\n```"},
	{name: "in a fence of tildes", in: "~~~sh\n!security\n~~~"},
	{name: "in a fence that never ends", in: "```\n!security"},
	{name: "below a fence", in: "```\nx\n```\n!security", want: "security()"},
	{name: "in indented code", in: "See:\n\n    !security\n"},
	{name: "behind a tab", in: "\t!security"},
	{name: "in inline code", in: "`!security`"},
	{name: "in inline code over lines", in: "a `code\n!security\n` b"},
	{name: "in an HTML comment", in: "<!-- !security -->"},
	{name: "in an HTML comment over lines", in: "<!--\n!security\n-->"},
	{name: "in an HTML comment in a line", in: "Hello <!--\n!security\n--> you"},
	{name: "below an HTML comment", in: "<!-- from the template -->\n\n!security", want: "security()"},
	{name: "in preformatted text", in: "<pre>\n\n!security\n\n</pre>"},
	{name: "in an HTML quote", in: "<blockquote>\n\n!security\n\n</blockquote>"},
	{name: "in folded text", in: "<details><summary>How</summary>\n\n!security\n\n</details>"},
	{name: "in folded text below a stray end tag", in: "</div>\n\nx\n\n<details>\n\n!security\n\n</details>"},
	{name: "in folded text behind the end of something else", in: "<details>\n\n</div>\n\n!security\n\n</details>"},
	{name: "in folded text that seems to end at once", in: "<details/>\n\n!security\n\n</details>"},
	{name: "below folded text", in: "<details>\n\nx\n\n</details>\n\n!security", want: "security()"},
	{name: "in a tag of a line", in: "<kbd>\n!security\n</kbd>"},
	{name: "in a list", in: "- !security\n- !docs-drift"},
	{name: "in a heading", in: "# !security"},
	{name: "in a table", in: "| a |\n|---|\n| !security |"},
	{name: "struck out", in: "~~!security~~"},
	{name: "in a link", in: "[!security](https://example.com)"},
	{name: "in a footnote", in: "See[^1].\n\n[^1]: !security"},

	// Several lines.
	{name: "two commands", in: "!security\n!docs-drift x", want: "security(); docs-drift(x)"},
	{name: "two paragraphs", in: "First this.\n\n!security\n\nThen that.\n\n!docs-drift", want: "security(); docs-drift()"},
	{name: "one command a line", in: "!security !docs-drift", want: "security(!docs-drift)"},
	{name: "three at most", in: "!security 1\n!security 2\n!security 3\n!security 4", want: "security(1); security(2); security(3)"},
	{name: "unknown ones do not count", in: "!a\n!b\n!c\n!security", want: "security()"},
	{name: "the same line twice", in: "!security x\n!security x", want: "security(x)"},
	{name: "a line of text between", in: "!security\nand\n!docs-drift", want: "security(); docs-drift()"},

	// prloop's own words.
	{name: "review", in: "!prloop review", want: "prloop review"},
	{name: "fix", in: "!prloop fix", want: "prloop fix"},
	{name: "stop", in: "!prloop stop", want: "prloop stop"},
	{name: "status", in: "!prloop status", want: "prloop status"},
	{name: "help", in: "!prloop help", want: "prloop help"},
	{name: "no word", in: "!prloop", want: "prloop help"},
	{name: "an unknown word", in: "!prloop explode", want: "prloop help"},
	{name: "more behind a word", in: "!prloop review please", want: "prloop review"},
	{name: "by mention", in: "@review-bot stop", want: "prloop stop"},
	{name: "a name and a word in another case", in: "!Prloop Review", want: "prloop review"},
	{name: "a colon and a full stop", in: "!prloop: review.", want: "prloop review"},
	{name: "a loud stop", in: "!prloop STOP!!", want: "prloop stop"},
	{name: "another word for stop", in: "!prloop cancel", want: "prloop stop"},
	{name: "a polite stop", in: "!prloop please stop", want: "prloop stop"},
	{name: "a longer name", in: "!prloops review"},
	{name: "nothing but marks", in: "!prloop ...", want: "prloop help"},
	{name: "a word and a command", in: "!prloop stop\n!security", want: "prloop stop; security()"},

	{name: "a polite fix", in: "!prloop please fix", want: "prloop fix"},
	{name: "a no", in: "!prloop do not review", want: "prloop help"},
	{name: "a polite fix by mention", in: "@review-bot fix this, please", want: "prloop fix"},
	{name: "a fix that is not needed", in: "@review-bot fix not needed, thanks"},
	{name: "a fix that is not wanted", in: "!prloop fix: no thanks", want: "prloop help"},
	{name: "a word about a fix", in: "@review-bot Fix looks wrong to me, revert it", want: "prloop review"},
	{name: "a polite word about a fix", in: "!prloop so this fix is wrong", want: "prloop help"},
	{name: "a fix of something", in: "!prloop fix the tests", want: "prloop help"},
	{name: "in bold", in: "**!prloop stop**", want: "prloop stop"},
	{name: "a word in bold", in: "!prloop **stop**", want: "prloop stop"},
	{name: "behind a sign", in: "🛑 !prloop stop", want: "prloop stop"},
	{name: "a word in code", in: "!prloop `stop`", want: "prloop stop"},
	{name: "a word in quotes", in: `!prloop "stop"`, want: "prloop stop"},
	{name: "struck out, prloop's", in: "~~!prloop stop~~"},
	{name: "in code, prloop's", in: "`!prloop stop`"},
	{name: "escaped, prloop's", in: `\!prloop stop`},
	{name: "behind a word", in: "Say !prloop stop"},
	{name: "behind other emoji", in: "👉🏽 ⚠️ ✅ ☠ ⏸️ 👩‍💻 !prloop stop", want: "prloop stop"},
	{name: "behind a wide blank", in: "\u3000!prloop stop", want: "prloop stop"},
	{name: "behind the line of a pasted quote", in: "┃ !prloop stop"},
	{name: "behind a thin line", in: "│ !prloop stop"},
	{name: "behind a wide mark of a quote", in: "＞ !prloop stop"},
	{name: "behind a bullet", in: "• !prloop stop"},
	{name: "behind a dash", in: "— !prloop stop"},
	{name: "behind an arrow", in: "→ !prloop stop"},
	{name: "behind a sign of text that has a picture's selector", in: "＞\uFE0F!prloop stop"},
	{name: "behind a digit that has one", in: "1\uFE0F!prloop stop"},
	{name: "behind a hand of text", in: "☞ !prloop stop"},
	{name: "behind a mark of a quotation", in: "“ !prloop stop"},
	{name: "in a formula", in: "$$\n!prloop stop\n$$"},
	{name: "a mention in a formula", in: "Say\n$$\n@review-bot stop\n$$"},
	{name: "a command in a formula", in: "$$\n!security\n$$"},
	{name: "below a formula", in: "$$x$$\n!security\nfor $$ and more", want: "security()"},
	{name: "struck out in lines of its own", in: "~~\n!prloop stop\n~~"},
	{name: "below a type that looks like a tag", in: "use Vec<u8> please\n!prloop stop", want: "prloop stop"},
	{name: "between two tags", in: "<b>use\n!prloop stop\n</B>"},

	// Mentions.
	{name: "a mention alone", in: "@review-bot", want: "prloop review"},
	{name: "a mention in a sentence", in: "Could you look again, @review-bot?", want: "prloop review"},
	{name: "a mention and a sentence", in: "@review-bot please look again", want: "prloop review"},
	{name: "a mention, a comma, a sentence", in: "@review-bot, please look again", want: "prloop review"},
	{name: "a mention in another case", in: "@Review-Bot review", want: "prloop review"},
	{name: "an app's mention", in: "@review-bot[bot] security", want: "security()"},
	{name: "a mention in bold", in: "**@review-bot** look", want: "prloop review"},
	{name: "a mention at the end of a sentence", in: "Ask @review-bot.", want: "prloop review"},
	{name: "a mention and an unknown id", in: "@review-bot nosuch"},
	{name: "a mention, an unknown id and a flag", in: "@review-bot nosuch --scope docs/"},
	{name: "a mention and a word in another case", in: "@review-bot Status?", want: "prloop status"},
	{name: "a mention and a stop in a sentence", in: "@review-bot please stop", want: "prloop stop"},
	{name: "a mention and a loud stop", in: "@review-bot, STOP! It pushes rubbish", want: "prloop stop"},
	{name: "a mention behind a stop", in: "Could you please stop, @review-bot?", want: "prloop stop"},
	{name: "a stop that anybody may see to", in: "Could someone stop @review-bot?", want: "prloop stop"},
	{name: "a mention and a later day", in: "@review-bot not now", want: "prloop unsure"},
	{name: "a mention and a skip", in: "@review-bot skip this one, it is a revert", want: "prloop unsure"},
	{name: "a mention before a stop", in: "Hey @review-bot cancel that", want: "prloop stop"},
	{name: "a mention and a question about stopping", in: "Does the loop stop at 10, @review-bot?", want: "prloop review"},
	{name: "a mention behind another question", in: "Cancel is broken; can you look, @review-bot?", want: "prloop review"},
	{name: "a mention and no need", in: "Hey @review-bot, thanks, no need to review again"},
	{name: "a mention and a no", in: "@review-bot don’t fix this", want: "prloop unsure"},
	{name: "a mention and a no to stopping", in: "@review-bot please do not stop", want: "prloop unsure"},
	{name: "a mention, a command and a no", in: "@review-bot security don't", want: "security(don't)"},
	{name: "a mention and a word, which counts", in: "@review-bot review this, don't fix it", want: "prloop review"},
	{name: "a mention in a word", in: "me@review-bot"},
	{name: "a longer name", in: "@review-bot-2 look at this"},
	{name: "a longer name before it", in: "@my.@review-bot look"},
	{name: "a mail address", in: "write to a@review-bot.com today"},
	{name: "a host", in: "@review-bot.com is down"},
	{name: "a team", in: "@review-bot/admins look"},
	{name: "a path", in: "see src/@review-bot/x.ts"},
	{name: "an address", in: "https://example.com/@review-bot"},
	{name: "a mention in code", in: "Use `@review-bot` to ask"},
	{name: "a mention in a quote", in: "> @review-bot review\n\nThis was a mistake."},
	{name: "a mention in a fence", in: "```\n@review-bot review\n```"},
	{name: "a mention in an HTML comment", in: "<!-- @review-bot --> Hello"},
	{name: "a mention in a link", in: "[@review-bot](https://example.com)"},
	{name: "an escaped mention", in: `\@review-bot`},
	{name: "somebody else", in: "@mona please look"},

	{name: "a stop of something behind a mention", in: "Stop pushing @review-bot", want: "prloop stop"},
	{name: "a stop of something before a mention", in: "Stop reviewing, @review-bot", want: "prloop stop"},
	{name: "a stop behind a word", in: "Oops, stop @review-bot", want: "prloop stop"},
	{name: "a stop behind a no", in: "@review-bot no, stop!", want: "prloop stop"},
	{name: "a stop in a sentence of its own", in: "@review-bot enough. Stop.", want: "prloop stop"},
	{name: "a stop behind a never mind", in: "@review-bot nevermind, stop", want: "prloop stop"},
	{name: "a stop behind dots", in: "@review-bot … stop", want: "prloop stop"},
	{name: "a stop below a greeting", in: "Hey @review-bot\nstop", want: "prloop stop"},
	{name: "a sentence about stops behind a request", in: "@review-bot please look again. Stop tokens are handled now.", want: "prloop unsure"},
	{name: "a question about stops behind a request", in: "@review-bot can you look again? Stop tokens are handled now.", want: "prloop review"},
	{name: "what may be a stop", in: "@review-bot please do stop", want: "prloop unsure"},
	{name: "what may be a stop, before the mention", in: "We need you to stop @review-bot", want: "prloop unsure"},
	{name: "what may be a stop, below the mention", in: "@review-bot\nwe need you to stop", want: "prloop unsure"},
	{name: "a stop, and what may be one", in: "!prloop stop\n@review-bot you should stop", want: "prloop stop"},
	{name: "a command about stops", in: "@review-bot security stop words", want: "security(stop|words)"},
	{name: "a review, and then a stop", in: "@review-bot review, then stop", want: "prloop review"},

	{name: "a request behind a sentence that begins with a stop", in: "Stop tokens are handled now, @review-bot please review", want: "prloop unsure"},
	{name: "the same without a please", in: "Cancel button fixed. @review-bot review", want: "prloop unsure"},
	{name: "a request behind a list of stops", in: "New commands: start, stop. @review-bot review this", want: "prloop unsure"},
	{name: "a request to check a stop", in: "@review-bot cancel button was broken, please check", want: "prloop unsure"},
	{name: "a request before a list of stops", in: "@review-bot please look again: stop, cancel and abort are new words", want: "prloop unsure"},
	{name: "a request below the mention, behind a stop", in: "@review-bot\nStop tokens are fixed, please review", want: "prloop unsure"},
	{name: "a request and then a stop", in: "@review-bot please fix it. Now stop.", want: "prloop unsure"},
	{name: "a stop of a review", in: "Please stop the review, @review-bot", want: "prloop stop"},
	{name: "a stop of a fix", in: "@review-bot stop this fix, please", want: "prloop stop"},
	{name: "a stop by who fixes it", in: "@review-bot please stop, I will fix it", want: "prloop stop"},
	{name: "a stop and no review", in: "Stop @review-bot, please don't review this", want: "prloop stop"},
	{name: "a command, whatever is behind it", in: "@review-bot stop. Please check the build first, Mona.", want: "prloop stop"},
	{name: "a stop behind a question", in: "@review-bot what? No, stop.", want: "prloop stop"},
	{name: "a stop behind a question, before the mention", in: "Are you kidding? Stop pushing @review-bot", want: "prloop stop"},
	{name: "a question behind a sentence that begins with a stop", in: "Stop words are done. Is it fine? @review-bot", want: "prloop review"},
	{name: "a question about a stop among others", in: "Which is it: start, stop, or pause, @review-bot?", want: "prloop review"},
	{name: "a no-break space", in: "!prloop\u00a0stop", want: "prloop stop"},
	{name: "a no-break space behind a mention", in: "@review-bot\u00a0stop", want: "prloop stop"},

	// Refusals: what may mean the run in hand is asked about.
	{name: "a no to a push", in: "@review-bot don't push", want: "prloop unsure"},
	{name: "a polite no to a fix", in: "@review-bot please do not fix anything", want: "prloop unsure"},
	{name: "a question why it does not stop", in: "@review-bot why don't you stop?", want: "prloop unsure"},
	{name: "a halt", in: "@review-bot halt", want: "prloop unsure"},
	{name: "a halt with a mark", in: "@review-bot Enough!", want: "prloop unsure"},
	{name: "a wait", in: "@review-bot please wait", want: "prloop unsure"},
	{name: "a hold", in: "@review-bot hold on", want: "prloop unsure"},
	{name: "a hold before the mention", in: "Hold on, @review-bot", want: "prloop unsure"},
	{name: "a hold behind a greeting", in: "Hey @review-bot hold on", want: "prloop unsure"},
	{name: "a kill", in: "@review-bot kill it", want: "prloop unsure"},
	{name: "a no more", in: "@review-bot no more", want: "prloop unsure"},

	// A mild no beside a request for a review.
	{name: "a request without hurry", in: "@review-bot please review, no hurry", want: "prloop review"},
	{name: "a look without rush", in: "@review-bot please take another look, no rush", want: "prloop review"},
	{name: "a question without rush", in: "@review-bot could you review this again, no rush?", want: "prloop review"},
	{name: "no longer a draft", in: "No longer a draft, @review-bot please review", want: "prloop review"},
	{name: "no longer a draft, behind the mention", in: "@review-bot No longer a draft, please review", want: "prloop review"},
	{name: "no blockers", in: "No blockers from me, @review-bot please review", want: "prloop review"},
	{name: "enough of something", in: "Enough tests now, @review-bot please review", want: "prloop review"},
	{name: "two words for a stop", in: "@review-bot stop/cancel", want: "prloop unsure"},
	{name: "a wait before a request", in: "Wait, @review-bot please review this", want: "prloop review"},
	{name: "a hold before a request", in: "Hold on, I pushed. @review-bot please review", want: "prloop review"},
	{name: "what looks like a flag behind a wait", in: "@review-bot wait -v is new, please review", want: "prloop review"},
	{name: "what somebody does not understand", in: "@review-bot I don't understand this, please look again", want: "prloop review"},
	{name: "the same without a request", in: "@review-bot I don't understand this", want: "prloop unsure"},
	{name: "what somebody does not want", in: "@review-bot I don't want fixes, please review", want: "prloop unsure"},
	{name: "a request and no push", in: "@review-bot please review, but don't push fixes", want: "prloop unsure"},
	{name: "a request and no fixes", in: "@review-bot please review, no fixes", want: "prloop unsure"},
	{name: "no fixes, and a request", in: "@review-bot no fixes, please review", want: "prloop unsure"},
	{name: "a request that is taken back", in: "@review-bot please review. No, wait", want: "prloop unsure"},
	{name: "a request that is taken back in a word", in: "@review-bot please review, no more", want: "prloop unsure"},
	{name: "a hold before a request to somebody else", in: "Hold on @review-bot, please let Mona review it first", want: "prloop unsure"},
	{name: "a halt before a request", in: "@review-bot halt everything, please check the logs", want: "prloop unsure"},
	{name: "a wait for something", in: "@review-bot wait for CI then review", want: "prloop unsure"},

	// Questions about the mention.
	{name: "a question why it stopped", in: "Why did @review-bot stop?", want: "prloop unsure"},
	{name: "a question whether it stopped", in: "did @review-bot stop", want: "prloop unsure"},
	{name: "a question why it cancelled something", in: "Why did @review-bot cancel the run?", want: "prloop unsure"},
	{name: "a question when it stops", in: "When will @review-bot stop?", want: "prloop unsure"},
	{name: "a question, and a stop", in: "Did @review-bot stop? Stop it!", want: "prloop stop"},
	{name: "a stop, and a question", in: "Stop! Why did @review-bot cancel?", want: "prloop stop"},
	{name: "a polite question for a stop", in: "can you stop @review-bot?", want: "prloop stop"},
	{name: "a polite question for it to stop", in: "Hey, can @review-bot stop?", want: "prloop stop"},
	{name: "a stop behind other words", in: "Oh no @review-bot stop", want: "prloop stop"},
	{name: "a sentence about a pause", in: "@review-bot the pause button is fixed, look again", want: "prloop review"},
	{name: "a mention and an unknown id, still", in: "@review-bot rebase"},

	// Above a rule, as a signature has it, a stop is heard and nothing else.
	{name: "a stop above a rule", in: "!prloop stop\n---", want: "prloop stop"},
	{name: "a stop above a signature", in: "@review-bot stop\n-- \nJane", want: "prloop stop"},
	{name: "a refusal above a rule", in: "@review-bot don't push\n===", want: "prloop unsure"},
	{name: "a review above a rule", in: "!prloop review\n---"},
	{name: "a stop in a heading", in: "# !prloop stop"},
	{name: "an empty heading", in: "#\n!prloop stop", want: "prloop stop"},

	// A fix stands alone in its paragraph.
	{name: "a fix behind a cross", in: "❌ !prloop fix", want: "prloop help"},
	{name: "a fix before a sign", in: "@review-bot fix 👎", want: "prloop review"},
	{name: "a fix that is struck out", in: "@review-bot ~~fix~~", want: "prloop review"},
	{name: "a fix that is struck out, prloop's", in: "!prloop ~~fix~~", want: "prloop help"},
	{name: "a fix in code", in: "**!prloop `fix`**", want: "prloop fix"},
	{name: "a sentence about a fix over two lines", in: "@review-bot fix\nlooks wrong", want: "prloop help"},
	{name: "a sentence that ends in a fix", in: "I would never say\n!prloop fix", want: "prloop help"},
	{name: "a fix, and a refusal below", in: "@review-bot fix\n@review-bot don't", want: "prloop help; prloop unsure"},
	{name: "a fix with thanks below", in: "!prloop fix\nThanks!", want: "prloop fix"},
	{name: "a fix below another request", in: "!security\n!prloop fix", want: "security(); prloop fix"},
	{name: "a fix below a paragraph", in: "Good find.\n\n!prloop fix", want: "prloop fix"},

	// Who, where and when.
	{name: "an edit", in: by(func(c *trigger.Comment) { c.Action = "edited" }, "!security")},
	{name: "a deletion", in: by(func(c *trigger.Comment) { c.Action = "deleted" }, "!security")},
	{name: "a new comment edited since", in: by(func(c *trigger.Comment) { c.Changed = true }, "!security")},
	{name: "a stop that was edited since", in: by(func(c *trigger.Comment) { c.Changed = true }, "!prloop stop\n!security\nThe pool is drained already."), want: "prloop stop"},
	{name: "a sentence about a stop that was edited since", in: by(func(c *trigger.Comment) { c.Changed = true }, "@review-bot we need you to stop")},
	{name: "on an issue", in: by(func(c *trigger.Comment) { c.PullRequest = false }, "!security")},
	{name: "a bot", in: by(func(c *trigger.Comment) { c.Author = review.Person{Login: "dependabot[bot]", Bot: true} }, "!security")},
	{name: "our own report", in: "<!-- pr-review-loop-marker -->\n\n!security"},
	{name: "a comment that imitates our marker", in: "!prloop fix\n\n<!-- pr-review-loop-marker -->"},
	{name: "a member who may not write", in: by(func(c *trigger.Comment) { c.Author.Association = "MEMBER" }, "!security"), permission: "read"},
	{name: "the author of a fork", in: by(func(c *trigger.Comment) { c.Author.Association = "CONTRIBUTOR" }, "!prloop review"), permission: "none"},
	{name: "somebody who triages", in: "!security", permission: "triage"},
	{name: "somebody nobody knows", in: "@review-bot review", permission: "none"},
	{name: "a maintainer", in: "!security", permission: "maintain", want: "security()"},
	// A stop and what else the comment says.
	{name: "a stop, and the bot in a later sentence", in: "!prloop stop\n\nWhat @review-bot says of the cache is wrong, and I will ask again once CI is green.", want: "prloop stop"},
	{name: "a stop, and thanks", in: "@review-bot please stop.\n\nThanks @review-bot!", want: "prloop stop"},
	{name: "a stop below the mention", in: "@review-bot\nplease stop", want: "prloop stop"},
	{name: "a no below the mention", in: "@review-bot\nno need to look again"},
	{name: "a request below the mention", in: "@review-bot\nplease look again", want: "prloop review"},
	{name: "a stop behind other requests", in: "!prloop review\n!security\n!prloop status\n!prloop help\n!prloop stop", want: "prloop status; prloop help; prloop stop"},
	{name: "a review behind a stop", in: "!prloop stop\n!prloop review", want: "prloop stop; prloop review"},
	{name: "an admin, on a fork's pull request", in: "!prloop review", permission: "admin", want: "prloop review"},
}

func TestWhatRuns(t *testing.T) {
	if len(table) < 80 {
		t.Errorf("the table has %d comments", len(table))
	}
	for _, row := range table {
		t.Run(row.name, func(t *testing.T) {
			c, ok := row.in.(trigger.Comment)
			if !ok {
				c = comment(row.in.(string))
			}
			c.Marked = sanitize.HasMarker(c.Body)
			asks, why := trigger.Heard(c, "review-bot[bot]")
			if (len(asks) == 0) != (why != "") {
				t.Errorf("%d lines are heard, and the reason is %q", len(asks), why)
			}
			if row.permission != "" && !review.MayWrite(row.permission) {
				asks = nil
			}
			var got []string
			for _, a := range trigger.Choose(asks, commands) {
				if a.Word != "" {
					got = append(got, "prloop "+a.Word)
				} else {
					got = append(got, fmt.Sprintf("%s(%s)", a.ID, strings.Join(a.Argv, "|")))
				}
			}
			if diff := cmp.Diff(row.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What runs does not depend on what is around it: a comment within a fence, a quote or an HTML comment asks for nothing.
func TestNothingIsHeardInside(t *testing.T) {
	for _, row := range table {
		body, ok := row.in.(string)
		if !ok || row.want == "" || strings.Contains(body, "```") || strings.Contains(body, "-->") {
			continue
		}
		for what, around := range map[string]string{
			"a fence": "```\n" + body + "\n```", "a quote": "> " + strings.ReplaceAll(body, "\n", "\n> "),
			"an HTML comment": "<!--\n" + body + "\n-->",
		} {
			if asks := trigger.Choose(trigger.Parse(around, "review-bot"), commands); len(asks) > 0 {
				t.Errorf("%s, in %s: %+v", row.name, what, asks)
			}
		}
	}
}

// A comment is anybody's. One that is a table of millions of cells, few of which it writes, costs no more than others, and asks for nothing.
func TestAWideTableCostsLittle(t *testing.T) {
	wide := strings.Repeat("|a", 1500) + "|\n" + strings.Repeat("|-", 1500) + "|\n" + strings.Repeat("|a\n", 1500)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	asks := trigger.Parse(wide+"!prloop fix\n\n!prloop review\n", "review-bot")
	runtime.ReadMemStats(&after)
	if len(asks) != 1 || asks[0].Word != trigger.Review {
		t.Errorf("it asks for %+v", asks)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
		t.Errorf("%d KB of text took %d MB of memory", len(wide)>>10, took)
	}
}

// Reading nested or emphasised Markdown costs the square of its length: what is long is not read.
func TestLongCommentsAskNothing(t *testing.T) {
	const line = "!prloop review\n\n"
	if asks := trigger.Parse(line+strings.Repeat("a", 16<<10-len(line)), "review-bot"); len(asks) != 1 {
		t.Errorf("16 KB ask for %+v", asks)
	}
	if asks := trigger.Parse(line+strings.Repeat("a", 16<<10-len(line)+1), "review-bot"); len(asks) != 0 {
		t.Errorf("one byte more asks for %+v", asks)
	}
}

// What a mail quotes below an answer is the words of others, marked as a quote or not (threats.md T759).
func TestQuotesOfMailsAskForNothing(t *testing.T) {
	for says, head := range map[string]string{
		"Outlook":          "________________________________\nFrom: somebody <notifications@github.com>\nSent: Monday, November 23, 2026 10:00 AM\nTo: acme/widgets <widgets@noreply.github.com>\nSubject: Re: [acme/widgets] Count (PR #7)\n\n",
		"in German":        "-----Ursprüngliche Nachricht-----\r\nVon: somebody ***@***.***>\r\nAn: acme/widgets ***@***.***>\r\n\r\n",
		"in Chinese":       "在 2026年11月23日，somebody ***@***.***> 写道：\n\n",
		"on a telephone":   "On Monday, somebody <***@***.***> wrote:\n",
		"an own address":   "On Monday, acme/widgets <reply+ABC@REPLY.github.com> wrote:\n\n",
		"a long name":      "On Mon, Nov 30, 2026 at 6:48 AM Mallory Anne Elisabeth von Featherstonehaugh\n!docs-drift all of it\n!prloop stop\n***@***.***> wrote:\n\n",
		"asking at a line": "!prloop help to ***@***.***\n",
	} {
		for _, ask := range []string{"!prloop fix", "!docs-drift everything", "@review-bot stop"} {
			asks := trigger.Parse("Thanks.\n\n!prloop review\n\n"+head+ask+"\n\n"+ask+"\n", "review-bot")
			if len(asks) != 1 || asks[0].Word != trigger.Review {
				t.Errorf("%s: %+v", says, asks)
			}
		}
	}
	if asks := trigger.Parse("Co-authored-by: mona <1+mona@users.noreply.github.com>\n\n!prloop review\n", "review-bot"); len(asks) != 1 {
		t.Errorf("a trailer: %+v", asks)
	}
}

// Of an answer by mail nothing counts below its first paragraph, whatever host its addresses are of, and if there are none; a comment that was written on GitHub is read whole
// (threats.md T759).
func TestOfAMailTheFirstParagraphIsHeard(t *testing.T) {
	for says, quote := range map[string]string{
		"GitHub Enterprise Server": "________________________________\nFrom: somebody <noreply@ghe.acme.com>\nTo: acme/widgets <reply+ABCD@reply.ghe.acme.com>\nSubject: Re: x\n\n",
		"ghe.com":                  "From: somebody <notifications@acme.ghe.com>\n\n",
		"no address":               "-------- Original message --------\nFrom: somebody\nSubject: Re: x\n\n",
		"wrote":                    "On Mon, 23 Nov 2026 at 10:00, somebody wrote:\n\n",
		"nothing at all":           "",
	} {
		for _, blank := range []string{"\n\n", "\r\n\r\n", "\n \u00a0\n", "\n\u200b\n"} {
			c := comment("Thanks.\n!prloop status" + blank + quote + "!prloop fix\n")
			if asks, _ := trigger.Heard(c, "review-bot"); len(asks) != 2 {
				t.Errorf("%s, on GitHub: %+v", says, asks)
			}
			c.Mailed = true
			if asks, _ := trigger.Heard(c, "review-bot"); len(asks) != 1 || asks[0].Word != trigger.Status {
				t.Errorf("%s, by mail: %+v", says, asks)
			}
		}
	}
	for _, top := range []string{"On Mon, 23 Nov 2026 at 10:00, Mallory\n!prloop stop\nwrote:\n\nThanks.", "2026年11月23日 Mallory\n!prloop stop\n写道：\n\n谢谢", "-----Original Message-----\n!prloop fix", "Thanks.\n\n!prloop fix"} {
		c := comment(top)
		c.Mailed = true
		if asks, why := trigger.Heard(c, "review-bot"); len(asks) != 0 || !strings.Contains(why, "by mail") {
			t.Errorf("%q: %+v, %s", top, asks, why)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, row := range table {
		if body, ok := row.in.(string); ok {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, a := range trigger.Parse(body, "review-bot") {
			if (a.Word == "") == (a.ID == "") {
				t.Errorf("%+v is neither a word nor a command", a)
			}
		}
	})
}

// What somebody quotes they have not said, in any form that Markdown or a mail has (threats.md T854).
func TestOwnWords(t *testing.T) {
	for _, c := range []struct {
		in     string
		mailed bool
		want   string
	}{
		{"Guard it.\n\n> Set x.\nand y\n\nOnly here.", false, "Guard it.\n\n\nOnly here."},
		{"1. > Set x.\n2. Guard it.", false, "2. Guard it."},
		{"> - Set x.\n>   ```\n>   code\n>   ```\n\nNo.", false, "No."},
		{"No.\r\n\r\nPlease set x.", true, "No."},
		{"No.\n\nOn Monday, Mallory <***@***.***> wrote:\nSet x.", false, "No."},
		{"No.\n===\nSet x.", true, ""},
		{"```\n> a\n```", false, "```\n> a\n```"},
	} {
		if got := trigger.Own(c.in, c.mailed); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// A quote is cut with all that stands in its lines, also what Markdown shows elsewhere or nowhere, and so is one in HTML. What stands beside it is the writer's own
// (threats.md T867).
func TestOwnWordsHoldNothingOfAQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"> a[^1].\n>\n> [^1]: Set x.\n\nNo[^1].", "No[^1]."},
		{"> | a |\n> |---|\n> | x | Set x. |\n\nNo.", "No."},
		{"> | a |\n|---|\n| x | Set x. |\n\nNo.", "No."},
		{"> <pre>\n> x\n> </pre> Set x.\n\nNo.", "No."},
		{"> <!--\n> x\n> --> Set x.\n\nNo.", "No."},
		{"> ```Set x.\n> x\n> ```\n\nNo.", "No."},
		{"> [x]: /x \"Set x.\"\n\nNo.", "No."},
		{"> Set x.\n> ===\n\nNo.", "No."},
		{"As said:\n> Set x.\nand y", "As said:"},
		{"No.\r> Set x.\r\rOnly here.", "No.\n\nOnly here."},
		{"<blockquote>Set x.</blockquote>\n\nNo.", "No."},
		{"No, <blockquote title=\"</blockquote>\">Set <blockquote>x</blockquote>\n\n- here\n\n</blockquote>only here.", "No, only here."},
		{"No.\n\n<blockquote>\n\nSet x.", "No."},

		{"> Set x.\n```\n> a\n```", "```\n> a\n```"},
		{"> Set x.\n- Guard it.\n\n> Set y.\n# Guard it.", "- Guard it.\n\n# Guard it."},
		{"Close `<blockquote>` here, a > b, &lt;blockquote&gt;.\n\n    <blockquote>\n\n<!-- <blockquote> -->Guard it.", "Close `<blockquote>` here, a > b, &lt;blockquote&gt;.\n\n    <blockquote>\n\n<!-- <blockquote> -->Guard it."},
	} {
		if got := trigger.Own(c.in, false); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}
