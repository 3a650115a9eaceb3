package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/review"
)

// statuses is GitHub as the gate sees it: it keeps what is set, and fails as it is told to.
type statuses struct {
	set []string
	// fails are the ends of the next calls.
	fails  []error
	calls  int
	older  []string
	labels []gate.Labelling
	may    map[string]string
	// beside is said of another pull request with the commit.
	beside string
	// early is how often it is asked for before it is there.
	early int
	// rebased is said of another base branch.
	rebased string
	// later is whether another run has set the status since.
	later bool
}

var errMayNot = refusal{errors.New("HTTP 403 (statuses: write)")}

func (s *statuses) SetStatus(_ context.Context, _ review.Repo, commit string, c effects.CommitStatus) (string, error) {
	s.calls++
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		if err != nil {
			return "", err
		}
	}
	s.set = append(s.set, fmt.Sprintf("%s %s: %s", commit[:1], c.State, c.Description))
	return "https://api.github.com/statuses/" + commit, nil
}

func (s *statuses) Labelled(_ context.Context, _ review.PullRequest, labels []string) (out []gate.Labelling, _ bool, _ error) {
	for _, l := range s.labels {
		if slices.Contains(labels, l.Label) {
			out = append(out, l)
		}
	}
	return out, true, nil
}

func (s *statuses) Permission(_ context.Context, _ review.Repo, login string) (string, error) {
	if p, known := s.may[login]; known {
		return p, nil
	}
	return "", errMayNot
}

func (s *statuses) PendingStatuses(context.Context, review.PullRequest) ([]string, error) {
	return s.older, nil
}

func (s *statuses) Beside(context.Context, review.Target, string) (string, error) {
	if s.early--; s.early >= 0 {
		return "", nil
	}
	return s.beside, nil
}

func (s *statuses) Rebased(context.Context, review.Target, string) (string, error) {
	return s.rebased, nil
}

func (s *statuses) Later(context.Context, review.Target, string, string) (bool, error) {
	return s.later, nil
}

func (s *statuses) Denied(err error) bool { return errors.Is(err, errMayNot) }

func gatedRun() (*Loop, *world, *statuses, Request) {
	w, s := &world{now: time.Unix(1_800_000_000, 0), head: sha(1)}, &statuses{may: map[string]string{}}
	l := w.loop()
	l.Gate = s
	n := 0
	l.Nonce = func() string { n++; return fmt.Sprint("nonce-", n) }
	target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}, PR: 7}
	return l, w, s, Request{Run: "run", Target: target, Head: sha(1), Gate: &gate.Plan{Policy: gate.Verdict, Labels: gate.Labels}}
}

// A permission that is missing is told of once and stops nothing; every other error stops the run, which is resumed. One that may be
// late is waited for before the next, and one that is refused after another was taken is said again (threats.md T163, T164, T466).
func TestStatusFaults(t *testing.T) {
	lost := errors.New("HTTP 502")
	for name, c := range map[string]struct {
		fails   []error
		set     []string
		wait    time.Duration
		missing bool
		// stops is how many of the two statuses stop the run.
		stops, calls int
	}{
		"all is well":                 {nil, []string{"1 pending: at work", "1 failure: Changes requested"}, 0, false, 0, 2},
		"the first is lost, and made": {[]error{lost}, []string{"1 pending: at work", "1 failure: Changes requested"}, effects.Quarantine, false, 0, 3},
		"the first is lost for good":  {[]error{lost, lost}, nil, effects.Quarantine, false, 1, 2},
		"the first is refused":        {[]error{refusal{lost}}, nil, 0, false, 1, 1},
		"the last is lost for good":   {[]error{nil, lost, lost}, []string{"1 pending: at work"}, effects.Quarantine, false, 2, 3},
		"nothing may be set":          {[]error{errMayNot, errMayNot}, nil, 0, true, 0, 2},
		"the first is denied alone":   {[]error{errMayNot}, []string{"1 failure: Changes requested"}, 0, false, 0, 2},
		"nothing more may be set":     {[]error{nil, errMayNot, errMayNot}, []string{"1 pending: at work"}, effects.Quarantine, true, 0, 3},
		"the last is denied once":     {[]error{nil, errMayNot}, []string{"1 pending: at work", "1 failure: Changes requested"}, effects.Quarantine, false, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			l, w, s, req := gatedRun()
			s.fails = c.fails
			p := &progress{round: 1, head: sha(1)}
			stopped := 0
			err := l.pending(t.Context(), inline{}, req, p, "reviewing", "at work")
			var g *review.Gate
			if err != nil {
				stopped = 1
			} else {
				asks := string(review.RequestChanges)
				r := review.RunResult{Outcome: review.ChangesRequested, Consensus: &asks, Receipt: review.Receipt{Complete: 1, Status: "ok"}}
				if g, err = l.concludeStatus(t.Context(), inline{}, req, p, r); err != nil {
					stopped = 2
				}
			}
			if stopped != c.stops || !slices.Equal(s.set, c.set) || s.calls != c.calls || w.slept != c.wait {
				t.Errorf("stopped at %d with %v, %q by %d calls, waited %v; want %d, %q by %d, %v", stopped, err, s.set, s.calls, w.slept, c.stops, c.set, c.calls, c.wait)
			}
			if err == nil && ((g.Missing != "") != c.missing || g.State != review.GateFailure) {
				t.Errorf("%+v", g)
			}
		})
	}
}

// A success waits for other pull requests with the same commit, and is none for another base branch; what the pull request comes to by itself is kept
// (threats.md T281, T410, T464).
func TestStatusBeside(t *testing.T) {
	l, _, s, req := gatedRun()
	s.beside = "#9 has the same commit and is not approved"
	p := &progress{round: 1, head: sha(1)}
	approve, asks := string(review.Approve), string(review.RequestChanges)
	r := review.RunResult{Outcome: review.Converged, Consensus: &approve, Receipt: review.Receipt{Complete: 1, Status: "ok"}}
	if g, err := l.concludeStatus(t.Context(), inline{}, req, p, r); err != nil || g.State != review.GateFailure {
		t.Errorf("approved: %+v, %v", g, err)
	}
	r.Outcome, r.Consensus = review.ChangesRequested, &asks
	if g, err := l.concludeStatus(t.Context(), inline{}, req, p, r); err != nil || g.State != review.GateFailure {
		t.Errorf("changes requested: %+v, %v", g, err)
	}
	want := []string{"1 failure: #9 has the same commit and is not approved. By itself: Approved", "1 failure: Changes requested"}
	r.Outcome, r.Consensus, s.early = review.Converged, &approve, 1 // what it says comes to GitHub while this is under way
	s.later = true
	if g, err := l.concludeStatus(t.Context(), inline{}, req, p, r); err != nil || g.State != review.GateFailure || g.Description != want[0][len("1 failure: "):] {
		t.Errorf("approved, and overtaken: %+v, %v", g, err)
	}
	want = append(want, "1 success: Approved", want[0])
	s.later, s.beside, s.rebased = false, "", "#7 is to be merged into another branch now"
	if g, err := l.concludeStatus(t.Context(), inline{}, req, p, r); err != nil || g.State != review.GateFailure {
		t.Errorf("approved for another branch: %+v, %v", g, err)
	}
	want = append(want, "1 failure: "+s.rebased+". By itself: Approved")
	if !slices.Equal(s.set, want) {
		t.Errorf("%q, want %q", s.set, want)
	}
}

// A run that was overtaken ends the status of the commit it was at work on, and touches no other (threats.md T164).
func TestSupersededStatus(t *testing.T) {
	l, _, s, req := gatedRun()
	p := &progress{round: 1, head: sha(1)}
	if g, err := l.concludeStatus(t.Context(), inline{}, req, p, review.RunResult{Outcome: review.Superseded}); err != nil || g != nil || s.calls != 0 {
		t.Errorf("before it said anything: %v, %v, %q", g, err, s.set)
	}
	if err := l.pending(t.Context(), inline{}, req, p, "reviewing", "at work"); err != nil {
		t.Fatal(err)
	}
	p.head = sha(2)
	if _, err := l.concludeStatus(t.Context(), inline{}, req, p, review.RunResult{Outcome: review.Superseded}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1 pending: at work", "1 error: Superseded: the pull request moved on, another run refused it, or somebody asked for a stop"}; !slices.Equal(s.set, want) {
		t.Errorf("%q, want %q", s.set, want)
	}
}

// Older commits on which a status of ours is pending are settled when a run begins, and the head is not one of them. A run that says nothing new is pending at no time;
// one that takes the answers of an earlier run is, for a comment of its own comes before its last status (threats.md T331).
func TestOlderStatuses(t *testing.T) {
	settled := []string{"3 error: Superseded: the pull request has a newer commit", "2 error: Superseded: the pull request has a newer commit"}
	for name, c := range map[string]struct {
		again *reuse
		want  []string
	}{
		"an earlier run stands":    {&reuse{Stands: &Stored{}}, settled},
		"an earlier run's answers": {&reuse{}, append(slices.Clone(settled), "1 pending: The answers are those of an earlier run")},
	} {
		l, _, s, req := gatedRun()
		s.older = []string{sha(3), sha(1), sha(2)}
		p := &progress{round: 1, head: sha(1)}
		if err := l.reviewing(t.Context(), inline{}, req, p, facts{Snapshot: Snapshot{PR: review.PullRequest{HeadSHA: sha(1)}}, Again: c.again}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.set, c.want) {
			t.Errorf("%s: %q, want %q", name, s.set, c.want)
		}
	}
}

// Who set a label is asked where it may count, and what they may do is asked then (threats.md T161).
func TestGateFacts(t *testing.T) {
	l, _, s, req := gatedRun()
	s.labels = []gate.Labelling{{Label: gate.Advisory, By: "mona"}, {Label: gate.Strict, By: "mallory"}}
	s.may["mona"] = "write"
	snap := Snapshot{PR: review.PullRequest{Labels: []string{"bug", "PR-Reviewer:Advisory", gate.Strict}}}
	f, err := l.gateFacts(t.Context(), req, snap)
	if err != nil || len(f.Labels) != 2 || f.Labels[0].Permission != "write" || f.Labels[1].Permission != "" {
		t.Errorf("%+v, %v", f, err)
	}
	if snap.PR.Author.Bot = true; f.Labels[0].ByApp {
		t.Errorf("no app opened it: %+v", f.Labels)
	}
	if f, err = l.gateFacts(t.Context(), req, snap); err != nil || !f.Labels[0].ByApp {
		t.Errorf("an app opened it: %+v, %v", f, err)
	}
	req.Gate.Labels = nil
	if f, err = l.gateFacts(t.Context(), req, snap); err != nil || len(f.Labels) != 2 || f.Labels[0].By != "" {
		t.Errorf("asked who set what does not count: %+v, %v", f, err)
	}
	for name, change := range map[string]func(*Request){
		"off": func(r *Request) { r.Gate.Policy = gate.Off }, "none": func(r *Request) { r.Gate = nil },
		"a dry run": func(r *Request) { r.DryRun = true }, "a local range": func(r *Request) { r.Target.PR = 0 },
	} {
		_, _, _, other := gatedRun()
		change(&other)
		if f, err := l.gateFacts(t.Context(), other, snap); f != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// A change is trivial only by what reviewers were given of it.
func TestGateFiles(t *testing.T) {
	header := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old mode 1\n+new mode 100755\n"
	whole := review.BriefFile{Path: "x", Change: "modified", Additions: 1, Deletions: 1, Hunks: 1, HunksGiven: 1, Diff: header}
	for name, c := range map[string]struct {
		change func(*review.BriefFile)
		want   gate.File
	}{
		"two lines":    {func(*review.BriefFile) {}, gate.File{Path: "x", Lines: 2, Whole: true, Plain: true}},
		"long lines":   {func(f *review.BriefFile) { f.Size = 300 }, gate.File{Path: "x", Lines: 300, Whole: true, Plain: true}},
		"left out":     {func(f *review.BriefFile) { f.Omitted = "generated" }, gate.File{Path: "x", Lines: 2, Plain: true}},
		"partly given": {func(f *review.BriefFile) { f.HunksGiven = 0 }, gate.File{Path: "x", Lines: 2, Plain: true}},
		"new":          {func(f *review.BriefFile) { f.Change, f.Diff = "added", "new file mode 100644\n"+header }, gate.File{Path: "x", Lines: 2, Whole: true}},
		"a link":       {func(f *review.BriefFile) { f.Change, f.Diff = "added", "new file mode 120000\n"+header }, gate.File{Path: "x", Lines: 2}},
		"another commit of a submodule": {func(f *review.BriefFile) {
			f.Diff = "diff --git a/x b/x\nindex 1111111..2222222 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
		}, gate.File{Path: "x", Lines: 2, Plain: true}},
		"a link that leads elsewhere": {func(f *review.BriefFile) {
			f.Diff = "diff --git a/x b/x\nindex 1111111..2222222 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-safe.sh\n+wipe.sh\n"
		}, gate.File{Path: "x", Lines: 2, Plain: true}},
		"another content in LFS": {func(f *review.BriefFile) {
			f.Diff = "diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n version https://git-lfs.github.com/spec/v1\n-oid sha256:" + strings.Repeat("1", 64) + "\n+oid sha256:" + strings.Repeat("2", 64) + "\n size 8\n"
		}, gate.File{Path: "x", Lines: 2, Plain: true}},
		"two lines of an executable": {func(f *review.BriefFile) { f.Diff = "index 1111111..2222222 100755\n" + header }, gate.File{Path: "x", Lines: 2, Whole: true, Plain: true}},
		"an executable":              {func(f *review.BriefFile) { f.Diff = "old mode 100644\nnew mode 100755\n" + header }, gate.File{Path: "x", Lines: 2}},
		"a spelled name":             {func(f *review.BriefFile) { f.Path, f.OldPath = `"we\"ird/Makefile"`, `" x"` }, gate.File{Path: `we"ird/Makefile`, OldPath: " x", Lines: 2, Whole: true, Plain: true}},
		"a masked name":              {func(f *review.BriefFile) { f.Path = "[REDACTED]~1f3a/x" }, gate.File{Path: "[REDACTED]~1f3a/x", Lines: 2, Plain: true}},
		"moved on the base":          {func(f *review.BriefFile) { f.Moved = true }, gate.File{Path: "x", Lines: 2, Plain: true}},
		"under new name":             {func(f *review.BriefFile) { f.Change, f.OldPath = "renamed", "y" }, gate.File{Path: "x", OldPath: "y", Lines: 2, Whole: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := whole
			c.change(&f)
			if got := gateFiles(review.Brief{Files: []review.BriefFile{f}}); got[0] != c.want {
				t.Errorf("%+v, want %+v", got[0], c.want)
			}
		})
	}
}

// A trivial change passes over what reviewers ask for, and over nothing that people say as grave, whether a review or a scan was made (threats.md T847).
func TestATrivialChangePassesOverNoPerson(t *testing.T) {
	thread := func(body, association string) review.Discussion {
		return review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Comments: []review.Comment{{ID: "C1", Author: review.Person{Login: "mona", Association: association}, Body: body}}}}}
	}
	requested := func(association string) review.Discussion {
		return review.Discussion{Reviews: []review.Review{{ID: "R1", Author: review.Person{Login: "mona", Association: association}, State: "CHANGES_REQUESTED", Body: "Please rename it."}}}
	}
	resolved := thread("P0: this drops all customers.", "MEMBER")
	resolved.Threads[0].Resolved = true
	for says, c := range map[string]struct {
		people review.Discussion
		passes bool
	}{
		"nobody":                      {review.Discussion{}, true},
		"a member, P0":                {thread("P0: this drops all customers.", "MEMBER"), false},
		"a member, P0, and it is not": {resolved, true},
		"a member, P2":                {thread("P2: a name.", "MEMBER"), true},
		"a stranger, P0":              {thread("P0: this drops all customers.", "NONE"), true},
		"a member requests changes":   {requested("MEMBER"), false},
		"a stranger requests changes": {requested("NONE"), true},
		"more than was read":          {review.Discussion{Truncated: true}, false},
	} {
		for _, scan := range []bool{false, true} {
			in := round()
			in.Request.Gate, in.Snapshot.Gate, in.Snapshot.Discussion = &gate.Plan{Policy: gate.NonTrivial}, &gate.Facts{Complexity: gate.Trivial}, c.people
			in.Reports[0].Answer.Reviewer.Findings = []review.Finding{{ID: "A-1", Priority: review.P0, Category: "logic", Title: "It drops all customers", Source: review.Source{Type: "agent", Name: "alpha"}}}
			if scan {
				in.Request.Quick, in.Reports = &QuickPlan{}, nil
				in.Scan = &AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{State: review.AgentComplete}, Scout: &review.ScoutResult{Complexity: review.TrivialChange, Verdict: review.Flag}}}
			}
			if g := Judge(in).Result.Gate; g.Trivial != c.passes || (g.State == review.GateSuccess) != c.passes || strings.Contains(g.Description, "a person objects") == c.passes {
				t.Errorf("%s, scan %v: %+v", says, scan, g)
			}
		}
	}
}

// The report says what the gate says, and what became of each label; where the status could not be set, that.
func TestGateInTheReport(t *testing.T) {
	in := round()
	in.Request.Gate = &gate.Plan{Policy: gate.Verdict, Labels: gate.Labels}
	in.Snapshot.Gate = &gate.Facts{Labels: []gate.Labelling{{Label: gate.Advisory, By: "@mona", At: time.Unix(1_800_000_000, 0), Permission: "write"}}}
	j := Judge(in)
	if j.Result.Gate == nil || j.Result.Gate.Effective != string(gate.Presence) || j.Result.Gate.State != review.GateSuccess {
		t.Fatalf("%+v", j.Result.Gate)
	}
	for _, part := range []string{"for this pull request `presence`", "softens the gate to `presence`", "2027-01-15T08:00:00Z"} {
		if !strings.Contains(j.Report, part) {
			t.Errorf("%q is missing in\n%s", part, j.Report)
		}
	}
	in.GateMissing = "not permitted (statuses: write)"
	if j = Judge(in); !strings.Contains(j.Report, "could not be set: not permitted (statuses: write)") || strings.Contains(j.Report, "is `success`") {
		t.Error(j.Report)
	}
}
