package policy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/policy"
)

func TestAssign(t *testing.T) {
	from := policy.Values{"gating_policy": "verdict", "fixing": true}
	for _, row := range []struct {
		words string
		want  policy.Values
		fault string
	}{
		{words: "fixing=false", want: policy.Values{"gating_policy": "verdict", "fixing": false}},
		{words: "gating_policy=|fixing=", want: policy.Values{}},
		{words: "context_path_excludes=a/**,{b,c}/*\n d", want: policy.Values{"gating_policy": "verdict", "fixing": true, "context_path_excludes": []string{"a/**", "{b,c}/*", "d"}}},
		{words: "max_cost_per_run_usd=2.5", want: policy.Values{"gating_policy": "verdict", "fixing": true, "max_cost_per_run_usd": 2.5}},
		{words: "max_tokens_full_override=4096", want: policy.Values{"gating_policy": "verdict", "fixing": true, "max_tokens_full_override": int64(4096)}},
		{words: "max_tokens_full_override=4096.5", fault: "max_tokens_full_override: must be a whole number"},
		{words: "max_tokens_full_override=1", fault: "max_tokens_full_override: must be from 256 to 1000000"},
		{words: "max_cost_per_run_usd=NaN", fault: "max_cost_per_run_usd: must be a number"},
		{words: "max_cost_per_run_usd=much", fault: "max_cost_per_run_usd: must be a number"},
		{words: "gating_polcy=off", fault: `gating_polcy: unknown column; did you mean "gating_policy"?`},
		{words: "gating_policy=verdct", fault: `gating_policy: "verdct" is not one of off, presence, verdict-non-trivial, verdict; did you mean "verdict"?`},
		{words: "gating_policy", fault: "gating_policy: has no value: write gating_policy=VALUE, or gating_policy= to unset it"},
		{words: "context_path_excludes=ok,[a", fault: `context_path_excludes[1]: "[a" is not a valid glob`},
		{words: "guidance_files=" + strings.Repeat("{*,*}", 7), fault: `guidance_files[0]: "{*,*}{*,*}{*,*}{*,*}{*,*}{*,*}{*,*}" has braces that may stand for more than 64 globs; write several globs instead`},
		{words: "context_path_excludes=/etc/**", fault: `context_path_excludes[0]: "/etc/**" would match nothing: paths begin at the root of the repository, without a slash`},
		{words: "context_path_excludes=!customer_data/*", fault: `context_path_excludes[0]: "!customer_data/*" would match nothing: a glob takes nothing out of another one`},
		{words: "context_path_excludes=customer_data/", want: policy.Values{"gating_policy": "verdict", "fixing": true, "context_path_excludes": []string{"customer_data/"}}},
		{words: "crew=../x y", fault: `crew: "../x y" is not a name of lower-case letters, digits, dots, underscores and dashes`},
		{words: "crew=" + strings.Repeat("a", 41), fault: "crew: has 41 bytes, but at most 40 are accepted"},
		{words: "fixing=perhaps", fault: "fixing: must be true or false"},
		{words: "allowed_labels=advisory,advisory", want: policy.Values{"gating_policy": "verdict", "fixing": true, "allowed_labels": []string{"advisory"}}},
		{words: "guidance_files=a\x00b", fault: "guidance_files[0]: holds a control character"},
		{words: "fixing=no way|crew=A", fault: "fixing: must be true or false\ncrew: \"A\" is not a name of lower-case letters, digits, dots, underscores and dashes"},
	} {
		got, err := policy.Assign(from, strings.Split(row.words, "|"))
		switch {
		case row.fault != "":
			var e *policy.Error
			if !errors.As(err, &e) || err.Error() != row.fault {
				t.Errorf("%q: %v\nwant %s", row.words, err, row.fault)
			}
		case err != nil:
			t.Errorf("%q: %v", row.words, err)
		default:
			if d := cmp.Diff(row.want, got); d != "" {
				t.Errorf("%q: %s", row.words, d)
			}
		}
	}
	if d := cmp.Diff(policy.Values{"gating_policy": "verdict", "fixing": true}, from); d != "" {
		t.Errorf("what it began with was changed: %s", d)
	}
}

// An export read again is what was exported; no column is left behind.
func TestExportImport(t *testing.T) {
	rows := []policy.Row{
		{Repo: policy.Repo{Host: "github.com", ID: 1, Name: "o/a"}, Version: 7, Columns: policy.Values{
			"gating_policy": "verdict", "allowed_labels": []string{"strict"}, "context_path_excludes": []string{"customer_data/*", "<&>"}, "fixing": false,
			"max_cost_per_run_usd": 0.5, "max_tokens_full_override": int64(9000), "crew": "main"}},
		{Repo: policy.Repo{Host: "ghe.example.com", ID: 1, Name: "o/b"}, Version: 1, Columns: policy.Values{}},
	}
	data, err := policy.Export(rows)
	if err != nil {
		t.Fatal(err)
	}
	back, err := policy.Import(data)
	if err != nil || len(back) != len(rows) {
		t.Fatalf("%d, %v", len(back), err)
	}
	for i, r := range rows {
		if d := cmp.Diff(policy.Exported{Repo: r.Repo, Columns: r.Columns}, back[i]); d != "" {
			t.Error(d)
		}
	}
}

func TestImportIsStrict(t *testing.T) {
	good := `{"host":"github.com","id":5,"repository":"o/r","columns":{"fixing":true}}`
	wrap := func(rows string) string { return `{"format":1,"policies":[` + rows + `]}` }
	for in, want := range map[string]string{
		`{`: "the file: is not an export", `[]`: "the file: is not an export", wrap(good) + "x": "the file: is not an export", `{"format":2,"policies":[]}`: "format: is 2",
		wrap(good + "," + good):                                                                     "policies[1]: names the repository of policies[0] again",
		wrap(good + `,{"host":"","id":6}`):                                                          "policies[1].host: is missing",
		wrap(`{"host":"github.com","id":0}`):                                                        "policies[0].id: is not the id",
		wrap(`{"host":"github.com","id":5,"columns":{"fixng":true}}`):                               `policies[0].columns.fixng: unknown column; did you mean "fixing"?`,
		wrap(`{"host":"github.com","id":5,"columns":{"base_url":"https://x"}}`):                     "policies[0].columns.base_url: unknown column",
		wrap(`{"host":"github.com","id":5,"columns":{"context_path_excludes":["[","b"]},"more":1}`): `the file: is not an export`,
		wrap(`{"host":"github.com","id":5,"columns":{"context_path_excludes":["b","["]}}`):          `policies[0].columns.context_path_excludes[1]: "[" is not a valid glob`,
		wrap(`{"host":"github.com","id":5,"columns":{"max_cost_per_run_usd":1e999}}`):               "policies[0].columns.max_cost_per_run_usd: must be a number",
	} {
		_, err := policy.Import([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v\nwant %s", in, err, want)
		}
	}
	if _, err := policy.Import(bytes.Repeat([]byte(" "), 9<<20)); err == nil {
		t.Error("a file of 9 MB was read")
	}
}

// What is read is settled: reading it again gives the same.
func FuzzRead(f *testing.F) {
	f.Add(`{"gating_policy":"off","context_path_excludes":["a"],"max_cost_per_run_usd":1}`)
	f.Add(`{"max_tokens_full_override":300.0,"crew":"x"}`)
	f.Fuzz(func(t *testing.T, in string) {
		var object map[string]any
		d := json.NewDecoder(strings.NewReader(in))
		d.UseNumber()
		if d.Decode(&object) != nil {
			return
		}
		first, err := policy.Read(object)
		if err != nil {
			return
		}
		data, err := policy.Export([]policy.Row{{Repo: policy.Repo{Host: "h", ID: 1}, Columns: first}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := policy.Import(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if d := cmp.Diff(first, back[0].Columns); d != "" {
			t.Error(d)
		}
	})
}

// The page names every column with its setting, and no other.
func TestThePageIsWhole(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(page), -1)
	if len(rows) != len(policy.Columns()) {
		t.Errorf("the page has %d columns, there are %d", len(rows), len(policy.Columns()))
	}
	for i, c := range policy.Columns() {
		if i < len(rows) && (rows[i][1] != c.Name || rows[i][2] != c.Key) {
			t.Errorf("column %s of %s: the page has %s of %s", c.Name, c.Key, rows[i][1], rows[i][2])
		}
	}
}
