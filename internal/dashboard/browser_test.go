package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/signin"
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
			run(t, ctx, emulation.SetDeviceMetricsOverride(look.width, 800, 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}),
				chromedp.Navigate(s.url+path), chromedp.WaitReady("main"), chromedp.Evaluate(string(script), nil),
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
		case 1:
			one = r.ID
			st.end(t, r, review.ChangesRequested, "1 P1 must be fixed.", made(review.P1, "Total divides by zero for an empty cart", "security"), made(review.P2, "The error of Close is lost", "general"), made(review.P3, "A name could be shorter", "general"))
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
	settled := store.Settled{Outcome: "skipped", Why: "it is a draft"}
	if err := st.store.Settle(t.Context(), store.Subject("github.com/acme/billing", 51, 0), 1, settled); err != nil {
		t.Fatal(err)
	}
	service, err := app.Open(t.Context(), app.Options{State: st.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Close(t.Context()) })
	row := policy.Row{Repo: policy.Repo{Host: "github.com", ID: 7, Name: "acme/shop"}, Columns: policy.Values{"gating_policy": "verdict", "context_path_excludes": []string{"customer_data/**"}, "fixing": true}}
	if _, _, err := service.SavePolicyAs(t.Context(), row, &config.File{}, "ada"); err != nil {
		t.Fatal(err)
	}
	return st.serve(t, Options{Feed: feed, Control: &cancelled{}, Policies: policies{service}, Operator: &config.File{}}), map[string]string{
		"policy": "/policies/github.com/acme/shop", "audit": "/audit",
		"runs": "/runs", "run": runLink(one), "live": runLink(r.ID), "pull": "/pulls/github.com/acme/billing/8", "repositories": "/repositories", "usage": "/usage", "queue": "/queue",
	}
}
