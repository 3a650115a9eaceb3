package redaction

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// carried is the sample of each rule that the sanitizer's tests carry.
const carried = "../../../sanitize/testdata/redaction"

func TestCarriedSamples(t *testing.T) {
	r, err := Measure(carried)
	if err != nil {
		t.Fatal(err)
	}
	if r.All.Secrets < 200 || r.All.recall() < GoalRecall {
		t.Errorf("%d of %d secrets are gone, want 99 in 100", r.All.Gone, r.All.Secrets)
	}
	// What is changed and harmless are made-up tokens that look like real ones: it does not grow (docs/eval.md "Redaction").
	if r.All.Harmless < 60 || r.All.Changed > 29 {
		t.Errorf("%d of %d harmless samples are changed, want 29 at most", r.All.Changed, r.All.Harmless)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil || !strings.Contains(b.String(), "samples  100.00 %") || !strings.Contains(b.String(), "Goals: at least 99 % gone, at most 1 % changed, 10ms for 60 kB: missed") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestCounts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one.jsonl.gz", `{"id":"1","rule":"a","label":"tp","text":"ghp_abcd","secrets":["ghp_abcd"]}
{"id":"2","rule":"b","label":"tp","text":"plain words","secrets":["words"]}
{"id":"3","rule":"b","label":"fp","text":"plain words","clean_for_all_rules":true}
{"id":"4","rule":"c","label":"fp","text":"ghp_abcd","clean_for_all_rules":true}
{"id":"5","rule":"c","label":"fp","text":"ghp_abcd"}
`)
	r, err := Measure(dir)
	want := Tally{Name: "one", Secrets: 2, Gone: 1, Harmless: 3, Changed: 2, Clean: 2, CleanChanged: 1}
	if err != nil || len(r.Sets) != 1 || r.Sets[0] != want {
		t.Errorf("%+v, %v; want %+v", r.Sets, err, want)
	}
	if len(r.Misses) != 2 || r.Misses[0] != (Miss{"c", 0, 2, "4"}) || r.Misses[1] != (Miss{"b", 1, 0, "2"}) || r.Met {
		t.Errorf("%+v", r.Misses)
	}
}

func TestRefused(t *testing.T) {
	if _, err := Measure(t.TempDir()); !errors.Is(err, ErrNoSamples) {
		t.Error(err)
	}
	for name, lines := range map[string]string{
		"no JSON":           "{",
		"another label":     `{"label":"maybe","text":"x"}`,
		"no secret":         `{"label":"tp","text":"x"}`,
		"a line of a flood": `{"label":"fp","text":"` + strings.Repeat("x", lineLimit) + `"}`,
	} {
		dir := t.TempDir()
		write(t, dir, "one.jsonl.gz", lines+"\n")
		if _, err := Measure(dir); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one.jsonl.gz"), []byte("not packed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(dir); err == nil {
		t.Error("what is not packed is read")
	}
}

func write(t *testing.T, dir, name, lines string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(lines))
	if err = errors.Join(err, z.Close(), os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
