package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/sanitize"
)

// Trouble is what the error of a model endpoint is about, and so what a person can do.
type Trouble string

// The kinds of trouble.
const (
	TroubleKey     Trouble = "key"     // it refuses the key, or what the key may use
	TroubleQuota   Trouble = "quota"   // the account has no money or quota left; waiting does not help
	TroubleRate    Trouble = "rate"    // it is asked too often; waiting helps
	TroubleModel   Trouble = "model"   // it does not serve the model
	TroubleAddress Trouble = "address" // there is no API at the address: HTML, a redirect, an unknown path
	TroubleLength  Trouble = "length"  // the request is longer than the model takes
	TroubleRequest Trouble = "request" // it refuses something else in the request
	TroubleServer  Trouble = "server"  // it failed
)

// EndpointError says that a model endpoint answered, and that its answer is an error.
type EndpointError struct {
	Upstream string
	// BaseURL is what the endpoint was configured with. It holds no password.
	BaseURL string
	Status  int
	Trouble Trouble
	// Said are the endpoint's own words, on one line, cut, without secrets; empty when it had none.
	Said string
	// Model is the one that was asked for; empty where none was.
	Model string
	// Near are served models whose names are like Model's.
	Near []string
	// Suggested is the address at which there is an API; empty when that is not known.
	Suggested string
	// Wait is how long the endpoint asks to be left alone; 0 when it does not say.
	Wait time.Duration
}

// troubles say what an endpoint does, as everybody may read it.
var troubles = map[Trouble]string{
	TroubleKey: "refuses the key", TroubleQuota: "says that the quota is used up", TroubleRate: "is asked too often",
	TroubleModel: "does not serve the model", TroubleAddress: "has no API at its address",
	TroubleLength: "takes no request of this length", TroubleRequest: "refuses the request", TroubleServer: "failed",
}

// Error names the endpoint, what is wrong, the status, and the endpoint's words.
func (e *EndpointError) Error() string {
	what := troubles[e.Trouble]
	switch e.Trouble {
	case TroubleModel:
		what = "does not serve model " + sanitize.Line(e.Model, maxModelName)
	case TroubleAddress:
		what = "has no API at " + e.BaseURL
	}
	s := fmt.Sprintf("model endpoint %s %s: HTTP %d", e.Upstream, what, e.Status)
	if e.Said != "" {
		s += ": " + e.Said
	}
	return s
}

// Next is what a person can do about it.
func (e *EndpointError) Next() string {
	switch e.Trouble {
	case TroubleQuota:
		return "add credit to the key's account or raise its limit, or use another key (OPENAI_API_KEY)"
	case TroubleRate:
		wait := "a minute"
		if e.Wait > 0 {
			wait = (e.Wait + time.Second - 1).Truncate(time.Second).String()
		}
		return "wait " + wait + ", then run it again; fewer reviewers ask less at once"
	case TroubleModel:
		if len(e.Near) > 0 {
			return "use --model " + strings.Join(e.Near, " or ") + "; prloop models lists what is served"
		}
		return "use --model with one that prloop models lists"
	case TroubleAddress:
		if e.Suggested != "" {
			return "OPENAI_BASE_URL=" + e.Suggested
		}
		return "set OPENAI_BASE_URL to the address of the API, which often ends in /v1"
	case TroubleLength:
		return "lower context.budget_tokens, or use a model that takes more (--model)"
	case TroubleRequest:
		return "use another model (--model) or endpoint (--base-url)"
	case TroubleServer:
		return "try again in a few minutes, or use another endpoint (--base-url)"
	}
	return "check OPENAI_API_KEY and OPENAI_BASE_URL, or use --reviewers static"
}

// movesOn reports whether another model may answer instead: what is wrong is wrong with the endpoint, not with the request.
func (e *EndpointError) movesOn() bool {
	return e.Trouble != TroubleRequest && e.Trouble != TroubleLength
}

// bodyOf reads an answer that is in memory already, and leaves it to be read again.
func bodyOf(resp *http.Response) []byte {
	data, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(data))
	if err != nil {
		return nil // not reached: it is in memory
	}
	return data
}

// judge gives the error an answer is; nil for one that is none. model is the one that was asked for, if one was.
func (g *Gateway) judge(u *upstream, resp *http.Response, model string) error {
	if streams(resp) {
		return nil
	}
	body := bodyOf(resp)
	if resp.StatusCode == http.StatusOK && !isPage(resp, body) {
		return nil
	}
	said := wordsOf(resp, body)
	e := &EndpointError{
		Upstream: u.Name, BaseURL: u.BaseURL, Status: resp.StatusCode, Trouble: troubleOf(resp, body, model != ""), Model: model,
		Said: unquoted(sanitize.Line(string(u.Key.scrub([]byte(said))), saidLimit), u.Key), Wait: max(0, retryAfter(resp)),
	}
	if e.Trouble == TroubleModel {
		e.Near = near(model, g.servedBy(u))
	}
	return e
}

// saidLimit bounds an endpoint's own words in an error, in characters.
const saidLimit = 300

// isPage reports whether an answer is a page of HTML.
func isPage(resp *http.Response, body []byte) bool {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return true
	}
	start := strings.ToLower(string(bytes.TrimSpace(body[:min(len(body), 200)])))
	return strings.HasPrefix(start, "<!doctype") || strings.HasPrefix(start, "<html")
}

// errorWire are the shapes in which endpoints tell errors.
type errorWire struct {
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    string          `json:"type"`
	Code    any             `json:"code"`
}

// toldError is an error in an endpoint's words.
type toldError struct{ message, kind, code string }

// told reads the error out of a body; false when it holds none.
func told(body []byte) (toldError, bool) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var w errorWire
	if json.Unmarshal(body, &w) != nil {
		return toldError{}, false
	}
	for _, inner := range []json.RawMessage{w.Error, w.Detail} {
		var text string
		var deeper errorWire
		switch {
		case len(inner) == 0 || string(inner) == "null":
		case json.Unmarshal(inner, &text) == nil:
			return toldError{message: text}, true
		case json.Unmarshal(inner, &deeper) == nil:
			return toldError{deeper.Message, deeper.Type, codeOf(deeper.Code)}, true
		}
	}
	return toldError{w.Message, w.Type, codeOf(w.Code)}, w.Message != ""
}

func codeOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

var pageTitle = lazyregexp.New(`(?is)<title[^>]*>([^<]*)</title>`)

// wordsOf are an endpoint's own words about an error.
func wordsOf(resp *http.Response, body []byte) string {
	if isPage(resp, body) {
		if m := pageTitle.FindStringSubmatch(string(body)); m != nil {
			return fmt.Sprintf("a page of HTML, %q", strings.Join(strings.Fields(m[1]), " "))
		}
		return "a page of HTML"
	}
	if 300 <= resp.StatusCode && resp.StatusCode < 400 {
		return "redirects are not followed"
	}
	if e, ok := told(body); ok {
		return e.message
	}
	return string(body)
}

// hidesKey finds words in which an endpoint quotes a part of a key.
var hidesKey = lazyregexp.New(`\S*\*{2,}\S*`)

// quotedKey is how many bytes of a key in a row are a quotation of it.
const quotedKey = 6

// unquoted takes out words that quote the key in part.
func unquoted(said string, key Secret) string {
	said = hidesKey.ReplaceAllString(said, sanitize.Redacted)
	if len(key.s) < quotedKey || key.s == broker.Held {
		return said
	}
	words := strings.Fields(said)
	for i, w := range words {
		for at := 0; at+quotedKey <= len(key.s); at++ {
			if strings.Contains(w, key.s[at:at+quotedKey]) {
				words[i] = sanitize.Redacted
				break
			}
		}
	}
	return strings.Join(words, " ")
}

var (
	noModelWords = lazyregexp.New(`(?i)\bmodels?\b.*\b(not found|not exist|not available|not supported|unknown|no access|not have access)\b|\b(unknown|invalid|no such|not a valid) model\b|no endpoints found`)
	noMoneyWords = lazyregexp.New(`(?i)quota|billing|credit|balance|payment`)
	laterWords   = lazyregexp.New(`(?i)(try again|retry) in |per minute|requests per|tokens per`)
	tooLongWords = lazyregexp.New(`(?i)context.?(length|window)|maximum (context|prompt)|prompt is too long|too many (input )?tokens|exceeds? the (model|maximum|context)`)
)

// troubleOf tells what an error is about by its status, code and words. asked is true when a model was asked.
func troubleOf(resp *http.Response, body []byte, asked bool) Trouble {
	e, _ := told(body)
	words := cmp.Or(e.message, string(body[:min(len(body), 2000)]))
	page := isPage(resp, body)
	noModel := asked && !page && (e.code == "model_not_found" || noModelWords.MatchString(words))
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden && !noModel:
		return TroubleKey
	case s == http.StatusPaymentRequired:
		return TroubleQuota
	case s == http.StatusTooManyRequests:
		if quotaIsOver(resp, e, words) {
			return TroubleQuota
		}
		return TroubleRate
	case s >= 500:
		return TroubleServer
	case noModel && s >= 400:
		return TroubleModel
	case page || s < 400 || s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusGone:
		return TroubleAddress
	case s == http.StatusRequestEntityTooLarge || e.code == "context_length_exceeded" || tooLongWords.MatchString(words):
		return TroubleLength
	}
	return TroubleRequest
}

// quotaIsOver tells an exhausted account from one that is called too often; waiting does not help the first. Some endpoints say
// quota of both, and of the second when it is over.
func quotaIsOver(resp *http.Response, e toldError, words string) bool {
	if e.code == "insufficient_quota" || e.kind == "insufficient_quota" {
		return true
	}
	return noMoneyWords.MatchString(words) && retryAfter(resp) == 0 && !laterWords.MatchString(words)
}

// outOfQuota reports whether an answer says that an account is exhausted.
func outOfQuota(resp *http.Response) bool {
	body := bodyOf(resp)
	e, _ := told(body)
	return quotaIsOver(resp, e, cmp.Or(e.message, string(body[:min(len(body), 2000)])))
}

// nearMost is how many served models an error names.
const nearMost = 3

// near are the served models whose names are like a model's: first those that differ by who makes it, as in openai/gpt-4.1.
func near(model string, served []string) []string {
	plain := func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
	var found []string
	for _, s := range served {
		if s != model && strings.EqualFold(plain(s), plain(model)) {
			found = append(found, s)
		}
	}
	for _, s := range nearest.Names(model, served, nearMost) {
		if !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	for i, s := range found {
		found[i] = sanitize.Line(s, maxModelName)
	}
	return found[:min(len(found), nearMost)]
}
