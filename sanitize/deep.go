package sanitize

import (
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

// redactDeep is the second pass over what our own patterns left (gitleaks 8.30.1, 222 rules). It redacts by the text of
// the secret, since positions are unreliable. Only lines that hold a long word with a digit, and their neighbours, are
// scanned, so ordinary prose costs nothing. When its rules cannot be loaded every candidate line is redacted: fail closed.
func redactDeep(s string) string {
	part := candidates(s)
	if part == "" {
		return s
	}
	d, err := deepDetector()
	if err != nil {
		return candidate.ReplaceAllString(s, Redacted)
	}
	deepLock.Lock()
	found := d.DetectString(part)
	deepLock.Unlock()
	for _, f := range found {
		for _, piece := range strings.Split(f.Secret, "\n") {
			if piece = strings.TrimSpace(piece); len(piece) >= 6 && piece != Redacted {
				s = strings.ReplaceAll(s, piece, Redacted)
			}
		}
	}
	return s
}

func candidates(s string) string {
	lines := strings.Split(s, "\n")
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
