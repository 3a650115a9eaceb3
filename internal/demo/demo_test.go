package demo

import (
	"strings"
	"testing"
)

const sample = "## prloop: x\n\nwhy\n\n#### P0: A\n\na\n\n#### P1: B\n\nb\n\n<details>\n<summary>Optional: 1 P3</summary>\n\n#### P3: C\n\nc\n\n</details>\n\n<details>\n<summary>Receipt: r</summary>\n\nr\n\n</details>\n"

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		what     string
		findings int
		want     string
	}{
		{"the beginning alone", 0, "## prloop: x\n\nwhy\n\n*Also in this report: details of 2 more; Optional: 1 P3; Receipt: r.*\n"},
		{"one finding", 1, "## prloop: x\n\nwhy\n\n#### P0: A\n\na\n\n*Also in this report: details of 1 more; Optional: 1 P3; Receipt: r.*\n"},
		{"no more than are open", 9, "## prloop: x\n\nwhy\n\n#### P0: A\n\na\n\n#### P1: B\n\nb\n\n*Also in this report: Optional: 1 P3; Receipt: r.*\n"},
	} {
		if got := excerpt(sample, c.findings); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", c.what, got, c.want)
		}
	}
	if got := excerpt("## prloop: x\n\nwhy\n", 0); got != "## prloop: x\n\nwhy\n" {
		t.Errorf("a report without anything folded: %q", got)
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
