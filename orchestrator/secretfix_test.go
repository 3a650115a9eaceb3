package orchestrator

import (
	"context"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/review"
)

// apart is a repository that tells the differences between commits by the first digits of both.
type apart struct {
	filesAlone
	diffs map[string]string
}

func (a apart) Diff(_ context.Context, from, to string) (*diff.Diff, error) {
	return diff.Parse(a.diffs[from[:1]+".."+to[:1]])
}

// A fix brings no secret into the code; what the changed files had is none that it brings (threats.md T878).
func TestFixesThatBringSecrets(t *testing.T) {
	const random = "q7Rz2Lm9Xc4Vb8Nt1Wk6Qp3x"
	const assigned, in = `password = "` + random + `"`, `dsn = "postgres://app:` + random + `@db.corp.io/x"`
	key := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 3)
	for _, row := range []struct {
		says, path, had, added string
		want                   string
	}{
		{"a token", "b.go", "", `k = "` + planted + `"`, "line 1: "},
		{"a token in a comment", "b.go", "", `// k is ` + planted, "line 1: "},
		{"a token in a test", "b_test.go", "", `k = "` + planted + `"`, "line 1: "},
		{"a password", "b.go", "", "a\n" + assigned + "\n" + in, "line 2, 3: "},
		{"one in the place of another", "b.go", `password = "x9Rz2Lm9Xc4Vb8Nt1Wk6Qp3x"`, assigned, "line 1: "},
		{"a key", "b.pem", "", "-----BEGIN PRIVATE KEY-----\n" + key + "-----END PRIVATE KEY-----", "line 1, 2, 3, 4, 5: "},

		{"one that moves", "b.go", "f()\n" + assigned, "if x {\n\t" + assigned + "\n}", ""},
		{"one that is written otherwise", "b.go", in, `c.Password = "` + random + `"`, ""},
		{"an address with another host", "b.go", in, strings.Replace(in, "corp", "shop", 1), ""},
		{"a key that is indented", "b.go", "-----BEGIN PRIVATE KEY-----\n" + key + "-----END PRIVATE KEY-----", "\t-----BEGIN PRIVATE KEY-----\n\t" + strings.ReplaceAll(strings.TrimSpace(key), "\n", "\n\t") + "\n\t-----END PRIVATE KEY-----", ""},
		{"a placeholder", "b.go", "", `password = "changeme"`, ""},
		{"a name", "b.go", "", `password = os.Getenv("DB_PASSWORD")`, ""},
		{"a variable", "b.sh", "", `PASSWORD=${DB_PASSWORD:-}`, ""},
		{"an example", "b.go", "", `key = "AKIAIOSFODNN7EXAMPLE"`, ""},
		{"a password of a test", "b_test.go", "", assigned, ""},
		{"a password in a comment", "b.go", "", "// " + assigned, ""},
		{"a digest", "go.sum", "", "h1:" + random + "q7Rz2Lm9Xc4Vb8Nt1Wk6=", ""},
		{"code", "b.go", "", "return 0", ""},
	} {
		add := "diff --git a/" + row.path + " b/" + row.path + "\n--- a/" + row.path + "\n+++ b/" + row.path + "\n@@ -0,0 +1," + string(rune('1'+strings.Count(row.added, "\n"))) + " @@\n+" + strings.ReplaceAll(row.added, "\n", "\n+") + "\n"
		for _, elsewhere := range []string{row.path, "a.go"} { // what goes to another file is not new
			if elsewhere != row.path {
				if row.had == "" {
					continue
				}
				add = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -9 +8,0 @@\n-x\n" + add
			}
			l := &Loop{History: apart{filesAlone{all: files{sha(1) + ":" + elsewhere: row.had + "\n"}}, map[string]string{"1..2": add}}}
			got, err := l.valued(t.Context(), sha(1), sha(2), nil)
			if err != nil {
				t.Fatal(err)
			}
			if told := len(got) == 1 && got[0].Rule == ruleSecret && got[0].Path == row.path && row.want != "" && strings.HasPrefix(got[0].Detail, row.want); !told && (row.want != "" || len(got) > 0) {
				t.Errorf("%s, had in %s: %+v", row.says, elsewhere, got)
			}
		}
	}
}

// The fixer is told, and tries again.
func TestSecretsAreNotPushed(t *testing.T) {
	s := newStage()
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {at(review.P1, 10, "F", leak)}, "beta": nil}
	s.diffs["1..2"] = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -10 +10 @@\n-x\n+k = \"" + planted + "\"\n"
	s.diffs["1..3"] = edited(10)
	s.fixes = []review.FixWork{fixes(sha(2), "F"), fixes(sha(3), "F")}
	got := s.run(t, newSteps(), nil)
	if len(s.orders) != 2 || s.orders[1].Task.Setback == nil || s.orders[1].Task.Setback.Refusals[0].Rule != ruleSecret || s.head != sha(3) {
		t.Errorf("%d orders, the branch is at %s: %+v", len(s.orders), s.head, got)
	}
}

// A job pushes each of its commits, so none brings a secret, also where the next one takes it out; the value that one takes out and another writes elsewhere is none.
func TestWorkThatBringsSecrets(t *testing.T) {
	one := func(path, lines string) string {
		return "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path + "\n@@ -1 +1 @@\n" + lines + "\n"
	}
	const line = "k = \"" + planted + "\""
	commits := []review.FixCommit{{SHA: sha(2)}, {SHA: sha(3)}}
	for _, row := range []struct {
		says  string
		diffs map[string]string
		want  int
	}{
		{"taken out again", map[string]string{"1..2": one("b.go", "-x\n+"+line), "2..3": one("b.go", "-"+line+"\n+y"), "1..3": one("b.go", "-x\n+y")}, 1},
		{"that stays", map[string]string{"1..2": one("b.go", "-x\n+y"), "2..3": one("b.go", "-y\n+"+line), "1..3": one("b.go", "-x\n+"+line)}, 1},
		{"moved in two steps", map[string]string{"1..2": one("a.go", "-"+line+"\n+x"), "2..3": one("b.go", "-x\n+"+line), "1..3": one("a.go", "-"+line+"\n+x") + one("b.go", "-x\n+"+line)}, 0},
	} {
		plan := AgentPlan{Name: "!docs", Role: review.RoleCommand, Kind: review.KindCommand, Command: &CommandPlan{ID: "docs"}}
		l := &Loop{History: apart{filesAlone{all: files{sha(1) + ":a.go": line + "\n"}}, row.diffs}, Briefer: &jobBrief{}}
		got, err := l.CheckWork(t.Context(), Request{}, plan, review.JobOrder{Head: sha(1), From: sha(1)}, review.JobWork{Tip: sha(3), Commits: commits, Answer: review.Answer{
			Command: &review.CommandAnswer{}, Receipt: review.AgentReceipt{State: review.AgentComplete},
		}}, nil)
		if err != nil || len(got.Refusals) != row.want || (got.Tip == "") != (row.want > 0) || row.want > 0 && got.Refusals[0].Rule != ruleSecret {
			t.Errorf("%s: %+v, %v", row.says, got, err)
		}
	}
}
