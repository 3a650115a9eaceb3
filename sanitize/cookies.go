package sanitize

import (
	"net/url"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// cookiePairs are cookies as a browser sends them.
const cookiePairs = "((?:[^\\s=:;,/?\"'`(){}\\[\\]<>]+=[^\\s;\"'`\\\\]*(?:;\\s*)?)+)"

// pairValue is the value of one of them.
var pairValue = lazyregexp.New(`(?:^|;)\s*[^\s=;]+=([^\s;]+)`)

// cookieForms are the forms in which cookies are given their values. The group of each expression is what the next one looks at, and that of the last one is a value.
var cookieForms = []struct {
	words  []string
	narrow []*lazyregexp.Regexp
}{
	{[]string{"cookie"}, []*lazyregexp.Regexp{ // a header, a recording of one, document.cookie
		lazyregexp.New("(?i)cookies?\\\\?[\"'`]?\\s{0,4}(?::=|=>|[:=,])\\s{0,40}(?:- )?(?:\\\\?[\"']?value\\\\?[\"']?\\s{0,4}:\\s{0,4})?\\[?\\\\?[\"'`]?" + cookiePairs), pairValue}},
	{[]string{"curl"}, []*lazyregexp.Regexp{ // an option of the same command, whose lines a sign at their ends joins
		lazyregexp.New(`curl(?:\.exe)?([ \t](?:'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[\\^\x60]\r?\n|[^\n|;&'"])*)`),
		lazyregexp.New(`\s(?:-[a-zA-Z]*b\s*|--cookie[\s=]\s*)[$^\\]?["']?` + cookiePairs), pairValue}},
	{[]string{"cookies"}, []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)cookies["']?\s{0,4}[:=]\s{0,4}(?:dict\(|\{)([^{}()]*)`), lazyregexp.New(`[:=]\s{0,4}["']([^"'\n]+)["']`)}},
	{[]string{"httponly", "samesite"}, []*lazyregexp.Regexp{ // a browser's own list, a recording
		lazyregexp.New(`\{([^{}]*)\}`), lazyregexp.New(`(?is)^(.*(?:httponly|samesite).*)$`), lazyregexp.New(`(?i)\bvalue\\?["']?\s{0,4}:\s{0,4}\\?["']([^"'\n\\]+)`)}},
	{[]string{"\ttrue\t", "\tfalse\t"}, []*lazyregexp.Regexp{ // Netscape's file
		lazyregexp.New(`(?m)^[^\t\n]+\t(?:TRUE|FALSE)\t[^\t\n]*\t(?:TRUE|FALSE)\t[^\t\n]*\t[^\t\n]*\t(\S+)\r?$`)}},
	{[]string{"sessid", "jsessionid", "connect.sid", "asp.net_sessionid"}, []*lazyregexp.Regexp{
		lazyregexp.New("(?i)(?:sessid|jsessionid|connect\\.sid|asp\\.net_sessionid)\\\\?[\"'`]?\\s{0,4}[:=]\\s{0,4}\\\\?[\"'`]?([^\\s;,&\"'`\\\\]+)")}},
}

// cookieSpans are the drawn values that cookies are given (threats.md T903).
func cookieSpans(s, lower string) (out []Span) {
	for _, form := range cookieForms {
		if containsAny(lower, form.words) {
			out = drawnCookies(out, s, 0, len(s), form.narrow)
		}
	}
	return joinSpans(out)
}

func drawnCookies(out []Span, s string, from, to int, narrow []*lazyregexp.Regexp) []Span {
	if len(narrow) == 0 {
		if drawnCookie(s[from:to]) {
			out = append(out, Span{Start: from, End: to})
		}
		return out
	}
	for _, m := range narrow[0].FindAllStringSubmatchIndex(s[from:to], -1) {
		out = drawnCookies(out, s, from+m[2], from+m[3], narrow[1:])
	}
	return out
}

// drawnCookie reports whether the value of a cookie was drawn, or a part of it, as between a mark and a signature. A UUID may be anything's.
func drawnCookie(v string) bool {
	if plain, err := url.PathUnescape(v); err == nil && strings.Contains(v, "%") {
		v = plain
	}
	return (Random(v) || drawnIn(v)) && !digestWord.MatchString(v) && !isPublic(v)
}
