package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

// TestWhatCountsAsReadIsSent: no text of a pull request makes the gateway take code out of what a builtin reviewer asks its model. The
// model says a P1 where it reads the line, and nothing elsewhere.
func TestWhatCountsAsReadIsSent(t *testing.T) {
	t.Parallel()
	const evil, check = "os.system(request.args['c'])", "if not u.admin: raise Forbidden()"
	// A rule takes what stands between the quotes for the password of curl, line by line.
	teaching := func(code string) string {
		return strings.Repeat("Some words.\n", 7) + "   curl https://127.0.0.1:8080/health-check-1\n   --user \"demo:\n" + code + "\nend-of-demo-12345\"\n"
	}
	plain := map[string]string{"README.md": "# Odd\n"}
	code := map[string]string{"a.py": "import os\n" + evil + "\n"}
	for _, c := range []struct {
		what, body, line string
		base, head       map[string]string
		local            bool
	}{
		{"a description", teaching(evil), evil, plain, code, false},
		{"one with two bytes at the end of a line", strings.ReplaceAll(teaching(evil), "\n", "\r\n"), evil, plain, code, false},
		{"a check that goes", teaching(check), check, map[string]string{"a.py": "def f(u):\n    " + check + "\n    run(u)\n"}, map[string]string{"a.py": "def f(u):\n    run(u)\n"}, false},
		{"another file", "", evil, plain, map[string]string{"notes.md": teaching(evil), "a.py": strings.Repeat("x = 1\n", 11) + evil + "\n"}, false},
		{"another file of a local range", "", evil, plain, map[string]string{"notes.md": teaching(evil), "a.py": strings.Repeat("x = 1\n", 11) + evil + "\n"}, true},
		{"bytes that are no UTF-8", teaching("system(\"⟨0xE9⟩\")"), "system(\"⟨0xE9⟩\")", plain, map[string]string{"a.py": "system(\"\xe9\")\n"}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			o := newOddity(t, playbook{}, "")
			m := endpoint(t, fakemodel.Script{Respond: func(q fakemodel.Request) (fakemodel.Answer, bool) {
				if q.Schema == nil {
					return fakemodel.Answer{ToolCalls: []fakemodel.ToolCall{submit(q)}}, true
				}
				for _, said := range q.Messages {
					for line := range strings.SplitSeq(said.Text, "\n") {
						if mark := strings.TrimLeft(line, " 0123456789"); strings.HasPrefix(mark, "+"+c.line) || strings.HasPrefix(mark, "-    "+c.line) {
							return fakemodel.Answer{JSON: envelope(finding("a.py", 1, c.line))}, true
						}
					}
				}
				return fakemodel.Answer{JSON: envelope(nil)}, true
			}})
			write(t, filepath.Join(o.home, "config.yml"), []byte("model: scripted\nescalation_model: none\nreviewers: [{name: general, use: builtin}, {name: static, use: static}]\n"+
				"comments_analyzer: {use: static}\nmodels: [{name: scripted, input_usd: 2, output_usd: 8}]\nfixer: none\n"))
			o.env = append(o.env, "OPENAI_BASE_URL="+m.URL(), "OPENAI_API_KEY=sk-test-0123456789abcdef0123")
			o.commit("main", c.base)
			o.commit("topic", c.head)
			args := []string{"--base", "main"}
			if !c.local {
				bundle := filepath.Join(t.TempDir(), "b.bundle")
				o.git("bundle", "create", "-q", bundle, "main", "topic")
				forgetest.Open(t, o.forge, forge.PullSpec{Owner: "acme", Repo: "odd", Number: 7, Body: c.body, BaseRef: "main", HeadRef: "topic", HeadBundle: bundle})
				args = []string{"7", "-R", "acme/odd"}
			}
			if r, got := o.run(args...); r.Outcome != review.ChangesRequested {
				t.Errorf("exit %d, %s (%s): the model did not read the line\n%s", got.status, r.Outcome, r.Reason, got.stderr)
			}
		})
	}
}
