package sanitize

import (
	"bytes"
	"crypto/ed25519"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// A private key may be written by its numbers, each under a name of its own: as a JSON Web Key (RFC 7517), which has an octet string for a secret one, or in XML.

// numbersForm is a way to write keys by their numbers.
type numbersForm struct {
	// words stand in marks.
	words []string
	// mark says that what stands near it are numbers of a key, member is a private one of them, in its last group.
	mark, member *lazyregexp.Regexp
	// element is the one that holds the members, where it has to be open. Elsewhere members stand on both sides of a mark.
	element string
}

const (
	// numberText is a number in base64, of either alphabet; minNumber is how many bytes it has at least.
	numberText = `[0-9A-Za-z+/_=-]{22,}`
	minNumber  = 22
	// mixedNumber is the mean length of the pieces of a number, in hundredths of a byte, up to which it may be drawn: that of drawn ones is about 240.
	mixedNumber = 450
	// numbersReach is how far from a mark a member stands at most, in bytes: a key of 8192 bits with its certificate.
	numbersReach = 16 << 10
	// tagOpens and tagCloses stand around the name of an element, also in a text of XML or JSON.
	tagOpens, tagCloses = `(?:<|&lt;|\\u003[cC])(?:[A-Za-z][0-9A-Za-z]{0,15}:)?`, `(?:>|&gt;|\\u003[eE])`
	elementText         = tagCloses + `\s*([0-9A-Za-z+/=][0-9A-Za-z+/=\s]*)`
	// givenTo stands between a name and its value.
	givenTo = `\\*["'` + "`" + `]?\s*(?::|=>|=)\s*\\*["'` + "`" + `]?`
)

// keyElement begins and ends the numbers of a key in XML.
var keyElement = lazyregexp.New(`/?(?:[A-Za-z][0-9A-Za-z]{0,15}:)?[RD]SAKeyValue` + tagCloses)

var numbersForms = []numbersForm{
	{
		words:  []string{"kty", "Kty", "KTY", "InverseQ"},
		mark:   lazyregexp.New(`(?i)\bkty` + givenTo + `(?:RSA|EC|OKP|oct|AKP)\b|\bInverseQ` + givenTo),
		member: lazyregexp.New(`(?i)(?:^|[^0-9a-z_$.-])(?:d|p|q|dp|dq|qi|k|priv|InverseQ)` + givenTo + `(` + numberText + `)`),
	},
	{
		words: []string{"RSAKeyValue"}, mark: keyElement, element: "RSA",
		member: lazyregexp.New(tagOpens + `(?:D|P|Q|DP|DQ|InverseQ)` + elementText),
	},
	{
		words: []string{"DSAKeyValue"}, mark: keyElement, element: "DSA",
		member: lazyregexp.New(tagOpens + `X` + elementText),
	},
}

// keyNumbers are the private numbers of keys. The public ones and the names stay.
func keyNumbers(s string) (out []Span) {
	for _, f := range numbersForms {
		if containsAny(s, f.words) {
			out = append(out, f.find(s)...)
		}
	}
	return joinSpans(append(out, byteKeys(s)...))
}

// byteKeys are the private keys of Ed25519 that are written byte by byte, as Solana keeps them: 64 numbers in a row, of which the last 32 are the public key of the first 32. Nothing else is so.
func byteKeys(s string) (out []Span) {
	if strings.Count(s, ",") < ed25519.PrivateKeySize-1 {
		return nil
	}
	var list []byte
	from, to, long := 0, 0, false
	for i := 0; i <= len(s); i++ {
		if i < len(s) && strings.IndexByte(", \t\r\n", s[i]) >= 0 {
			continue
		}
		end := i
		for end < len(s) && alnum(s[end]) {
			end++
		}
		n, err := strconv.ParseUint(s[i:min(end, i+5)], 0, 8)
		switch {
		case err != nil || end > i+4: // something else stands here
			if len(list) == ed25519.PrivateKeySize && !long && bytes.Equal(ed25519.NewKeyFromSeed(list[:ed25519.SeedSize])[ed25519.SeedSize:], list[ed25519.SeedSize:]) {
				out = appendLines(out, s, from, to)
			}
			list, long = list[:0], false
		case len(list) == ed25519.PrivateKeySize:
			long = true
		default:
			if len(list) == 0 {
				from = i
			}
			list, to = append(list, byte(n)), end
		}
		i = max(i, end-1)
	}
	return out
}

func (f numbersForm) find(s string) (out []Span) {
	marks := f.mark.FindAllStringIndex(s, -1)
	if len(marks) == 0 {
		return nil
	}
	k := 0 // the first mark behind a member
	for _, m := range f.member.FindAllStringSubmatchIndex(s, -1) {
		for k < len(marks) && marks[k][0] < m[0] {
			k++
		}
		before := k > 0 && m[0]-marks[k-1][1] <= numbersReach
		if f.element != "" {
			before = before && s[marks[k-1][0]] != '/' && strings.Contains(s[marks[k-1][0]:marks[k-1][1]], f.element)
		}
		behind := f.element == "" && k < len(marks) && marks[k][0]-m[1] <= numbersReach
		if n := len(m); (before || behind) && f.number(s, m[n-2], m[n-1]) {
			out = appendLines(out, s, m[n-2], m[n-1])
		}
	}
	return out
}

// number reports whether the text from from to to may be a number that nobody made of words. Outside of elements one without quotes may be a name in code, unless it is long, has
// digits, and nothing is done with it.
func (f numbersForm) number(s string, from, to int) bool {
	v, most := s[from:to], mixedNumber
	if f.element == "" && strings.IndexByte("\"'`", s[from-1]) < 0 && (len(v) < minLooseRun || !hasDigit(v) || to < len(s) && strings.IndexByte(" \t\r\n,}", s[to]) < 0) {
		return false
	}
	if len(v) < minLooseRun && !hasDigit(v) {
		most = mixedPiece
	}
	return len(v) >= minNumber && strings.ToUpper(v) != v && strings.ToLower(v) != v && len(v)*100 <= pieces(v)*most
}
