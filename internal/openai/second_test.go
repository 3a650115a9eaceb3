package openai

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// A second look may lose only what it was asked about and names; what is severe in it besides is set aside.
func TestASecondLookLosesNothingElse(t *testing.T) {
	const head = `{"agent":"x","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[`
	one := func(id, priority string) string {
		return `{"id":"` + id + `","priority":"` + priority + `","category":"security","file":"a.py","line":2,"title":"It runs what it is given","description":"d","evidence":"os.system(cmd)","score":0}`
	}
	for name, c := range map[string]struct {
		reply reply
		aside int
		err   bool
	}{
		"another id":             {reply{text: head + one("SEC-1", "P0") + "]}"}, 1, false},
		"the one that was asked": {reply{text: head + one("A", "P2") + "]}"}, 0, false},
		"nothing":                {reply{text: head + "]}"}, 0, false},
		"cut within a P0":        {reply{text: (head + one("A", "P0"))[:len(head)+60]}, 1, true},
		"stopped by a filter":    {reply{text: head + one("A", "P0"), fault: "the answer was stopped"}, 1, true},
		"text":                   {reply{text: "I cannot do that."}, 0, true},
		"nothing, in a fence":    {reply{text: "A does not hold.\n\n```json\n" + head + "]}\n```"}, 0, false},
		"prose with a P0":        {reply{text: "- P0: it runs what it is given\n\n```json\n" + head + "]}\n```"}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := review.Finding{ID: "A", Priority: review.P2, File: "a.py", Evidence: "os.system(cmd)"}
			s := settler{task: review.Task{}, limit: 10, findings: []review.Finding{asked}}
			if err := s.lookAgain([]review.Finding{asked}, c.reply, "m"); (err != nil) != c.err {
				t.Errorf("error %v", err)
			}
			if len(s.aside) != c.aside {
				t.Errorf("set aside is %+v", s.aside)
			}
		})
	}
}
