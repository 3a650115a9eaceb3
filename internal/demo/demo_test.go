package demo

import (
	"strings"
	"testing"
)

const sample = "# Review: x\n\nRound 1.\n\n## To do\n\n- a\n\n## Findings\n\n### P0\n\n#### A\n\ntext\n\n### P1\n\n#### B\n\n<details>\nc\n</details>\n\n## Receipt\n\nr\n"

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		what     string
		sections []string
		want     string
	}{
		{"all of it", nil, sample},
		{"the beginning alone", []string{}, "# Review: x\n\nRound 1.\n\n*Also in this report: To do, Findings, Receipt.*\n"},
		{"one section, cut", []string{"Findings/P0"}, "# Review: x\n\nRound 1.\n\n## Findings\n\n### P0\n\n#### A\n\ntext\n\n*Also in this report: To do, the rest of Findings, Receipt.*\n"},
		{"a group that is not there cuts nothing", []string{"To do/P7"}, "# Review: x\n\nRound 1.\n\n## To do\n\n- a\n\n*Also in this report: Findings, Receipt.*\n"},
	} {
		if got := excerpt(sample, c.sections); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.what, got, c.want)
		}
	}
}

func TestStart(t *testing.T) {
	w, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, c := range w.Chapters {
		if c.pull.HeadSHA() == "" || len(c.Posted()) != 0 || c.Expected() == 0 {
			t.Errorf("%s: head %q, %d comments before anybody ran", c.Target, c.pull.HeadSHA(), len(c.Posted()))
		}
		env := strings.Join(w.Env(c, "/bin/gh", "/state"), "\n")
		for _, want := range []string{"PRLOOP_STATE=/state", "PRLOOP_SANDBOX=best", "PRLOOP_GH=/bin/gh", "OPENAI_BASE_URL=" + c.model.URL()} {
			if !strings.Contains(env, want) {
				t.Errorf("%s: the environment lacks %s", c.Target, want)
			}
		}
	}
	if f := w.Faults(); f != nil {
		t.Errorf("faults before anybody ran: %v", f)
	}
}
