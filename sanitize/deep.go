package sanitize

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// deepDetector is gitleaks with its own rules, loaded at the first use: 85 ms that most invocations never pay.
var deepDetector = sync.OnceValues(func() (*detect.Detector, error) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return nil, err
	}
	d.IgnoreGitleaksAllow = true // otherwise it obeys "gitleaks:allow" written in the text itself
	return d, nil
})

// Warm loads the rules of the second pass, so that nobody waits for them later.
func Warm() { _, _ = deepDetector() } // whoever needs them is told of an error

// deepLock serialises scans: the detector counts and caches while it reads.
var deepLock sync.Mutex

// candidate is a line gitleaks could find anything in: a long word with a digit, which nearly all of its rules ask for.
var candidate = lazyregexp.New(`[0-9A-Za-z_+/=.~-]{10,}`)

// Bounds of the second pass. A rule of gitleaks runs over the whole of a text that holds one of its keywords, so a text with
// all of them would cost seconds for each 100 KB.
const (
	// deepLines is how many lines are read at a time.
	deepLines = 8
	// deepRules is how many rules may have a keyword in them. Ordinary text has a handful; where there are more, every word
	// that could be a secret is taken for one.
	deepRules = 8
)

// deepKeywords are the words that make gitleaks try a rule, by rule.
var deepKeywords = sync.OnceValue(func() [][]string {
	var out [][]string
	if d, err := deepDetector(); err == nil {
		for _, r := range d.Config.Rules {
			out = append(out, r.Keywords)
		}
	}
	return out
})

// redactDeep is the second pass over what our own patterns left (gitleaks 8.30.1, 222 rules). It redacts by the text of
// the secret, since positions are unreliable. Only lines that hold a long word with a digit, and their neighbours, are
// scanned, so ordinary prose costs nothing. When its rules cannot be loaded, or too many of them would have to be tried, every
// candidate is redacted: fail closed.
func redactDeep(s string) string {
	if !likely(s) { // line ends are no token characters
		return s
	}
	lines := strings.Split(s, "\n")
	secrets := map[string]bool{}
	for i := 0; i < len(lines); i += deepLines {
		chunk := lines[i:min(i+deepLines, len(lines))]
		part := candidates(chunk)
		if part == "" {
			continue
		}
		found, ok := deepSecrets(part)
		if !ok {
			for j, line := range chunk {
				if likely(line) {
					chunk[j] = candidate.ReplaceAllStringFunc(line, func(word string) string {
						if likely(word) {
							return Redacted
						}
						return word
					})
				}
			}
		}
		for _, piece := range found {
			secrets[piece] = true
		}
	}
	s = strings.Join(lines, "\n")
	if len(secrets) == 0 {
		return s
	}
	pieces := slices.SortedFunc(maps.Keys(secrets), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, piece := range pieces {
		pairs = append(pairs, piece, Redacted)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// deepSecrets are the lines of the secrets that gitleaks finds. ok is false when it was not asked.
func deepSecrets(part string) (pieces []string, ok bool) {
	d, err := deepDetector()
	if err != nil {
		return nil, false
	}
	lower, rules := strings.ToLower(part), 0
	for _, words := range deepKeywords() {
		if len(words) == 0 || containsAny(lower, words) {
			rules++
		}
	}
	if rules > deepRules {
		return nil, false
	}
	deepLock.Lock()
	found := d.DetectString(part)
	deepLock.Unlock()
	for _, f := range found {
		for piece := range strings.SplitSeq(f.Secret, "\n") {
			if piece = strings.TrimSpace(piece); len(piece) >= 6 && piece != Redacted {
				pieces = append(pieces, piece)
			}
		}
	}
	return pieces, true
}

// candidates are the lines that are likely to hold something, and their neighbours.
func candidates(lines []string) string {
	var b strings.Builder
	last := -1
	for i, line := range lines {
		if !likely(line) {
			continue
		}
		for j := max(last+1, i-1); j <= min(i+1, len(lines)-1); j++ {
			b.WriteString(lines[j])
			b.WriteByte('\n')
			last = j
		}
	}
	return b.String()
}

// likely reports whether a line holds a word of ten or more token characters with a digit in it.
func likely(line string) bool {
	run, digit := 0, false
	for i := range len(line) {
		c := line[i]
		if wordByte(c) || strings.IndexByte("+/=.~", c) >= 0 {
			run++
			digit = digit || (c >= '0' && c <= '9')
			if run >= 10 && digit {
				return true
			}
			continue
		}
		run, digit = 0, false
	}
	return false
}
