package evidence

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/sanitize"
)

const (
	// maskedMost bounds what one mask in a quote may stand for, in bytes: a private key of 4,096 bits.
	maskedMost = 4096
	// aroundMask is how much of what stands around a quote with masks is looked at, in bytes.
	aroundMask = 80
	// quoteTries bounds at how many places of a file the beginning of a quote with masks is tried.
	quoteTries = 100
	// triedMost bounds how much text is read at all these places, in bytes: masks follow each other through a whole file.
	triedMost = 2 << 20
	// ruledMost bounds how much text the rules for secrets read, around what a quote with masks may be of, for all that one answer claims, in bytes. They
	// read slowly.
	ruledMost = 4 << 20
)

// quotes reports whether a folded quote stands in a folded text. A mask within the quote says that a reviewer left a secret
// out, or was shown none: it stands for text in which, with what is around it, the rules find a secret, or the run learned of one.
func (s *search) quotes(text, quote string) bool {
	stands, _ := s.looked(text, quote)
	return stands
}

// looked is quotes, and whether all places were tried at which the quote may stand.
func (s *search) looked(text, quote string) (stands, all bool) {
	if strings.Contains(text, quote) && !silent(quote) { // also with the word itself
		return true, true
	}
	pieces := strings.Split(quote, sanitize.Redacted)
	for i := range pieces {
		pieces[i] = strings.TrimSpace(pieces[i])
	}
	pieces = slices.DeleteFunc(pieces, func(s string) bool { return s == "" })
	switch len(pieces) {
	case 0:
		return false, true
	case 1:
		return strings.Contains(text, pieces[0]), true
	}
	stands, all, _ = s.around(text, pieces)
	return stands, all
}

// silent reports whether a quote says nothing: it is blank but for masks.
func silent(quote string) bool {
	return strings.TrimSpace(strings.ReplaceAll(quote, sanitize.Redacted, "")) == ""
}

// around reports whether pieces of a quote stand in a text with a secret in or between them, whether all places were tried, and how much of the
// text was, in bytes.
func (s *search) around(text string, pieces []string) (stands, all bool, tried int) {
	for at, tries := 0, 0; tries < quoteTries && tried < triedMost; tries++ {
		i := strings.Index(text[at:], pieces[0])
		if i < 0 {
			return false, true, tried
		}
		at += i
		n, ok := reach(text[at:min(len(text), at+triedMost)], pieces)
		tried += n
		if ok {
			within := text[max(0, at-aroundMask):min(len(text), at+n+aroundMask)]
			if s.ruled+len(within) > ruledMost {
				return false, false, tried
			}
			if s.ruled += len(within); s.known.Redact(within) != within {
				return true, true, tried
			}
		}
		at++
	}
	return false, false, tried
}

// reach is how far pieces go that stand in text in order, none further on than a mask is wide; not ok when one of them does not.
func reach(text string, pieces []string) (n int, ok bool) {
	for _, p := range pieces {
		within := text[n:min(len(text), n+maskedMost+len(p))]
		i := strings.Index(within, p)
		if i < 0 {
			return n + len(within), false
		}
		n += i + len(p)
	}
	return n, true
}
