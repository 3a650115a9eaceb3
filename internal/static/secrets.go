package static

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// token is one kind of credential with a form of its own, so that finding the form is finding the credential.
type token struct {
	name string
	// keys are texts one of which stands in every match; looking for them first is a hundred times cheaper.
	keys []string
	re   *lazyregexp.Regexp
	what string
}

var tokens = []token{
	{"aws-key", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, lazyregexp.New(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`), "an AWS access key id"},
	{"github-token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazyregexp.New(`\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{36,255})\b`), "a GitHub token"},
	{"gitlab-token", []string{"glpat-"}, lazyregexp.New(`\bglpat-[A-Za-z0-9_-]{20,}(?:(?:\.[0-9]{2})?\.[0-9a-z]{9}\b)?`), "a GitLab token"},
	{"slack-token", []string{"xox", "xapp-"}, lazyregexp.New(`\b(?:xoxe\.)?xox[abeoprs]-[0-9]+-[0-9A-Za-z-]{10,}|\bxapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{20,}`), "a Slack token"},
	{"slack-webhook", []string{"hooks.slack.com"}, lazyregexp.New(`hooks\.slack\.com/services/T[A-Z0-9]{7,}/B[A-Z0-9]{7,}/[A-Za-z0-9]{20,}`), "a Slack webhook address"},
	{"stripe-key", []string{"k_live_"}, lazyregexp.New(`\b[sr]k_live_[0-9A-Za-z]{16,}\b`), "a live Stripe key"},
	{"live-key", []string{"live"}, lazyregexp.New(`\bsk[-_]live[-_][0-9A-Za-z_-]{16,}\b`), "a live secret key"},
	{"anthropic-key", []string{"sk-ant-"}, lazyregexp.New(`\bsk-ant-(?:api|admin|oat)[0-9]{2}-[A-Za-z0-9_-]{40,}`), "an Anthropic key"},
	{"openai-key", []string{"sk-"}, lazyregexp.New(`\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b)`), "an OpenAI key"},
	{"openrouter-key", []string{"sk-or-v1-"}, lazyregexp.New(`\bsk-or-v1-[0-9a-f]{64}\b`), "an OpenRouter key"},
	{"google-key", []string{"AIza"}, lazyregexp.New(`\bAIza[0-9A-Za-z_-]{35}\b`), "a Google API key"},
	{"npm-token", []string{"npm_"}, lazyregexp.New(`\bnpm_[A-Za-z0-9]{36}\b`), "an npm token"},
	{"pypi-token", []string{"pypi-AgE"}, lazyregexp.New(`\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}`), "a PyPI token"},
	{"sendgrid-key", []string{"SG."}, lazyregexp.New(`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b`), "a SendGrid key"},
	{"huggingface-token", []string{"hf_"}, lazyregexp.New(`\bhf_[A-Za-z]{34}\b`), "a Hugging Face token"},
	{"digitalocean-token", []string{"_v1_"}, lazyregexp.New(`\bdo[opr]_v1_[a-f0-9]{64}\b`), "a DigitalOcean token"},
	{"shopify-token", []string{"shp"}, lazyregexp.New(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`), "a Shopify token"},
	{"twilio-key", []string{"SK"}, lazyregexp.New(`\bSK[0-9a-f]{32}\b`), "a Twilio key"},
	{"encoded-key", []string{"LS0tLS1CRUdJTi"}, lazyregexp.New(`LS0tLS1CRUdJTi[0-9A-Za-z+/]{0,32}(?:UFJJVkFU|UklWQVRF|FBSSVZB)[0-9A-Za-z+/]{20,}`), "a private key in base64"},
	{"age-key", []string{"AGE-SECRET-KEY-1"}, lazyregexp.New(`\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b`), "an age secret key"},
}

var privateKey = lazyregexp.New(`-----BEGIN(?: |\+|%20)(?:[A-Z0-9]+(?: |\+|%20))*PRIVATE(?: |\+|%20)KEY(?:(?: |\+|%20)BLOCK)?-----`)

// span is where a secret stands in a line.
type span struct {
	start, end int
	rule, what string
	// certain is true when the form alone proves it.
	certain bool
}

// find gives the secrets of a line.
func find(line string) []span {
	var out []span
	for _, t := range tokens {
		if !containsAny(line, t.keys) {
			continue
		}
		for _, m := range t.re.FindAllStringIndex(line, -1) {
			v := line[m[0]:m[1]]
			if sanitize.Entropy(v) < 3 || sanitize.Published(v) || sanitize.EmptyToken(v) || strings.Contains(strings.ToLower(v), "xxxx") {
				continue
			}
			out = append(out, span{m[0], m[1], t.name, t.what, true})
		}
	}
	for _, p := range sanitize.IssuedTokens(line) {
		out = append(out, span{p.Start, p.End, "issued-token", "a token in the form of its issuer", true})
	}
	for _, p := range sanitize.AddressPasswords(line) {
		out = append(out, span{p.Start, p.End, "password-in-url", "a password inside an address", false})
	}
	for _, p := range append(sanitize.AssignedValues(line), sanitize.GivenPasswords(line)...) {
		if !overlaps(out, p.Start, p.End) {
			out = append(out, span{p.Start, p.End, "assigned-secret", "a secret written into the code", false})
		}
	}
	return out
}

func containsAny(s string, keys []string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(s, k) })
}

func overlaps(spans []span, start, end int) bool {
	for _, s := range spans {
		if start < s.end && s.start < end {
			return true
		}
	}
	return false
}

// opaque is any long generated-looking value. It is no finding by itself, but is not quoted either.
var opaque = lazyregexp.New(`[A-Za-z0-9+/_=-]{20,}`)

// piece is a run of a line without secrets; before and after say that one was left out there.
type piece struct {
	text          string
	before, after bool
}

// marked is the piece with a mark where a secret was left out.
func (p piece) marked() string {
	text := p.text
	if p.before {
		text = sanitize.Redacted + text
	}
	if p.after {
		text += sanitize.Redacted
	}
	return text
}

// withoutSecrets gives the longest part of a line that holds nothing like a secret.
func withoutSecrets(line string) piece {
	spans := find(line)
	if m := privateKeyIn(line); m != nil { // what follows the header may be the key
		spans = append(spans, span{start: m[1], end: len(line)})
	}
	for _, m := range opaque.FindAllStringIndex(line, -1) {
		if v := line[m[0]:m[1]]; sanitize.LettersAndDigits(v) && sanitize.Entropy(v) >= 3.5 {
			spans = append(spans, span{start: m[0], end: m[1]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var best piece
	from := 0
	for _, s := range append(spans, span{start: len(line), end: len(line)}) {
		if s.start > from {
			if text := strings.TrimSpace(line[from:s.start]); len(text) > len(best.text) {
				best = piece{text, from > 0, s.start < len(line)}
			}
		}
		from = max(from, s.end)
	}
	return best
}

// secrets is the rule: credentials in added lines. Hard-coded production secrets are a 10 (spec.md D3.1).
func secrets(f *file) []hit {
	out, placed := f.keys(), f.placed()
	f.each(func(i int, l diff.Line) {
		var told []span // one finding for each value, whatever kinds it is of
		for _, s := range append(placed[i], find(l.Text)...) {
			if overlaps(told, s.start, s.end) {
				continue
			}
			told = append(told, s)
			if !s.certain && (f.test || commented(l.Text) || lockLike(f.path)) {
				continue
			}
			h := secretHit(f, i, s.rule, s.what, s.certain)
			h.value = sanitize.Span{Start: s.start, End: s.end}
			out = append(out, h)
		}
	})
	return out
}

// Secrets are the places of what this reviewer finds of secrets in the diff of a file, by line: one for each finding that is about the line.
func Secrets(path, diff string) map[int][]sanitize.Span {
	f, out := &file{path: path, test: isTest(path)}, map[int][]sanitize.Span{}
	if f.read(diff) != nil {
		return nil
	}
	for _, h := range secrets(f) {
		out[h.line] = append(out[h.line], h.value)
		for n, part := range h.more {
			out[n] = append(out[n], part)
		}
	}
	return out
}

// keys are the private keys of which a line is added, also behind a header that stays, as when a key takes the place of another.
func (f *file) keys() (out []hit) {
	for i, l := range f.lines {
		if privateKeyIn(l.Text) == nil || !f.holdsKey(i) {
			continue
		}
		end := f.keyEnd(i)
		if slices.ContainsFunc(f.lines[i:], func(l diff.Line) bool { return l.Op == '+' && l.New <= end }) {
			h := secretHit(f, i, "private-key", "a private key", true)
			h.end, h.value = end, keyPart(l.Text)
			for _, l := range f.lines[i+1:] {
				if l.New > end {
					break
				}
				h.more[l.New] = keyPart(l.Text)
			}
			out = append(out, h)
		}
	}
	return f.keyBodies(out)
}

// keyBodies adds the texts of private keys that stand apart from a header, or without one, by the rules of the mask, to the keys that are told by their header. Where
// such a text alone stands behind the header, it is in the finding. A finding stands for one value of each line, so another value in a line, a number of a key, has its own.
func (f *file) keyBodies(told []hit) []hit {
	text := f.text()
	i, at, own, last := 0, 0, -1, -1
	for _, p := range sanitize.KeyBodies(text) {
		i += strings.Count(text[at:p.Start], "\n")
		at = p.Start
		n, start := f.lines[i].New, strings.LastIndexByte(text[:at], '\n')+1
		h := secretHit(f, i, "private-key", "a private key", true)
		h.end, h.value = n, sanitize.Span{Start: p.Start - start, End: p.End - start}
		if i == last && !p.More && f.lines[i].Op == '+' {
			told = append(told, h)
			continue
		}
		last = i
		k := slices.IndexFunc(told, func(h hit) bool { return h.line <= n && n <= max(h.line, h.end)+sanitize.NearKey })
		switch {
		case k >= 0 && (k == own || told[k].end <= told[k].line):
			own, told[k].end = k, max(told[k].end, n)
			if n > told[k].line {
				told[k].more[n] = keyPart(f.lines[i].Text)
			}
		case k < 0 && f.lines[i].Op == '+':
			own, told = len(told), append(told, h)
		}
	}
	return told
}

// text is what the file has in its hunks.
func (f *file) text() string {
	lines := make([]string, len(f.lines))
	for i, l := range f.lines {
		lines[i] = l.Text
	}
	return strings.Join(lines, "\n")
}

// placed are the secrets that tell themselves by what stands in other lines, or by the name of their file, by the index of their line.
func (f *file) placed() map[int][]span {
	out, text := map[int][]span{}, f.text()
	add := func(spans []sanitize.Span, rule, what string, certain bool) {
		i, at := 0, 0 // the line, and where it begins
		for _, p := range spans {
			if n := strings.LastIndexByte(text[at:p.Start], '\n') + 1; n > 0 {
				i, at = i+strings.Count(text[at:at+n], "\n"), at+n
			}
			out[i] = append(out[i], span{p.Start - at, p.End - at, rule, what, certain})
		}
	}
	add(sanitize.PairedSecrets(text), "aws-secret", "an AWS secret access key", true)
	add(sanitize.AccountTokens(text), "account-token", "a Twilio auth token", true)
	add(sanitize.KeptValues(text), "kubernetes-secret", "a value of a Kubernetes Secret", false)
	add(sanitize.NearValues(text), "near-secret", "a cookie or a password written into the code", false)
	add(sanitize.FileSecrets(f.path, text), "file-secret", "a password written into the code", false)
	return out
}

func secretHit(f *file, i int, rule, what string, certain bool) hit {
	h := hit{
		rule: "secret." + rule, category: review.CategorySecurity, score: 8, confidence: 0.6,
		line: f.lines[i].New, at: i, more: map[int]sanitize.Span{},
		title: "Adds " + what,
		description: "The line adds " + what + ". Whoever can read the repository, now or later in its history, can use it. " +
			"The value is not repeated here.",
		suggestion: "Revoke it, take it out of the branch's history, and read it from the environment or a secret store.",
	}
	switch {
	case certain && rule == "google-key": // those of web pages are public by design, limited by referrer
		h.score, h.confidence = 7, 0.6
	case certain && f.test:
		h.score, h.confidence = 7, 0.6
	case certain:
		h.score, h.confidence = 10, 0.95
	}
	return h
}

func privateKeyIn(line string) []int {
	if !strings.Contains(line, "PRIVATE") {
		return nil
	}
	return privateKey.FindStringIndex(line)
}

var keyBody = lazyregexp.New(`[A-Za-z0-9+/=]{24,}`)

// holdsKey tells a key from a mere mention of its header, as in a pattern or a document: base64 follows.
func (f *file) holdsKey(i int) bool {
	_, rest, _ := strings.Cut(f.lines[i].Text, "-----BEGIN")
	if keyBody.MatchString(strings.NewReplacer(`\n`, " ", `\r`, " ").Replace(rest)) {
		return true
	}
	for _, l := range f.lines[i+1 : min(i+4, len(f.lines))] {
		t := strings.Trim(uncommented(l.Text), " \t\r"+`"'+,;\n`+"`")
		if keyBody.FindString(t) == t && len(t) >= 40 || strings.HasPrefix(t, "Proc-Type:") {
			return true
		}
	}
	return false
}

// commentMark begins a line of a comment. A slash alone may be of a key.
var commentMark = lazyregexp.New(`^\s*(?:#|//|\*|;)\s`)

// uncommented is a line without the mark of a comment, in which a key may stand too.
func uncommented(line string) string { return line[len(commentMark.FindString(line)):] }

// keyEnd is the number of the last line of a key: that of its footer, or the last before what is no text of a key. Its lines begin and end alike, as the header tells: with
// the mark of a comment or without, and in quotes where the header has its own. Others may be code between them. Behind the last line of its text, which is short or ends
// in the sign that base64 is filled up with, only a footer follows; without one that line is no part of the key, and neither is a word in small letters, which may be a
// command.
func (f *file) keyEnd(i int) int {
	end, last := f.lines[i].New, f.lines[i].New
	header := f.lines[i].Text
	behind := header[privateKeyIn(header)[1]:]
	if strings.Contains(header, keyFooter) || !keyText.MatchString(behind) {
		return end
	}
	mark, quote := strings.TrimSpace(commentMark.FindString(header)), ""
	if from := strings.IndexAny(behind, quotes); from >= 0 {
		quote = behind[from : strings.LastIndexAny(behind, quotes)+1]
	}
	done := false
	for _, l := range f.lines[i+1:] {
		own := commentMark.FindString(l.Text)
		m := keyText.FindStringSubmatch(l.Text[len(own):])
		if l.New != last+1 || m == nil {
			break
		}
		last = l.New
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		const signs = " \t\r\\+.,;)"
		text, footer := m[2], strings.HasPrefix(m[2], keyFooter)
		before, after := strings.Trim(m[1], signs), strings.Trim(m[3], signs)
		if strings.TrimSpace(own) != mark || footer && before != quote || !footer && before+after != quote+quote {
			break
		}
		switch {
		case footer:
			return last
		case text == "" || strings.Contains(text, ": "):
		case done && text[0] != '=', strings.Trim(text, "abcdefghijklmnopqrstuvwxyz/") == "":
			return end
		case len(text) < shortText || strings.HasSuffix(text, "="):
			done = true
		case !done:
			end = last
		}
	}
	return end
}

// shortText is how many bytes less than which only the last line of a key's text has.
const shortText = 40

const (
	// keyFooter begins the last line of a key.
	keyFooter = "-----END"
	quotes    = "\"'`"
)

// keyText is a line of a key behind its header, alone or as a text of a program: base64, the sum of an armour, a word about the key in a line of its own, or the footer.
var keyText = lazyregexp.New(`^([\s"'` + "`" + `+.]*)([A-Za-z0-9+/]*={0,2}|=[A-Za-z0-9+/]{4}|(?:Proc-Type|DEK-Info|Version|Comment): [\w ,.:/()-]*|-----END [A-Z0-9 ]+-----)(?:\\[nr])*([\s"'` + "`" + `+,;.)\\]*)$`)

// keyRun is a key in one text: its header, remarks, base64 in lines of shortText bytes and more and a last one, and the footer, with blanks or escaped line ends between.
var keyRun = lazyregexp.New(`(?:-----BEGIN [A-Z0-9 ]+-----(?:\\{1,4}[nrt]| )*)?(?:(?:Proc-Type: [\w,]+|DEK-Info: [\w,-]+)(?:\\{1,4}[nrt]| )*)*(?:[A-Za-z0-9+/_%]{40,}(?:\\{1,4}[nrt]| )*)*([A-Za-z0-9+/_%]{0,39}={0,2})(?:\\{1,4}[nrt]| )*(?:-----END [A-Z0-9 ]+-----(?:\\{1,4}[nrt]| )*)?`)

// keyPart is the longest such run of a line. A short line of small letters may be a command, as in keyEnd.
func keyPart(line string) (longest sanitize.Span) {
	at := len(line) - len(uncommented(line))
	for _, m := range keyRun.FindAllStringSubmatchIndex(line[at:], -1) {
		if last := line[at+m[2] : at+m[3]]; last != "" && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz/") == "" {
			m[1] = m[2]
		}
		if m[1]-m[0] > longest.End-longest.Start {
			longest = sanitize.Span{Start: at + m[0], End: at + m[1]}
		}
	}
	return longest
}

// lockLike files are full of digests.
func lockLike(p string) bool {
	return strings.HasSuffix(p, ".lock") || strings.HasSuffix(p, "-lock.json") || strings.HasSuffix(p, ".sum") || strings.HasSuffix(p, ".svg")
}
