package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/prloop/prloop/sanitize/secretrules"
)

// The table is what this gitleaks says.
func TestTableIsCurrent(t *testing.T) {
	want, err := table()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../sanitize/secretrules/table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("sanitize/secretrules/table.go is not what gitleaks says: go run . in tools/secretrules")
	}
}

// Both engines find the same secrets, but where a part of one is the secret to gitleaks, in the redaction samples, in recorded attacks, in the source of this module, in files the
// environment names (PARITY, a list of paths), and in mixtures of all of them.
func TestTheSameSecrets(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	texts := corpus(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 { // pieces of two texts, one behind the other
		a, b := texts[r.IntN(len(texts))], texts[r.IntN(len(texts))]
		texts = append(texts, a[:r.IntN(len(a)+1)]+[]string{"", "\n", " = ", "\"", "\n\n"}[r.IntN(5)]+b[r.IntN(len(b)+1):])
	}
	found, differ := 0, 0
	for _, text := range texts {
		want := map[string]bool{}
		for _, f := range d.DetectString(text) {
			if leavesOut(d.Config.Rules[f.RuleID].Regex.String()) {
				f.Secret = f.Match
			}
			want[f.Secret] = true
		}
		got := map[string]bool{}
		secrets, ok := secretrules.Find(text, 1000)
		for _, s := range secrets {
			got[s.Text] = true
		}
		found += len(want)
		if a, b := keys(want), keys(got); !ok || !slices.Equal(a, b) {
			if differ++; differ <= 20 {
				t.Errorf("in %q\ngitleaks finds %q\nwe find       %q", text, a, b)
			}
		}
	}
	t.Logf("%d texts, %d secrets, %d texts differ", len(texts), found, differ)
	if found < 1000 {
		t.Errorf("only %d secrets in %d texts", found, len(texts))
	}
}

func keys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// corpus are texts as the second pass reads them: a few lines, with an end.
func corpus(t *testing.T) []string {
	t.Helper()
	var texts []string
	add := func(text string) {
		lines := strings.SplitAfter(text, "\n")
		for part := range slices.Chunk(lines, 8) {
			texts = append(texts, strings.TrimSuffix(strings.Join(part, ""), "\n")+"\n")
		}
	}
	files := filepath.SplitList(os.Getenv("PARITY"))
	for _, pattern := range []string{"../../sanitize/testdata/redaction/*", "../../sanitize/testdata/injection/*", "../../sanitize/*.go", "../../internal/static/*.go", "../../sanitize/secretrules/*.go", "../../internal/gateway/*.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		files = append(files, more...)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if zip, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			lines := bufio.NewScanner(zip)
			lines.Buffer(nil, 1<<24)
			for lines.Scan() {
				var row struct{ Text string }
				if json.Unmarshal(lines.Bytes(), &row) == nil && row.Text != "" {
					add(row.Text)
				} else {
					add(lines.Text())
				}
			}
			if err := lines.Err(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		add(string(data))
	}
	return texts
}
