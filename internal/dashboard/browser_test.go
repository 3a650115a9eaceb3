package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/npmagent"
	"github.com/prloop/prloop/review"
)

// chromium starts a browser with nothing in it. alerts counts what scripts popped up, and the console's errors.
func chromium(t *testing.T) (ctx context.Context, alerts *[]string) {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); err == nil {
			program = at
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium on this machine (Debian's package is chromium)")
	}
	if filters := new(sandbox.Machine).Probe(t.Context()).Part(sandbox.PartSeccomp); goruntime.GOOS == "linux" && !filters.OK {
		t.Skip("Chromium confines itself by system call filters, and would wait for ever: " + filters.Detail)
	}
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // the browser may still be writing into it
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.UserDataDir(profile))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	alerts = new([]string)
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *cdppage.EventJavascriptDialogOpening:
			*alerts = append(*alerts, "dialog: "+e.Message)
			go func() { _ = chromedp.Run(ctx, cdppage.HandleJavaScriptDialog(true)) }()
		case *runtime.EventExceptionThrown:
			*alerts = append(*alerts, "exception: "+e.ExceptionDetails.Error())
		}
	})
	return ctx, alerts
}

// TestInABrowser is what somebody does with the dashboard: sign in at GitHub, read a finding, search, watch a run, cancel it, sign out.
func TestInABrowser(t *testing.T) {
	ctx, alerts := chromium(t)
	st := newState(t)
	st.scanned(t, at("acme", "shop", 9), review.Observation{Tag: "migration", Text: "The table is locked " + hostile}, review.Observation{Tag: "tests", Text: "Nothing tests it."})
	done := st.begin(t, at("acme", "shop", 7))
	st.end(t, done, review.ChangesRequested, "1 P1 must be fixed "+hostile, made(review.P1, "Total divides by zero "+hostile, "security"))
	live := st.begin(t, at("acme", "shop", 8))
	feed := new(Feed)
	emit, over := feed.Run(live.ID)
	emit(review.Event{Kind: review.EventRound, Round: 1, Rounds: 3})
	github := fakeGitHub(t)
	control := &cancelled{}
	s := st.serve(t, Options{Feed: feed, Control: control, GitHub: signin.GitHub{Host: "github.com", Web: github, API: github, ID: "client", Secret: "hush"}})
	var first, found, now, last string
	text := func(of string, to *string) chromedp.Action { return chromedp.Text(of, to, chromedp.ByQuery) }
	run(t, ctx, chromedp.Navigate(s.url), chromedp.Click(`a[href="/sign-in/github"]`), chromedp.WaitVisible("#list table"),
		chromedp.Click(fmt.Sprintf(`a[aria-label="Run %s"]`, done.ID)), chromedp.WaitVisible(".finding"), text("main", &first))
	for _, want := range []string{"Total divides by zero <script>alert(1)</script>", "return sum / len(items)", "1 P1 must be fixed"} {
		if !strings.Contains(first, want) {
			t.Errorf("the page of a run has no %q:\n%s", want, first)
		}
	}
	run(t, ctx, chromedp.Navigate(s.url+"/runs"), chromedp.SendKeys(`input[name=q]`, "acme/shop#8\r"), chromedp.WaitVisible(`input[value="acme/shop#8"]`), text("#list", &found))
	if !strings.Contains(found, live.ReviewID) || strings.Contains(found, done.ReviewID) {
		t.Errorf("a search finds\n%s", found)
	}
	run(t, ctx, chromedp.Navigate(s.url+"/observations"), chromedp.SendKeys(`input[name=q]`, "LOCKED\r"), chromedp.WaitVisible(`input[value="LOCKED"]`), text(".noticed", &found))
	if !strings.Contains(found, "The table is locked <script>alert(1)</script>") || strings.Contains(found, "Nothing tests it.") {
		t.Errorf("a search of observations finds\n%s", found)
	}
	run(t, ctx, chromedp.Navigate(s.url+runLink(live.ID)), chromedp.WaitVisible(".now"))
	emit(review.Event{Kind: review.EventProgress, Agent: "security", Message: "reads total.go"})
	run(t, ctx, chromedp.WaitVisible(".now li"), text(".now", &now))
	if !strings.Contains(now, "reads total.go") {
		t.Errorf("what goes on does not show:\n%s", now)
	}
	if _, err := chromedp.RunResponse(ctx, chromedp.Click("button.danger")); err != nil { // and the page that follows is there
		t.Fatal(err)
	}
	eventually.True(t, "the run is cancelled", func() bool { return control.said() == live.ID })
	st.end(t, live, review.Failed, "It was cancelled")
	over()
	run(t, ctx, chromedp.Poll(`document.querySelector("#report") !== null`, nil), text("main", &last)) // the page shows the end by itself
	if !strings.Contains(last, "It was cancelled") {
		t.Errorf("the end of a run does not show:\n%s", last)
	}
	run(t, ctx, chromedp.Click(".who button"), chromedp.WaitVisible(`a[href="/sign-in/github"]`), chromedp.Navigate(s.url+runLink(done.ID)), chromedp.WaitVisible(`a[href="/sign-in/github"]`))
	if len(*alerts) > 0 {
		t.Errorf("scripts: %q", *alerts)
	}
}

// TestAPolicyInABrowser is what somebody does with a policy: change it, see a preview in place, save it, be refused once the session is over, and once
// they are no administrator any more.
func TestAPolicyInABrowser(t *testing.T) {
	ctx, alerts := chromium(t)
	s, pages := furnished(t)
	var preview, saved, late string
	run(t, ctx, chromedp.Navigate(s.Link()), chromedp.WaitReady("main"), chromedp.Navigate(s.url+pages["policy"]), chromedp.WaitReady("form.policy"),
		chromedp.Click(`input[name=gating_policy][value=presence]`), chromedp.Click(`button[formaction]`), chromedp.WaitVisible("#preview table"), chromedp.Text("#preview", &preview, chromedp.ByQuery))
	if !strings.Contains(preview, "the gate waits for the review alone") || !strings.Contains(preview, "acme/shop#") {
		t.Errorf("the preview shows\n%s", preview)
	}
	var still bool
	run(t, ctx, chromedp.Evaluate(`location.pathname.startsWith("/policies/") && document.querySelector("input[name=gating_policy][value=presence]").checked`, &still))
	if !still {
		t.Error("the preview replaces the form")
	}
	run(t, ctx, chromedp.Click("button.main"), chromedp.WaitVisible(".note.good"), chromedp.Text("main", &saved, chromedp.ByQuery))
	if !strings.Contains(saved, "1 column was changed") {
		t.Errorf("after it is saved:\n%s", saved)
	}
	run(t, ctx, chromedp.Evaluate(`fetch("/sign-out", {method: "POST"}).then(r => r.status)`, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
		chromedp.Click("button.main"), chromedp.WaitVisible(".narrow"), chromedp.Text("main", &late, chromedp.ByQuery))
	if !strings.Contains(late, "your session has ended") {
		t.Errorf("a form of a session that is over:\n%s", late)
	}
	if len(*alerts) > 0 {
		t.Errorf("scripts: %q", *alerts)
	}
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// look is how somebody sees a page.
type look struct {
	scheme string
	width  int64
}

// looks are those that are tried; with -short the phone's alone, since it has every fault of the others but those of colours.
func looks() []look {
	if testing.Short() {
		return []look{{"dark", 390}}
	}
	return []look{{"light", 1200}, {"dark", 1200}, {"light", 390}}
}

// axe is the checker of accessibility that tests ask.
var axe = npmagent.Agent{Name: "axe-core", Version: "4.14.1", Packages: []string{"axe-core@4.14.1"}, Program: "axe-core/axe.min.js"}

// TestPagesAreAccessible: axe finds no serious fault, in light and dark, wide and narrow. With PRLOOP_PICTURES the pages are drawn into that folder.
func TestPagesAreAccessible(t *testing.T) {
	script, err := os.ReadFile(npmagent.Need(t, axe).Program)
	if err != nil {
		t.Fatal(err)
	}
	ctx, alerts := chromium(t)
	s, pages := furnished(t)
	run(t, ctx, chromedp.Navigate(s.Link()))
	for name, path := range pages {
		for _, look := range looks() {
			var faults string
			var shot []byte
			var then chromedp.Tasks
			if name == "preview" {
				then = chromedp.Tasks{chromedp.Click(`button[formaction]`), chromedp.WaitVisible("#preview table")}
			}
			run(t, ctx, emulation.SetDeviceMetricsOverride(look.width, 800, 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
				chromedp.Navigate(s.url+path), chromedp.WaitReady("main"), then, chromedp.Evaluate(string(script), nil),
				chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes[0].html)))`, &faults,
					func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
				chromedp.FullScreenshot(&shot, 100))
			var list []string
			if err := json.Unmarshal([]byte(faults), &list); err != nil || len(list) > 0 {
				t.Errorf("%s, %s, %d: %v %q", name, look.scheme, look.width, err, list)
			}
			kind := look.scheme
			if look.width < 600 {
				kind = "phone"
			}
			if folder := os.Getenv("PRLOOP_PICTURES"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+"-"+kind+".png"), shot, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if len(*alerts) > 0 {
		t.Errorf("scripts: %q", *alerts)
	}
}

// A name that has room is not broken, however long the texts beside it are.
func TestNamesStayWhole(t *testing.T) {
	ctx, _ := chromium(t)
	s, pages := furnished(t)
	var lines []int
	run(t, ctx, chromedp.Navigate(s.Link()), emulation.SetDeviceMetricsOverride(1200, 800, 1, false), chromedp.Navigate(s.url+pages["queue"]), chromedp.WaitReady("main"),
		chromedp.Evaluate(`[...document.querySelectorAll("td.what a")].map(a => a.getClientRects().length)`, &lines))
	if len(lines) != 3 || slices.Max(lines) > 1 {
		t.Errorf("names stand in %d lines", lines)
	}
}

// furnished is a dashboard with something on every page.
func furnished(t *testing.T) (s *site, pages map[string]string) {
	t.Helper()
	st := newState(t)
	st.calm = true
	var one string
	for i := range 14 {
		r := st.begin(t, at("acme", []string{"shop", "billing", "web"}[i%3], 7+i))
		switch i % 4 {
		case 0:
			st.end(t, r, review.Converged, "No findings that count: two reviewers read every changed line.")
			st.briefed(t, r)
		case 1:
			one = r.ID
			first := made(review.P1, "Total divides by zero for an empty cart", "security")
			st.end(t, r, review.ChangesRequested, "1 P1 must be fixed.", first, made(review.P2, "The error of Close is lost", "general"), made(review.P3, "A name could be shorter", "general"))
			st.briefed(t, r)
			st.talked(t, r, first, "a customer without one has no total.")
		case 2:
			st.end(t, r, review.Partial, "One of two needed reviewers failed.")
		case 3:
			st.end(t, r, review.Stuck, "A finding came back after it was reported fixed.", made(review.P0, "SQL is built from the query string", "security"))
		}
	}
	feed := new(Feed)
	r := st.begin(t, at("acme", "shop", 42))
	emit, _ := feed.Run(r.ID)
	for _, e := range []review.Event{
		{Kind: review.EventRound, Round: 1, Rounds: 3}, {Kind: review.EventState, Agent: "security", State: review.AgentRunning},
		{Kind: review.EventUsage, Agent: "security", Usage: &review.Usage{LLMCalls: 3, InputTokens: pointer(31000), OutputTokens: pointer(900), CostUSD: pointer(0.04)}},
		{Kind: review.EventProgress, Agent: "security", Message: "reads internal/pay/total.go"}, {Kind: review.EventState, Agent: "general", State: review.AgentComplete},
	} {
		emit(e)
	}
	for i, repo := range []string{"acme/shop", "acme/billing"} {
		want := store.Want{Subject: store.Subject("github.com/"+repo, 50+i, 0), Repo: "github.com/" + repo, PR: 50 + i, Priority: uint(2 + i)}
		if _, err := st.store.Deliver(t.Context(), store.Delivery{GUID: repo, Event: "pull_request", Action: "opened"}, want); err != nil {
			t.Fatal(err)
		}
	}
	settled := store.Settled{Outcome: "set_aside", Run: one, Why: "no finding counts, and one that was set aside has to be looked at by a person: the verifier refuted it, and two reviewers had raised it"}
	if err := st.store.Settle(t.Context(), store.Subject("github.com/acme/billing", 51, 0), 1, settled); err != nil {
		t.Fatal(err)
	}
	st.scanned(t, at("acme", "shop", 60), review.Observation{Tag: "migration", Text: "Adds a column that is not null to a table with many rows: writes wait while it is filled.", File: "db/0042_totals.sql", Line: pointer(3)},
		review.Observation{Tag: "public interface", Text: "Total takes a context now; callers outside this repository have to change.", File: "pay/total.go", Line: pointer(12)})
	st.scanned(t, at("acme", "billing", 61), review.Observation{Tag: "tests", Text: "The new branch for empty carts is not tested."}, review.Observation{Tag: "migration", Text: "The index is made without CONCURRENTLY.", File: "db/0009.sql", Line: pointer(1)})
	merged := store.Merge{Key: "github.com/9", Repo: "acme/billing", PR: 8}
	for i, b := range []review.Became{review.BecameFixed, review.BecameIgnored, review.BecameDismissed} {
		f := []review.Finding{made(review.P1, "Total divides by zero for an empty cart", "security"), made(review.P2, "The error of Close is lost", "general"), made(review.P3, "A name could be shorter", "general")}[i]
		why := []string{"the code it quotes is not in the merged head", "the code it quotes is in the merged head", "a dismissal silences it"}[i]
		for range 30 - 12*i {
			merged.Findings = append(merged.Findings, review.PostedFinding{ID: f.Fingerprint, Became: b, Why: why, Priority: f.Priority, Category: "bug", Score: 8 - i, By: []review.Voice{{Name: f.Source.Name, Model: "gpt-5-mini"}}})
		}
	}
	if _, err := st.store.RecordMerge(t.Context(), merged, stats.MergeFigures(merged)); err != nil {
		t.Fatal(err)
	}
	service := st.open(t)
	row := policy.Row{Repo: policy.Repo{Host: "github.com", ID: 7, Name: "acme/shop"}, Columns: policy.Values{"gating_policy": "verdict", "context_path_excludes": []string{"customer_data/**"}, "fixing": true}}
	if _, _, err := service.SavePolicyAs(t.Context(), row, &config.File{}, "ada"); err != nil {
		t.Fatal(err)
	}
	return st.serve(t, Options{Feed: feed, Control: &cancelled{}, Policies: policies{service}, Operator: &config.File{}, Settings: holds(service, "model: gpt-5-mini\nwall_time: 20m\n", "problem_score_threshold: 6\n")}), map[string]string{
		"settings": "/settings/github.com/acme/shop", "observations": "/observations", "preview": "/policies/github.com/acme/shop", "merged": "/pulls/github.com/acme/billing/8",
		"policy": "/policies/github.com/acme/shop", "audit": "/audit",
		"runs": "/runs", "run": runLink(one), "live": runLink(r.ID), "pull": "/pulls/github.com/acme/shop/16", "repositories": "/repositories", "usage": "/usage", "queue": "/queue",
	}
}
