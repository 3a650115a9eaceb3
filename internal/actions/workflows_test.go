package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/actions"
)

// attacks are known ways in which workflows are turned against their repository.
var attacks = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"a stranger's pull request gets the secrets", regexp.MustCompile(`pull_request_target`)},
	{"so does one by way of another workflow", regexp.MustCompile(`workflow_run`)},
	{"the tree of a pull request is checked out", regexp.MustCompile(`actions/checkout|ref:.*head`)},
	{"event text becomes shell code", regexp.MustCompile(`(?s)run:[^\n]*\$\{\{|run: \|\n(?:[ ]+[^\n]*\n)*?[ ]+[^\n]*\$\{\{`)},
	{"the token may do everything", regexp.MustCompile(`write-all|permissions: write`)},
	{"an action of others is not pinned", regexp.MustCompile(`uses: (?:[^p\n]|p[^r])[^\n]*@(?:[^0-9a-f\n][^\n]*|[0-9a-f]{0,39}(?:[^0-9a-f\n][^\n]*)?)\n`)},
	{"an image is not pinned", regexp.MustCompile(`(?m)^\s*(?:image|container):`)},
	{"secrets are handed on whole", regexp.MustCompile(`secrets: inherit|toJSON\(secrets\)`)},
	{"a cache is shared with pull requests", regexp.MustCompile(`actions/cache`)},
	{"a runner of one's own runs strangers' jobs", regexp.MustCompile(`self-hosted`)},
	{"an author has the job skipped, which counts as a success", regexp.MustCompile(`(?m)^    if:[^\n]*(?:pull_request\.(?:draft|title|body)|event\.(?:action|changes))`)},
	{"commands of the log are trusted", regexp.MustCompile(`ACTIONS_ALLOW_UNSECURE_COMMANDS`)},
}

func TestExamplesWithstandKnownAttacks(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range append(files, "../../action.yml") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, a := range attacks {
			if m := a.pattern.FindString(text); m != "" {
				t.Errorf("%s: %s: %q", file, a.name, m)
			}
		}
		if !strings.HasSuffix(file, "action.yml") && (!strings.Contains(text, "\npermissions:") || !strings.Contains(text, "timeout-minutes:")) {
			t.Errorf("%s: permissions and time are not bounded", file)
		}
	}
}

// A job that ends others of its kind is not one that reviews nothing: an event that asks for no review, be it a new title or another label, has a group of its own, and a
// job whose check has another name (threats.md T460, T638). Labels with which a pull request is opened begin no review each (threats.md T774).
func TestWhatReviewsNothingEndsNoReview(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		types := regexp.MustCompile(`types: .*`).FindString(text)
		if strings.Contains(types, "labeled") && !strings.Contains(text, "\n          label: ") {
			t.Errorf("%s: each label begins a review of its own", file)
		}
		if !strings.Contains(types, "synchronize") {
			continue
		}
		if several++; !strings.Contains(text, "cancel-in-progress: true") {
			t.Errorf("%s: events at once begin a review each", file)
		}
		for event, told := range map[string]string{"edited": "github.event.changes.base", "labeled": "github.event.label.name != 'prloop'"} {
			if !strings.Contains(types, event) {
				continue
			}
			for _, line := range []string{`(?m)^  group: .*`, `(?m)^    name: .*`, `(?m)^        if: .*`} {
				if found := regexp.MustCompile(line).FindString(text); !strings.Contains(found, told) {
					t.Errorf("%s: %q does not tell by %s", file, found, told)
				}
			}
		}
	}
	if several < 3 {
		t.Errorf("%d examples have jobs that end others", several)
	}
}

// The job of an example that reviews what has a label begins without it too, when a commit is proposed for a branch (threats.md T220, T803), and its check then has
// another name.
func TestAnotherBranchIsSeenToWithoutTheLabel(t *testing.T) {
	data, err := os.ReadFile("../../examples/review-on-label.yml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, action := range []string{"opened", "reopened", "synchronize", "ready_for_review", "edited"} {
		if types := regexp.MustCompile(`types: .*`).FindString(text); !regexp.MustCompile(`[\[ ]` + action + `[,\]]`).MatchString(types) {
			t.Errorf("no job begins when a pull request is %s: %s", action, types)
		}
	}
	if found := regexp.MustCompile(`(?m)^    if:.*`).FindString(text); found != "" {
		t.Errorf("the job may be skipped: %s", found)
	}
	if name := regexp.MustCompile(`(?m)^    name:.*`).FindString(text); !strings.Contains(name, "!(contains(github.event.pull_request.labels.*.name, 'prloop') || github.event.changes.base)") {
		t.Errorf("what reviews nothing is called %s", name)
	}
}

// Jobs of each example know each other's comments.
func TestExamplesShareAKey(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, step, _ := strings.Cut(string(data), "uses: prloop/prloop@")
		if !strings.Contains(step, "\n          PRLOOP_MARKER_KEY: ${{ secrets.PRLOOP_MARKER_KEY }}\n") {
			t.Errorf("%s: the step of prloop has no key", file)
		}
	}
}

// The action changes the kernel's settings of GitHub's runners, and of no other machine.
func TestActionLeavesOtherMachinesAlone(t *testing.T) {
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^.*\bsudo\b.*$`).FindAllString(string(data), -1)
	if len(lines) != 1 {
		t.Fatalf("%d lines with sudo: %q", len(lines), lines)
	}
	_, script, _ := strings.Cut(lines[0], "run: ")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte("#!/bin/sh\necho \"+ $@\"\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for runner, want := range map[string]string{"github-hosted": "+ -n sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0\n", "self-hosted": "", "": ""} {
		c := exec.Command("bash", "-e", "-c", script)
		c.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "RUNNER_ENVIRONMENT=" + runner}
		if out, err := c.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("on %q: %q, %v", runner, out, err)
		}
	}
}

// Each pattern finds what it is there for.
func TestAttacksAreFound(t *testing.T) {
	bad := "on: pull_request_target\n  workflow_run:\npermissions: write-all\n - uses: actions/checkout@v4\n   run: echo ${{ github.event.pull_request.title }}\n" +
		"container: node:20\nsecrets: inherit\n uses: actions/cache@v4\nruns-on: self-hosted\n    if: ${{ !github.event.pull_request.draft }}\nenv: ACTIONS_ALLOW_UNSECURE_COMMANDS\n"
	for _, a := range attacks {
		if !a.pattern.MatchString(bad) {
			t.Errorf("%s is not found", a.name)
		}
	}
	block := "run: |\n  echo a\n  echo ${{ github.head_ref }}\n"
	if !attacks[3].pattern.MatchString(block) {
		t.Error("a script of several lines is not looked through")
	}
}

// action.yml has every input of the table, in each of its spellings, and no other.
func TestActionHasTheInputs(t *testing.T) {
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\ninputs:\n")
	text, _, _ = strings.Cut(text, "\noutputs:\n")
	had := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  ([A-Za-z_-]+):$`).FindAllStringSubmatch(text, -1) {
		had[m[1]] = true
	}
	for _, in := range actions.Inputs {
		for _, name := range append([]string{in.Name}, in.Old...) {
			if !had[name] {
				t.Errorf("action.yml has no input %s", name)
			}
			delete(had, name)
		}
	}
	if len(had) > 0 {
		t.Errorf("nobody reads %v", had)
	}
}

func TestReadInputs(t *testing.T) {
	g, err := actions.ReadInputs(`{"opencode_api_key":"k","enable_web":"false","pr":"#7","model":" m ","label":"","unknown":"x"}`)
	if err != nil || g["api-key"] != "k" || g["enable-web"] != "false" || g.PR() != 7 || g["model"] != "m" || len(g) != 4 {
		t.Errorf("%v, %v", g, err)
	}
	for _, bad := range []string{`[`, `{"pr":"x"}`, `{"pr":"-1"}`, `{"fix":"yes"}`, `{"enable-web":"1"}`, `{"api-key":"a","api_key":"b"}`} {
		if _, err := actions.ReadInputs(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
