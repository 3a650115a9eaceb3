package cli_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/internal/testkit/registry"
)

// world is what one script has around it.
type world struct {
	t      testing.TB
	forge  *forge.Forge
	models []*fakemodel.Server
	// told is what story has told: comments by their numbers, and threads with how they stood.
	told map[int64]string
	// registry is the script's package registry.
	registry *registry.Registry
	// counted is how many of the forge's requests a script has counted.
	counted int
}

type worldKey struct{}

// setUp gives a script its own home, state and settings, the files of testdata/share, and the pinned gh in PATH. There is
// no login, no key and no proxy until the script asks for one.
func setUp(e *testscript.Env, gh string) error {
	w := &world{t: e.T().(testing.TB)}
	e.Values[worldKey{}] = w
	home := filepath.Join(e.WorkDir, ".home")
	e.Vars = append(e.Vars,
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"),
		"XDG_CACHE_HOME="+filepath.Join(home, "cache"), "GH_CONFIG_DIR="+filepath.Join(home, "gh"),
		"PRLOOP_STATE="+filepath.Join(e.WorkDir, ".state"), "PRLOOP_SANDBOX=off", "PATH="+e.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(gh),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_TELEMETRY=0", "NO_COLOR=1", "TZ=UTC", "LANG=C",
	)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(e.WorkDir, os.DirFS(filepath.Join("testdata", "share"))); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(e.WorkDir, "*.sh"))
	for _, file := range programs { // an archive knows no executable bit
		err = errors.Join(err, os.Chmod(file, 0o755))
	}
	return err
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// pull is the pull request acme/widgets#N.
func (w *world) pull(ts *testscript.TestScript, number string) *forge.PullRequest {
	if w.forge == nil {
		ts.Fatalf("no forge is running: start one with pull or case")
	}
	n, err := strconv.Atoi(number)
	ts.Check(err)
	repo, err := w.forge.AddRepo("acme", "widgets")
	ts.Check(err)
	p := repo.FindPull(n)
	if p == nil {
		ts.Fatalf("there is no pull request %s", number)
	}
	return p
}

// start starts the script's forge, whose user octocat may write to the repository, and points prloop and gh at it.
func (w *world) start(ts *testscript.TestScript, host string) *forge.Repo {
	if w.forge == nil {
		w.forge = forgetest.Start(w.t)
		for _, entry := range w.forge.Env(host) {
			name, value, _ := strings.Cut(entry, "=")
			switch name {
			case "PATH", "HOME", "NO_COLOR":
			default:
				if !strings.HasPrefix(name, "XDG_") {
					ts.Setenv(name, value)
				}
			}
		}
		ts.Setenv("GH_REPO", "acme/widgets")
	}
	repo, err := w.forge.AddRepo("acme", "widgets")
	ts.Check(err)
	repo.SetPermission("octocat", forge.Write)
	return repo
}

// cmdPull opens a pull request: pull N BASE HEAD [draft|fork|apart|ghes|byapp]... With - for BASE its branch stays as it is.
func cmdPull(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 3, "pull N BASE HEAD [draft|fork|apart|ghes|byapp]...")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	w, spec, host := worldOf(ts), forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: n, Title: "Count the stock", Body: "Because.", Author: "contributor",
		Base: os.DirFS(ts.MkAbs(args[1])), Head: os.DirFS(ts.MkAbs(args[2])),
	}, ""
	if args[1] == "-" {
		spec.Base = nil
	}
	for _, word := range args[3:] {
		switch word {
		case "draft":
			spec.Draft = true
		case "fork":
			spec.Fork = "contributor/widgets"
		case "apart": // from a branch of its own
			spec.HeadRef = "topic-" + args[0]
		case "ghes":
			host = "ghe.example.com"
		case "byapp":
			spec.Author = "renovate[bot]"
		default:
			ts.Fatalf("pull does not know %q", word)
		}
	}
	w.start(ts, host)
	_, err = w.forge.Open(spec)
	ts.Check(err)
}

// cmdPR changes a pull request: pr N WHAT [ARGS...]
func cmdPR(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "pr N WHAT [ARGS...]")
	w := worldOf(ts)
	p, rest := w.pull(ts, args[0]), args[2:]
	switch args[1] {
	case "close":
		p.SetState("CLOSED")
	case "reopen":
		p.SetState("OPEN")
	case "merge": // merge [LOGIN]: it counts as merged, or is merged by somebody
		if len(rest) == 0 {
			p.SetState("MERGED")
			break
		}
		ts.Check(p.Merge(rest[0], false))
	case "lock":
		p.Lock()
	case "delete": // the newest comment is deleted
		all := p.Comments()
		need(ts, neg, len(all) > 0 && p.DeleteComment(all[len(all)-1].ID), "pr N delete, where a comment is")
	case "retarget": // retarget BRANCH: it is to be merged into another one
		need(ts, neg, len(rest) == 1, "pr N retarget BRANCH")
		ts.Check(p.Retarget(rest[0]))
	case "protect": // nobody may push to the head branch
		w.start(ts, "").RefusePushes("topic", forge.ProtectedBranch)
	case "push": // push DIR: the head branch gets another commit
		need(ts, neg, len(rest) == 1, "pr N push DIR")
		ts.Check(w.forge.Commit(w.start(ts, ""), "topic", p.HeadSHA(), "More", os.DirFS(ts.MkAbs(rest[0]))))
	case "rebase": // rebase DIR: the head branch is one commit on the base, and what it was is on no branch
		need(ts, neg, len(rest) == 1, "pr N rebase DIR")
		ts.Check(w.forge.Commit(w.start(ts, ""), "topic", p.BaseSHA(), "Rebased", os.DirFS(ts.MkAbs(rest[0]))))
	case "base": // base DIR: the base branch gets another commit, which nobody merged
		need(ts, neg, len(rest) == 1, "pr N base DIR")
		ts.Check(w.forge.Commit(w.start(ts, ""), "main", p.BaseSHA(), "Pushed", os.DirFS(ts.MkAbs(rest[0]))))
	case "review": // review LOGIN STATE ASSOCIATION [TEXT]
		need(ts, neg, len(rest) == 3 || len(rest) == 4, "pr N review LOGIN STATE ASSOCIATION [TEXT]")
		p.AddReview(forge.Review{Author: rest[0], State: rest[1], Association: rest[2], Body: append(rest[3:], "Not like this.")[0]})
	case "editreview": // editreview LOGIN BY TEXT: somebody edits the newest review of a login
		need(ts, neg, len(rest) == 3 && p.EditReview(rest[0], rest[1], rest[2]), "pr N editreview LOGIN BY TEXT")
	case "thread": // thread LOGIN FILE LINE TEXT [resolved]
		need(ts, neg, len(rest) >= 4, "pr N thread LOGIN FILE LINE TEXT [resolved]")
		line, err := strconv.Atoi(rest[2])
		ts.Check(err)
		p.AddThread(forge.Thread{Path: rest[1], Line: line, Resolved: len(rest) == 5, Comments: []*forge.Comment{{Author: rest[0], Body: rest[3]}}})
	case "reply": // reply LOGIN NUMBER TEXT: an answer in the thread of that number, from 1
		need(ts, neg, len(rest) == 3, "pr N reply LOGIN NUMBER TEXT")
		p.Reply(threadOf(ts, p, rest[1]).ID, rest[0], rest[2])
	case "resolve": // resolve NUMBER [LOGIN]: somebody resolves a thread
		need(ts, neg, len(rest) == 1 || len(rest) == 2, "pr N resolve NUMBER [LOGIN]")
		p.ResolveThreadAs(threadOf(ts, p, rest[0]).ID, strings.Join(rest[1:], ""))
	case "hide": // hide NUMBER LOGIN: somebody collapses the newest comment of a login in a thread
		need(ts, neg, len(rest) == 2 && p.HideReply(threadOf(ts, p, rest[0]).ID, rest[1]), "pr N hide NUMBER LOGIN")
	case "dropreply": // dropreply NUMBER LOGIN: somebody deletes it
		need(ts, neg, len(rest) == 2 && p.DropReply(threadOf(ts, p, rest[0]).ID, rest[1]), "pr N dropreply NUMBER LOGIN")
	case "copyroot": // copyroot FROM TO LOGIN: who may write deletes the first comment of a thread and writes its text into the first of another
		from, to := threadOf(ts, p, rest[0]), threadOf(ts, p, rest[1])
		need(ts, neg, p.EditReplyAs(to.Comments[0].ID, rest[2], from.Comments[0].Body) && p.DropReply(from.ID, "octocat"), "pr N copyroot FROM TO LOGIN")
	case "requested": // requested LOGIN...: these were asked to review, and nobody else
		if got := p.Requested(); !slices.Equal(got, rest) {
			ts.Fatalf("%q were asked to review, want %q", got, rest)
		}
	case "editcomment": // editcomment NUMBER OLD NEW: somebody edits a comment of the timeline
		need(ts, neg, len(rest) == 3, "pr N editcomment NUMBER OLD NEW")
		at, err := strconv.Atoi(rest[0])
		ts.Check(err)
		need(ts, neg, at > 0 && at <= len(p.Comments()) && strings.Contains(p.Comments()[at-1].Body, rest[1]), "a comment with that text")
		c := p.Comments()[at-1]
		p.EditComment(c.ID, strings.Replace(c.Body, rest[1], rest[2], 1))
	case "edit": // edit NUMBER OLD NEW [last|K [LOGIN]]: its author edits the first comment of a thread, the last, or the one of that number, from 1, or somebody else does
		need(ts, neg, len(rest) >= 3 && len(rest) <= 5, "pr N edit NUMBER OLD NEW [last|K [LOGIN]]")
		all := threadOf(ts, p, rest[0]).Comments
		c := all[0]
		if len(rest) >= 4 {
			at, err := len(all), error(nil)
			if rest[3] != "last" {
				at, err = strconv.Atoi(rest[3])
			}
			ts.Check(err)
			need(ts, neg, at > 0 && at <= len(all), "a comment of that number")
			c = all[at-1]
		}
		p.EditReplyAs(c.ID, strings.Join(rest[min(4, len(rest)):], ""), strings.Replace(c.Body, rest[1], rest[2], 1))
	case "pending": // somebody has begun a review and not submitted it: pending LOGIN
		need(ts, neg, len(rest) == 1, "pr N pending LOGIN")
		p.AddReview(forge.Review{Author: rest[0], State: "PENDING"})
	case "label": // label LOGIN NAME
		need(ts, neg, len(rest) == 2, "pr N label LOGIN NAME")
		p.Label(rest[0], rest[1])
	case "unlabel": // unlabel LOGIN NAME
		need(ts, neg, len(rest) == 2, "pr N unlabel LOGIN NAME")
		p.Unlabel(rest[0], rest[1])
	case "renamelabel": // renamelabel OLD NEW: a label that stands gets another name
		need(ts, neg, len(rest) == 2, "pr N renamelabel OLD NEW")
		p.RenameLabel(rest[0], rest[1])
	case "comment": // comment LOGIN FILE
		need(ts, neg, len(rest) == 2, "pr N comment LOGIN FILE")
		p.Comment(rest[0], ts.ReadFile(rest[1]))
	default:
		ts.Fatalf("pr does not know %q", args[1])
	}
}

func threadOf(ts *testscript.TestScript, p *forge.PullRequest, number string) forge.Thread {
	n, err := strconv.Atoi(number)
	ts.Check(err)
	all := p.Threads()
	if n < 1 || n > len(all) {
		ts.Fatalf("there are %d threads, and no %s", len(all), number)
	}
	return all[n-1]
}

// cmdThreads checks how many threads there are, and writes what they say: threads N COUNT [FILE]
func cmdThreads(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "threads N COUNT [FILE]")
	all := worldOf(ts).pull(ts, args[0]).Threads()
	var b strings.Builder
	for i, t := range all {
		state := "open"
		if t.Resolved {
			state = "resolved"
		}
		fmt.Fprintf(&b, "thread %d on %s:%d, %s\n", i+1, t.Path, t.Line, state)
		for _, c := range t.Comments {
			fmt.Fprintf(&b, "-- %s:\n%s\n", c.Author, c.Body)
		}
	}
	if fmt.Sprint(len(all)) != args[1] {
		ts.Fatalf("there are %d threads, want %s:\n%s", len(all), args[1], b.String())
	}
	if len(args) == 3 {
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b.String()), 0o600))
	}
}

// storyOf is a comment as a person reads it: without what is for prloop, and without what is another each time.
func storyOf(body string) string {
	body, _, _ = strings.Cut(body, "\n---\n")
	var lines []string
	for line := range strings.SplitSeq(body, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			lines = append(lines, "    "+storyCommit.ReplaceAllString(line, "(the commit)"))
		}
	}
	if len(lines) > 0 && strings.HasPrefix(lines[0], "    **P") { // what was found stands in the report too
		lines = lines[:1]
	}
	return strings.Join(lines, "\n")
}

var storyCommit = regexp.MustCompile("\\(\\[`[0-9a-f]+`\\]\\([^)]*\\)\\)")

// cmdStory appends what happened in the threads of a pull request since it was called last, under a heading: story N FILE HEADING
func cmdStory(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 3, "story N FILE HEADING")
	w := worldOf(ts)
	if w.told == nil {
		w.told = map[int64]string{}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", args[2])
	for i, t := range w.pull(ts, args[0]).Threads() {
		for n, c := range t.Comments {
			if w.told[c.ID] != "" {
				continue
			}
			w.told[c.ID] = "told"
			who := c.Author
			if who == "octocat" {
				who = "prloop"
			}
			does := "answers in"
			if n == 0 {
				does = "opens"
			}
			fmt.Fprintf(&b, "  %s %s thread %d, %s:%d\n%s\n", who, does, i+1, t.Path, t.Line, storyOf(c.Body))
		}
		state := "open"
		if t.Resolved {
			state = "resolved by " + strings.Replace(t.ResolvedBy, "octocat", "prloop", 1)
		}
		if was := w.told[t.ID]; was != state && (was != "" || t.Resolved) {
			fmt.Fprintf(&b, "  thread %d is %s\n", i+1, state)
		}
		w.told[t.ID] = state
	}
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.WriteString(b.String())
	ts.Check(errors.Join(err, f.Close()))
}

// cmdPermission says what somebody may do with the repository, and that their membership is private: permission LOGIN none|read|triage|write|maintain|admin [private]
func cmdPermission(ts *testscript.TestScript, neg bool, args []string) {
	private := len(args) == 3 && args[2] == "private"
	need(ts, neg, len(args) == 2 || private, "permission LOGIN LEVEL [private]")
	repo := worldOf(ts).start(ts, "")
	repo.SetPermission(args[0], forge.Permission(args[1]))
	if private {
		repo.Conceal(args[0])
	}
}

// cmdToken logs in with another token, of octocat, read-only if asked for, or of somebody else: token VALUE [readonly|LOGIN]
func cmdToken(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 1, "token VALUE [readonly|LOGIN]")
	token := forge.Token{Login: "octocat"}
	if len(args) > 1 {
		if token.ReadOnly = args[1] == "readonly"; !token.ReadOnly {
			token.Login = args[1]
		}
	}
	worldOf(ts).forge.AddToken(args[0], token)
	ts.Setenv("GH_TOKEN", args[0])
}

// cmdFault makes requests fail: fault OP MODE [TIMES]. heal removes all faults.
func cmdFault(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 2, "fault OP MODE [TIMES]")
	x := forge.Fault{Op: args[0], Mode: forge.Mode(args[1])}
	if len(args) == 3 {
		var err error
		x.Times, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	if x.Mode == forge.SlowBody {
		x.After = patience
	}
	worldOf(ts).forge.Fail(x)
}

// cmdClock sets GitHub's clock ahead of ours, or with less than nothing behind it: clock DURATION
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "clock DURATION")
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	w := worldOf(ts)
	w.start(ts, "")
	w.forge.Skew(d)
}

// cmdRequests writes what GitHub was asked since the last requests, one operation a line with how often, reads first: requests FILE.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "requests FILE")
	w := worldOf(ts)
	log, count := w.forge.Log(), map[string]int{}
	for _, e := range log[w.counted:] {
		switch {
		case strings.HasPrefix(e.Op, "git-"), e.Op == "":
		case e.Write:
			count["write "+e.Op]++
		default:
			count["read "+e.Op]++
		}
	}
	w.counted = len(log)
	var out strings.Builder
	for _, op := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&out, "%d %s\n", count[op], op)
	}
	ts.Logf("GitHub was asked:\n%s", &out)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o600))
}

func cmdHeal(ts *testscript.TestScript, neg bool, _ []string) { worldOf(ts).forge.Heal() }

// cmdModel starts a model endpoint and configures prloop for it: model SCRIPT [KEY]. With "stopped" for SCRIPT nobody
// listens at its address.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) >= 1, "model SCRIPT|stopped [KEY]")
	w, key, script := worldOf(ts), "sk-test-0123456789abcdef0123", fakemodel.Script{}
	if len(args) == 2 {
		key = args[1]
	}
	if args[0] != "stopped" {
		var err error
		script, err = fakemodel.LoadScript(ts.MkAbs(args[0]))
		ts.Check(err)
	}
	m, err := fakemodel.Start(script)
	ts.Check(err)
	ts.Setenv("OPENAI_BASE_URL", m.URL())
	ts.Setenv("OPENAI_API_KEY", key)
	if args[0] == "stopped" {
		ts.Check(m.Close())
		return
	}
	w.models = append(w.models, m)
	ts.Defer(func() { _ = m.Close() })
}

// cmdAsked checks how many completions the model was asked for, and that it found no fault with them: asked N
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "asked N")
	n := 0
	for _, m := range worldOf(ts).models {
		n += len(m.Requests())
		if faults := m.Faults(); len(faults) > 0 {
			ts.Fatalf("the model endpoint found fault with requests: %q", faults)
		}
	}
	if fmt.Sprint(n) != args[0] {
		ts.Fatalf("the model was asked %d times, want %s", n, args[0])
	}
}

// need ends a script that uses a command wrongly.
func need(ts *testscript.TestScript, neg, ok bool, how string) {
	if neg {
		ts.Check(errors.New("this command takes no !"))
	}
	if !ok {
		ts.Fatalf("usage: %s", how)
	}
}

// cmdPostgres gives a variable the address of a new database, whose processes count as dead after two seconds of silence:
// postgres VARIABLE. Where PostgreSQL is not installed the script is skipped.
func cmdPostgres(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "postgres VARIABLE")
	ts.Setenv(args[0], postgres.New(worldOf(ts).t)+"&prloop_lease=2s")
}
