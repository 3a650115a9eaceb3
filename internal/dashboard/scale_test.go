package dashboard

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/review"
)

var scaleRuns = flag.Int("runs", 3000, "how many runs TestPagesOfALargeStore fills its stores with; each has ten findings")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	postgres.Stop()
	os.Exit(code)
}

// maxWeight is what a page may weigh, in bytes.
const maxWeight = 200_000

// TestPagesOfALargeStore: pages of a store with many runs stay small, and none of them reads a table that grows as a whole. With
// -v it prints how long each took and weighs.
func TestPagesOfALargeStore(t *testing.T) {
	now := time.Now()
	for _, kind := range []string{database.SQLite, database.Postgres} {
		t.Run(kind, func(t *testing.T) {
			st := newState(t)
			o := app.Options{State: st.dir}
			if kind == database.Postgres {
				o.Database = postgres.New(t)
			}
			service, err := app.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			fill(t, kind, filepath.Join(st.dir, "prloop.db"), o.Database, *scaleRuns, now)
			d := New(Options{Runs: service, Address: url.URL{Scheme: "http", Host: "localhost"}, Log: hclog.New(&hclog.LoggerOptions{Output: t.Output()}), Now: func() time.Time { return now }})
			visitor := signedIn(t, d)
			scans := func() (out []string) {
				if kind == database.Postgres {
					for postgres.SQL(t, o.Database, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`) != "0" {
						time.Sleep(10 * time.Millisecond) // a connection that was closed tells what it did when it ends
					}
					out = strings.Fields(postgres.SQL(t, o.Database, `SELECT pg_stat_force_next_flush(); SELECT relname || ':' || seq_scan FROM pg_stat_user_tables
						WHERE relname IN ('runs', 'rounds', 'findings', 'usage', 'effects', 'incidents', 'sums', 'policy_changes', 'observations', 'observation_words', 'merges') ORDER BY 1`))
				}
				return out
			}
			first := visitor.get(t, "/usage?since=90d") // adds up what nobody has added up
			t.Logf("%-45s %8s %7d bytes", "the first page of usage", first.took.Round(time.Millisecond), len(first.body))
			service.Close(t.Context())
			if kind == database.Postgres {
				postgres.SQL(t, o.Database, "VACUUM ANALYZE") // as autovacuum would before long: what it has come to so far hangs on the machine
			}
			before := scans()
			if service, err = app.Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			d.Runs = service
			for _, path := range []string{
				"/runs", "/runs?outcome=converged", "/runs?q=acme/repo-0477", "/runs?q=acme/repo-0477%238", "/runs?before=" + strconv.FormatInt(now.AddDate(0, 0, -15).UnixMicro(), 10) + "-x",
				runLink(filledID(7)), "/pulls/github.com/acme/repo-0477/8", "/repositories", "/repositories?from=48", "/usage?since=7d", "/usage?since=90d", "/usage?since=30d&repo=acme/repo-0477",
				"/observations", "/observations?repo=acme/repo-0477", "/observations?tag=migration", "/observations?tag=migration&repo=acme/repo-0477", "/observations?q=lock+table",
				"/observations?q=noted00000007", "/observations?q=lock&repo=acme/repo-0477", "/observations?before=" + strconv.FormatInt(now.AddDate(0, 0, -15).UnixMicro(), 10) + "-0-x",
			} {
				p := visitor.get(t, path)
				t.Logf("%-45s %8s %7d bytes", path, p.took.Round(100*time.Microsecond), len(p.body))
				if p.status != http.StatusOK || len(p.body) > maxWeight {
					t.Errorf("%s: status %d, %d bytes of at most %d", path, p.status, len(p.body), maxWeight)
				}
			}
			service.Close(t.Context())
			if after := scans(); strings.Join(before, " ") != strings.Join(after, " ") {
				t.Errorf("pages read tables as a whole: %s, and then %s", before, after)
			}
		})
	}
}

// member is somebody who is signed in.
type member struct {
	d      *Dashboard
	cookie *http.Cookie
}

type shown struct {
	status int
	body   []byte
	took   time.Duration
}

// signedIn follows the link of a dashboard.
func signedIn(t *testing.T, d *Dashboard) member {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, httptest.NewRequest(http.MethodGet, d.Link(), nil))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("the link gives %d cookies", len(cookies))
	}
	return member{d, cookies[0]}
}

func (m member) get(t *testing.T, path string) shown {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.AddCookie(m.cookie)
	w := httptest.NewRecorder()
	began := time.Now()
	m.d.ServeHTTP(w, r)
	took := time.Since(began)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return shown{w.Code, body, took}
}

// emptyHash is what the store keeps beside an empty payload.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func filledID(n int) string { return fmt.Sprintf("20261101T101500Z_%016d", n) }

// fill makes n finished runs of 1,000 repositories in the 30 days before now, each with a round and ten findings, and sums of older ones, by SQL that
// both kinds of databases understand.
func fill(t *testing.T, kind, path, address string, n int, now time.Time) {
	t.Helper()
	tokens, usd := 12_000, 0.11
	agents := []review.AgentReceipt{{Name: "security", Model: "gpt-5-mini", State: review.AgentComplete, Seconds: 31, Usage: review.Usage{LLMCalls: 6, InputTokens: &tokens, CostUSD: &usd}}}
	result := review.RunResult{Outcome: review.ChangesRequested, Reason: "1 P1 must be fixed", Round: 1, Seconds: 64, Rounds: []review.RoundResult{{Round: 1, Agents: agents}}}
	for i := range 10 {
		f := made(review.P2, fmt.Sprint("Finding ", i), "security")
		f.Fingerprint = fmt.Sprintf("%032x", i)
		result.Findings = append(result.Findings, f)
		result.Groups = append(result.Groups, review.Group{Findings: []int{i}, ID: f.Fingerprint, Counts: true})
		result.Fates = append(result.Fates, review.FindingFate{Fate: review.FateOpen, Priority: f.Priority, Category: f.Category, First: 1, Last: 1, Counted: true, By: []review.Voice{{Name: "security", Model: "gpt-5-mini"}}})
	}
	js, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	target, err := json.Marshal(at("acme", "NAME", 1))
	if err != nil {
		t.Fatal(err)
	}
	padded := func(number string, width int) string {
		return fmt.Sprintf("substr('%s' || (%s), -%d)", strings.Repeat("0", width), number, width)
	}
	numbers := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n-1)
	if kind == database.Postgres {
		padded = func(number string, width int) string { return fmt.Sprintf("lpad((%s)::text, %d, '0')", number, width) }
	}
	id, name, quote := "'20261101T101500Z_' || "+padded("i", 16), "'repo-' || "+padded("(i * 7919 / 3) % 1000", 4), strings.NewReplacer("'", "''").Replace
	created := fmt.Sprintf("%d - (%d / %d) * i", now.Add(-time.Hour).UnixMicro(), (30 * 24 * time.Hour).Microseconds(), n)
	script := []string{
		numbers + `INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, result, artifacts, created, updated, folder, repo_key) SELECT ` + id + `, ` + padded("i", 16) +
			`, 'acme/' || ` + name + `, 1 + i % 40, replace('` + quote(string(target)) + `', 'NAME', ` + name + `), 'c0ffee', 'finished',
			CASE WHEN i % 3 = 0 THEN 'converged' ELSE 'changes requested' END, '` + quote(string(js)) + `', '', ` + created + `, ` + created + `, '', 'github.com/' || ` + padded("(i * 7919 / 3) % 1000", 4) + ` FROM n`,
		`INSERT INTO rounds (run, round, head, verdict, receipt, saved) SELECT id, 1, 'c0ffee', '{}', '{}', created FROM runs`,
		`INSERT INTO findings (run, round, ord, reviewer, priority, file, line, fingerprint, finding)
			SELECT r.id, 1, o.i, 'security', 'P2', 'a.go', 1, 'f' || o.i, '{}' FROM runs r, (SELECT 0 AS i UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4
			UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) AS o`,
		`INSERT INTO effects (nonce, run, kind, effect_key, target, head, payload, payload_hash, state, attempts, created, ref) SELECT id, id, 'comment', id, target, '', '', '` + emptyHash + `', 'intent', 0, created, '' FROM runs`,
		`INSERT INTO incidents (run, kind, detail, seen) SELECT id, 'kind', 'detail', created FROM runs`,
		`INSERT INTO observations (run, ord, repo_key, repo, pr, created, tag, label, body, file, line) SELECT id, 0, repo_key, repo, pr, created, CASE WHEN pr % 7 = 0 THEN 'migration' ELSE 'tests' END, 'Tag',
			'The table has a lock, noted ' || id, 'a.go', 1 FROM runs`,
		`INSERT INTO observation_words (run, ord, word, repo_key, created) SELECT r.id, 0, w.word, r.repo_key, r.created FROM runs r, (SELECT 'the' AS word UNION SELECT 'table' UNION SELECT 'has' UNION SELECT 'lock') AS w`,
		`INSERT INTO observation_words (run, ord, word, repo_key, created) SELECT id, 0, 'noted' || substr(id, length(id) - 7), repo_key, created FROM runs`,
		`INSERT INTO merges (repo_key, repo, pr, head, findings, recorded) SELECT repo_key, max(repo), pr, '', '[]', max(created) FROM runs WHERE pr % 2 = 0 GROUP BY repo_key, pr`,
		// and sums of a time before all pages, which none of them reads
		fmt.Sprintf(`WITH RECURSIVE d (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM d WHERE i < 220) INSERT INTO sums (repo, day, runs, figures, repo_key)
			SELECT repo, %d - %d * i, 3, '{}', key FROM d, (SELECT max(repo) AS repo, repo_key AS key FROM runs GROUP BY repo_key) AS r`, now.UnixMicro(), (24 * time.Hour).Microseconds()),
		`ANALYZE`,
	}
	if kind == database.Postgres {
		for _, s := range script {
			postgres.SQL(t, address, s)
		}
		return
	}
	db, err := sql.Open("sqlite", database.SQLiteURI(path, "_pragma=busy_timeout(10000)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range script[:len(script)-1] { // our SQLite has no statistics either
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s[:min(len(s), 200)], err)
		}
	}
}
