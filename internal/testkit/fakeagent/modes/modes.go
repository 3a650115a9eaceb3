package modes

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// Mode is one behaviour.
type Mode struct {
	Name string
	// Group is process, output, content, resource, edit or net.
	Group string
	// About is one line.
	About string
	run   func(*agent) int
}

// All returns every mode, grouped, in the order of the list.
func All() []Mode {
	return slices.Concat(processModes(), outputModes(), contentModes(), resourceModes(), hogModes(), editModes(), netModes())
}

// agent is one run of fakeagent.
type agent struct {
	out, err io.Writer
	task     review.Task
	// findings are scripted; nil means the mode's own.
	findings []review.Finding
	delay    time.Duration
	count    int
	tree     string
	// fixes has a fixer change something for good before the mode begins.
	mends bool
	// lies makes a fixer's result a false one.
	lies   func(*review.FixResult)
	target string
	seek   string
	roots  string
	// words are what a content mode has to say where the role has no findings to say it in.
	words string
	// request is the task as it came.
	request []byte
	// rest are further arguments; children of this agent are given them, so that a test can find them.
	rest []string
}

// Main plays the agent and returns its exit status. A task that cannot be read is answered as a reviewer's: the parent
// is what is being tested.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fakeagent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	mode := flags.String("mode", "ok", "what to do; see -list")
	list := flags.Bool("list", false, "list the modes")
	findings := flags.String("findings", os.Getenv("FAKEAGENT_FINDINGS"), "JSON `file` with an array of spec.md A1 findings to answer with")
	a := &agent{out: stdout, err: stderr}
	flags.DurationVar(&a.delay, "delay", 2*time.Second, "how long slow modes take")
	flags.IntVar(&a.count, "count", 64, "bound of modes that eat something: processes, or megabytes")
	flags.StringVar(&a.tree, "tree", "", "folder that edit and disk modes may damage; they refuse to run without")
	flags.BoolVar(&a.mends, "mend", false, "as a fixer, first change a file in -tree and report what was asked for as fixed")
	flags.StringVar(&a.target, "target", "", "address that net modes try to reach")
	flags.StringVar(&a.seek, "seek", "", "`PREFIX` of the canaries to hunt, written backwards")
	flags.StringVar(&a.roots, "roots", "/", "folders a hunt reads, separated as in PATH")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	a.rest = flags.Args()
	if *list {
		for _, m := range All() {
			fmt.Fprintf(stdout, "%-10s %-22s %s\n", m.Group, m.Name, m.About)
		}
		return 0
	}
	all := All()
	i := slices.IndexFunc(all, func(m Mode) bool { return m.Name == *mode })
	if i < 0 {
		fmt.Fprintf(stderr, "fakeagent: unknown mode %q; -list names them\n", *mode)
		return 2
	}
	if *findings != "" {
		if err := a.script(*findings); err != nil {
			fmt.Fprintln(stderr, "fakeagent:", err)
			return 2
		}
	}
	if a.tree != "" {
		var err error
		if a.tree, err = filepath.Abs(a.tree); err != nil { // what lies beside it has to have a name
			fmt.Fprintln(stderr, "fakeagent:", err)
			return 2
		}
	}
	if !readsNothing(*mode) {
		a.request, _ = io.ReadAll(stdin)
		a.task, _, _ = schema.DecodeTask(a.request)
	}
	if err := a.mend(); err != nil {
		fmt.Fprintln(stderr, "fakeagent:", err)
		return 2
	}
	return all[i].run(a)
}

func (a *agent) script(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	a.findings = []review.Finding{}
	if err := json.Unmarshal(data, &a.findings); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// found returns the scripted findings, or one that is plain.
func (a *agent) found() []review.Finding {
	if a.findings != nil {
		return a.findings
	}
	return []review.Finding{a.plain()}
}

// plain is an ordinary finding, on the first changed file.
func (a *agent) plain() review.Finding {
	line := 1
	f := review.Finding{ID: "FAKE-001", Priority: review.P2, Category: review.CategoryBug, Line: &line,
		Title: "An error is dropped", Description: "The caller cannot tell a failure from an empty answer.",
		Suggestion: "Return the error.", Source: review.Source{Type: "agent", Name: a.name()}}
	if len(a.task.Brief.Files) > 0 {
		f.File = a.task.Brief.Files[0].Path
	}
	return f
}

func (a *agent) name() string {
	if a.task.Agent != "" {
		return a.task.Agent
	}
	return "fakeagent"
}

// envelope is a valid answer of the task's role with these findings.
func (a *agent) envelope(findings []review.Finding) []byte {
	var v any
	switch a.task.Role {
	case review.RoleCommentsAnalyzer:
		v = review.CommentsResult{Agent: a.name(), PRNumber: a.task.PRNumber, Issues: review.Count(findings), PendingIssues: findings}
	case review.RoleFixer:
		r := review.FixResult{Agent: a.name(), PRNumber: a.task.PRNumber}
		if a.task.Fix != nil {
			for _, f := range a.task.Fix.IssuesToFix {
				a.settled(&r, f.ID)
			}
		}
		r.Summary.Fixed, r.Summary.Rejected = len(r.FixedIssues), len(r.RejectedIssues)
		if a.lies != nil {
			a.lies(&r)
		}
		v = r
	case review.RoleVerifier:
		r := review.VerifierResult{Agent: a.name(), PRNumber: a.task.PRNumber, FullReport: "Verified by fakeagent."}
		if a.task.Verify != nil {
			for _, f := range a.task.Verify.Findings {
				r.Assessments = append(r.Assessments, review.Assessment{FindingID: f.ID, Status: review.Plausible, Reason: "I cannot tell."})
			}
		}
		v = r
	case review.RoleScout:
		r := review.ScoutResult{Complexity: review.SimpleChange, Verdict: review.LooksGood, Observations: []review.Observation{}, Reasons: []string{"Scanned by fakeagent."}}
		for _, f := range findings {
			r.Verdict = review.Flag
			r.Observations = append(r.Observations, review.Observation{Tag: f.Category, Text: f.Title, File: f.File, Line: f.Line})
		}
		v = r
	case review.RoleFinder:
		r := review.FinderResult{Wanted: []review.Wanted{}}
		if a.task.Find != nil {
			for _, f := range a.task.Find.Fragments {
				line := 1
				r.Wanted = append(r.Wanted, review.Wanted{File: f.File, Line: &line, Reason: "Read by fakeagent."})
			}
			for _, l := range a.task.Find.Listings {
				for _, name := range l.Files {
					r.Wanted = append(r.Wanted, review.Wanted{File: path.Join(l.Folder, name), Reason: "Asked for by fakeagent."})
				}
			}
		}
		v = r
	case review.RoleCommand:
		v = answer.CommandResult(review.CommandAnswer{Summary: "Checked by fakeagent.", Findings: findings, Confidence: review.MediumConfidence, Notes: a.told()})
	default:
		c := review.Approve
		if len(findings) > 0 {
			c = review.RequestChanges
		}
		v = review.ReviewerResult{Agent: a.name(), PRNumber: a.task.PRNumber, Conclusion: c, Issues: review.Count(findings), Findings: findings,
			FullReport: "Reviewed by fakeagent."}
	}
	doc, err := schema.Encode(v)
	if err != nil {
		fmt.Fprintln(a.err, "fakeagent:", err)
		os.Exit(2)
	}
	return doc
}

// told is what a command was told by who asked for it.
func (a *agent) told() []string {
	c := a.task.Command
	if c == nil || c.Args == "" {
		return nil
	}
	argv, _ := c.ArgvText()
	return []string{"It was asked with " + argv + "."}
}

// answer writes a valid envelope and ends well.
func (a *agent) answer(findings []review.Finding) int {
	fmt.Fprintf(a.out, "%s\n", a.envelope(findings))
	return 0
}

func (a *agent) event(line string) { fmt.Fprintln(a.out, line) }

func hang() int {
	for {
		time.Sleep(time.Hour)
	}
}
