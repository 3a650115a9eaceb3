package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/widetables"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// assets serves the style sheet and the scripts, which are part of the program.
func assets() http.Handler {
	files := http.FileServerFS(assetFiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, err := fs.Stat(assetFiles, strings.TrimPrefix(path.Clean(r.URL.Path), "/")); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=3600")
		files.ServeHTTP(w, r)
	})
}

// view is what every page is given.
type view struct {
	Title   string
	Section string
	Data    any
	// What follows is filled in by render. Deciding is true where policies can be changed.
	Deciding bool
	// Explaining is true where settings can be resolved.
	Explaining bool
	Visitor    *visitor
	Now        time.Time
}

// templates are the pages, each with the frame around it.
var templates = sync.OnceValue(parse)

func parse() map[string]*template.Template {
	shared := template.Must(template.New("frame").Funcs(functions).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	out := map[string]*template.Template{}
	for _, name := range names {
		switch short := strings.TrimSuffix(path.Base(name), ".html"); short {
		case "frame", "parts":
		default:
			out[short] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, name))
		}
	}
	return out
}

var functions = template.FuncMap{
	"ago": ago, "took": took, "dollars": dollars, "bill": bill, "spent": spent, "count": count, "short": short, "tone": tone, "words": progress.Stands, "text": text,
	"percent": percent, "plural": plural, "runLink": runLink, "pullLink": pullLink, "source": source, "priority": func(p review.Priority) string { return strings.ToLower(string(p)) },
	"seconds": func(s float64) string { return took(time.Duration(s * float64(time.Second))) },
	"stamp":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"add":     func(a, b int) int { return a + b },
	"sub":     func(a, b int) int { return a - b },
	"mul":     func(a, b int) int { return a * b },
	"days":    func(s string) string { return strings.TrimSuffix(s, "d") + " days" },
	"said":    func(w word, now time.Time) spokenAt { return spokenAt{w, now} },
	"at":      func(t, now time.Time) moment { return moment{t, now} },
	"outcome": progress.Kind,
	"state":   func(s review.AgentState) string { return states[s] }, "tokens": tokens, "cost": cost, "effect": func(s store.OutboxState) string { return effectStates[s] },
	"bound":      func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) },
	"policyLink": func(name string) string { return repoLink("policies", name) }, "settingsLink": func(name string) string { return repoLink("settings", name) },
	"previewLink": func(name string) string { return repoLink("previews", name) }, "noticedLink": noticedLink,
	"gateTone": func(s review.GateState) string { return gateTones[s] }, "target": func(repo string, pr int) string { return repo + "#" + strconv.Itoa(pr) },
	"repoPath": repoPath, "changes": func(list []policy.Change, now time.Time) changes { return changes{list, now} },
	"place": func(s string) string { return strings.TrimPrefix(s, "github.com/") }, "runShort": runShort, "subjectLink": subjectLink, "becameOf": func(outcome string) string { return progress.Kind(review.Outcome(outcome)) }, "consensus": consensus,
	"web": web, "approved": func(row *stats.Row) int { return row.Outcomes[review.Converged] }, "became": became, "posted": posted, "becameTone": func(b review.Became) string { return becameTones[b] },
}

// runShort is the part of a run's id that tells it from others.
func runShort(run string) string {
	_, short, _ := strings.Cut(run, "_")
	return cmp.Or(short, run)
}

// consensus is a verdict in the words of runs that end with it.
func consensus(c string) string {
	switch review.Conclusion(c) {
	case review.Approve:
		return progress.Kind(review.Converged)
	case review.RequestChanges, review.NeedsMajorWork:
		return progress.Kind(review.ChangesRequested)
	}
	return c
}

// changes are those of policies, beside the time at which the page is made.
type changes struct {
	List []policy.Change
	Now  time.Time
}

// spokenAt is what somebody said, beside the time at which the page is made.
type spokenAt struct {
	word
	Now time.Time
}

// moment is a time beside the one at which the page is made.
type moment struct{ T, Now time.Time }

// states are how the state of an agent is coloured, effectStates how that of an effect is called.
var (
	states = map[review.AgentState]string{
		review.AgentWaiting: "quiet", review.AgentRunning: "live", review.AgentComplete: "good", review.AgentDegraded: "warn", review.AgentFailed: "bad",
	}
	effectStates = map[store.OutboxState]string{
		store.StateIntent: "not sent yet", store.StateSent: "sent, not confirmed", store.StateAcked: "done", store.StateAbsent: "not there, to be sent again",
	}
)

// gateTones are how commit statuses are coloured.
var gateTones = map[review.GateState]string{review.GateSuccess: "good", review.GateFailure: "bad", review.GateError: "warn"}

// tokens and cost are what an agent spent; nothing where nobody knows.
func tokens(u review.Usage) string {
	if u.InputTokens == nil && u.OutputTokens == nil {
		return ""
	}
	return count(value(u.InputTokens) + value(u.OutputTokens))
}

func cost(u review.Usage) string {
	switch {
	case u.CostUSD != nil:
		return dollars(*u.CostUSD)
	case u.LLMCalls > 0:
		return "unknown"
	}
	return ""
}

// web is an address that a page may link to; empty for any other.
func web(ref string) string {
	if u, err := url.Parse(ref); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		return ref
	}
	return ""
}

// render writes a page. Nothing is written of one that fails.
func (d *Dashboard) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	if who, ok := d.sessions.Get(r.Context(), "visitor").(visitor); ok {
		v.Visitor = &who
	}
	v.Now, v.Deciding, v.Explaining = d.Now(), d.Policies != nil, d.Settings != nil
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "frame", v); err != nil {
		d.Log.Error("a page could not be made", "page", name, "err", err)
		http.Error(w, "This page could not be made. The log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever asked may be gone
}

// refuse says in one sentence why there is no page.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	d.render(w, r, status, "refused", view{Title: http.StatusText(status), Data: why})
}

// fault is a page that could not be made; the log says why, the visitor does not hear of it.
func (d *Dashboard) fault(w http.ResponseWriter, r *http.Request, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, "The form is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	if r.Context().Err() == nil {
		d.Log.Error("a page could not be made", "path", r.URL.Path, "err", err)
	}
	http.Error(w, "This page could not be made. The log says why.", http.StatusInternalServerError)
}

// reports renders Markdown; markdown lets of it pass what a report is made of. Raw HTML passes goldmark, as on GitHub, and then the
// policy: no images, no forms, no styles, links to http(s) alone.
var (
	reports = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()),
		goldmark.WithParserOptions(parser.WithParagraphTransformers(util.Prioritized(widetables.Bounded{}, 100))))
	markdown = sync.OnceValue(passing)
)

func passing() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del", "b", "i", "sub", "sup", "kbd", "table", "thead", "tbody", "tr", "th", "td", "details", "summary")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
}

// rendered is Markdown as a part of a page.
func rendered(source []byte) template.HTML {
	var b bytes.Buffer
	if err := reports.Convert(source, &b); err != nil {
		return template.HTML(template.HTMLEscapeString(string(source))) //nolint:gosec // escaped
	}
	return template.HTML(markdown().SanitizeBytes(b.Bytes())) //nolint:gosec // bluemonday
}

// Bounds of what agents wrote that a page shows as Markdown, in bytes: of one text, and of all of a page. Markdown can be written to cost the
// square of its length to read. What is beyond them is shown as text.
const (
	longestProse = 4 << 10
	mostProse    = 64 << 10
)

// prose shows the texts of agents on one page.
type prose struct{ shown int }

func (p *prose) show(s string) template.HTML {
	if len(s) > min(longestProse, mostProse-p.shown) {
		return template.HTML(`<p class="dim">Too long to be shown as Markdown.</p><pre>` + template.HTMLEscapeString(text(s)) + `</pre>`) //nolint:gosec // escaped
	}
	p.shown += len(s)
	return rendered([]byte(s))
}

// text is a line of somebody's, with what a browser would not show made visible.
func text(s string) string { return sanitize.Terminal(s) }

// ago says how long ago something was.
func ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return t.UTC().Format("2 Jan 2006")
}

// took is a length of time.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// dollars is an amount.
func dollars(v float64) string {
	switch {
	case v == 0:
		return "$0"
	case v < 0.01:
		return "< $0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

// bill is what agents cost, and where nobody knows all of it what is known.
func bill(b review.Bill) string {
	if b.Unknown && b.USD == 0 && len(b.Unpriced) > 0 {
		return "unknown (no price for " + text(strings.Join(b.Unpriced, ", ")) + ")"
	}
	return spent(b.USD, b.Unknown)
}

// spent is an amount that is not all where some of it is unknown.
func spent(usd float64, unknown bool) string {
	switch {
	case unknown && usd == 0:
		return "unknown"
	case unknown && usd < 0.01:
		return fmt.Sprintf("more than $%.4f", usd)
	case unknown:
		return "more than " + dollars(usd)
	}
	return dollars(usd)
}

// count is a number as people read it.
func count(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 100_000:
		return fmt.Sprintf("%d k", n/1_000)
	}
	return message.NewPrinter(language.English).Sprint(n)
}

// percent is a share; nothing of nothing.
func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", int(math.Round(100*float64(part)/float64(whole))))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// short is the beginning of a commit's id.
func short(sha string) string { return sha[:min(len(sha), 10)] }

func runLink(run string) string { return "/runs/" + url.PathEscape(run) }

// pullLink is our page of a pull request; empty for any other target.
func pullLink(t review.Target) string {
	if t.PR == 0 || t.Repo.Owner == "" {
		return ""
	}
	return "/pulls/" + path.Join(url.PathEscape(webHost(t.Repo)), url.PathEscape(t.Repo.Owner), url.PathEscape(t.Repo.Name), strconv.Itoa(t.PR))
}

func webHost(r review.Repo) string {
	if r.Host == "" {
		return "github.com"
	}
	return r.Host
}

// source is where lines of a file are seen on GitHub; empty where they are on no GitHub.
func source(t review.Target, head string, f review.Finding) string {
	if t.Repo.Owner == "" || t.Local() || f.File == "" || !commit.MatchString(head) {
		return ""
	}
	steps := strings.Split(spelling.Raw(f.File), "/")
	for i, s := range steps {
		steps[i] = url.PathEscape(s)
	}
	out := "https://" + webHost(t.Repo) + "/" + url.PathEscape(t.Repo.Owner) + "/" + url.PathEscape(t.Repo.Name) + "/blob/" + head + "/" + strings.Join(steps, "/")
	if f.Line != nil {
		out += fmt.Sprintf("#L%d", *f.Line)
	}
	return out
}

var commit = lazyregexp.New(`^[0-9a-f]{40,64}$`)
