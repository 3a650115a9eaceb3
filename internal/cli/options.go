package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/term"
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/formats"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// runOptions are the flags of `prloop run`.
type runOptions struct {
	target     string // number, URL, owner/repo#N, branch; empty for the current branch
	repo       string // -R
	head       string // the commit that the pull request has to be at; empty for any
	bot        string // whose mention is heard, where it is not the login of the credential's app
	itself     bool   // nobody asked for the run, which an event began
	since      time.Time
	base       string // a local range when set
	all        bool
	staged     bool
	commit     string // REV
	patch      string // a file, - for standard input
	reviewers  []string
	dryRun     bool
	estimate   bool
	asJSON     bool
	result     resultFlags
	out        formats.Files
	allowDraft bool
	force      bool
	noFix      bool
	keyFile    string
	command    *app.CommandOrder // of `prloop command`
	// recordModels and replayModels are files of conversations with models.
	recordModels, replayModels string
	settings                   []config.Given
}

// flag values that become settings of the strongest layer.
var settingFlags = []struct{ flag, key, usage string }{
	{"model", "model", "`MODEL` of the builtin agents (PRLOOP_MODEL)"},
	{"base-url", "base_url", "OpenAI-compatible endpoint `URL` (OPENAI_BASE_URL)"},
	{"effort", "effort", "`EFFORT` of a review: light, standard or thorough"},
	{"tier", "tier", "`TIER` of the review: quick, auto or full"},
	{"threshold", "problem_score_threshold", "lowest `SCORE`, 1-10, that is posted"},
	{"min-reviewers", "min_reviewers", "complete answers a verdict needs, `N` of the reviewers other than static"},
	{"rounds", "rounds", "rounds of review at most, `N` from 1 to 3"},
	{"max-wall-time", "limits.max_wall_time_seconds", "`SECONDS` one agent may take"},
	{"max-cost", "limits.max_cost_usd", "`DOLLARS` one agent may spend"},
	{"folders", "folders", "`NAMES` of folders of the workspace that commands may read"},
	{"max-run-cost", "run_limits.max_cost_usd", "`DOLLARS` all agents of the run may spend together"},
}

// endpointFlags is how many of them, at the beginning, are about the endpoint.
const endpointFlags = 2

// addSettings gives a command the flags that say what is reviewed, by whom and with which settings.
func (o *runOptions) addSettings(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.repo, "repo", "R", "", "`[HOST/]OWNER/REPO` of the pull request")
	f.StringVar(&o.base, "base", "", "review all local changes since `REVISION`")
	f.StringSliceVar(&o.reviewers, "reviewers", nil, "configured `NAMES`, builtin, static, or exec:PATH for any program")
	f.BoolVar(&o.noFix, "no-fix", false, "review only: nobody fixes what is found")
	o.addEndpoint(c)
	for _, s := range settingFlags[endpointFlags:] {
		f.String(s.flag, "", s.usage)
	}
	completes(c, "effort", "light", "standard", "thorough")
	completes(c, "tier", "quick", "auto", "full")
}

// addEndpoint gives a command the flags that say which model is asked, and where.
func (o *runOptions) addEndpoint(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.keyFile, "api-key-file", "", "read the endpoint's key from `FILE`, - for standard input (OPENAI_API_KEY)")
	for _, s := range settingFlags[:endpointFlags] {
		f.String(s.flag, "", s.usage)
	}
}

// takeSettings reads the argument and those flags after they were parsed.
func (o *runOptions) takeSettings(c *cobra.Command, a []string) error {
	if len(a) == 1 {
		o.target = a[0]
	}
	switch local := o.changes(); {
	case len(local) > 1:
		return advice.Misuse("use one of them", "%s name different changes", strings.Join(local, " and "))
	case o.patch == "-" && o.keyFile == "-":
		return advice.Misuse("give one of them as a file", "standard input cannot be both the patch and the key")
	case len(local) == 1 && o.result.web:
		return advice.Misuse("leave out --web; prloop show latest prints the report", "%s reviews local changes, whose report has no page on GitHub", local[0])
	case len(local) == 1 && o.force:
		return advice.Misuse("leave out --force", "--force has no effect: %s reviews local changes, which are reviewed anew each time", local[0])
	case len(local) == 1 && (o.target != "" || o.repo != ""):
		return advice.Misuse("leave out "+local[0]+" to review a pull request", "%s reviews local changes and takes no pull request", local[0])
	}
	if o.all {
		o.base, o.all = review.EmptyTree, false
	}
	for _, s := range settingFlags {
		if f := c.Flags().Lookup(s.flag); f != nil && f.Changed {
			o.settings = append(o.settings, config.Given{Key: s.key, Value: f.Value.String(), From: "--" + s.flag})
		}
	}
	if o.noFix {
		o.settings = append(o.settings, config.Given{Key: "fixer", Value: config.UseNone, From: "--no-fix"})
	}
	return nil
}

// changes are the flags given that name a local change.
func (o *runOptions) changes() (given []string) {
	for flag, set := range map[string]bool{"--base": o.base != "", "--commit": o.commit != "", "--patch": o.patch != "", "--all": o.all, "--staged": o.staged} {
		if set {
			given = append(given, flag)
		}
	}
	slices.Sort(given)
	return given
}

func runCommand(p *Invocation) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [PR]",
		Short: "Review a pull request and post the verdict",
		Long: "PR is a number, a URL, owner/repo#number or a branch; without one it is the pull request of the current branch.\n" +
			"Local changes are reviewed with --base (all since a revision, uncommitted ones included), --all, --staged, --commit or --patch;\n" +
			"\"prloop run -\" reads a patch from standard input. No GitHub is touched then.",
		Example: "  prloop run 123\n  prloop run https://github.com/o/r/pull/123 --dry-run\n  prloop run --base main --reviewers static,exec:./my-reviewer\n" +
			"  prloop run --staged\n  git diff | prloop run -",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if len(a) == 1 && a[0] == "-" {
				a, o.patch = nil, "-"
			}
			if err := o.takeSettings(c, a); err != nil {
				return err
			}
			if err := o.result.check(); err != nil {
				return err
			}
			return p.run(c.Context(), o)
		},
	}
	o.addSettings(c)
	f := c.Flags()
	f.BoolVar(&o.all, "all", false, "review all files of the working tree, as if all were new")
	f.BoolVar(&o.staged, "staged", false, "review the staged changes")
	f.StringVar(&o.commit, "commit", "", "review what the commit `REVISION` changed")
	f.StringVar(&o.patch, "patch", "", "review the patch in `FILE`, applied to HEAD; - for standard input")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the report and post nothing")
	f.BoolVar(&o.estimate, "estimate", false, "estimate the model calls of the run and their cost; call and post nothing")
	o.result.add(c)
	addFormats(c, &o.out)
	f.BoolVar(&o.allowDraft, "draft", false, "review a draft too")
	f.BoolVar(&o.force, "force", false, "review and post again even if this commit was already reviewed")
	f.StringVar(&o.recordModels, "record-models", "", "record the conversations with models in `FILE`, redacted (PRLOOP_RECORD_MODELS)")
	f.StringVar(&o.replayModels, "replay-models", "", "answer from the conversations recorded in `FILE` instead of calling models (PRLOOP_REPLAY_MODELS)")
	return c
}

// addFormats gives a command the flags that write findings for other tools.
func addFormats(c *cobra.Command, out *formats.Files) {
	f := c.Flags()
	f.StringVar(&out.SARIF, "sarif", "", "write the findings as SARIF to `FILE`, - for standard output")
	f.StringVar(&out.Checkstyle, "checkstyle", "", "write the findings as checkstyle XML to `FILE`")
	f.StringVar(&out.RDJSONL, "rdjsonl", "", "write the findings for reviewdog to `FILE`")
}

// writeFormats writes a finished run's findings for other tools.
func (p *Invocation) writeFormats(out formats.Files, r review.RunResult, policy sanitize.Policy) error {
	policy.Repo = r.Target.Repo // a run that had ended before has no policy, and its links are the repository's all the same
	return out.Write(p.Stdout, p.Dir, formats.Run{Result: r, Policy: policy, Version: Version})
}

// readKey makes the key in --api-key-file one of the settings. Standard input can be read only once.
func (p *Invocation) readKey(o *runOptions) error {
	if o.keyFile == "" {
		return nil
	}
	key, err := p.process().Read(o.keyFile)
	if err != nil {
		return advice.Error{Err: fmt.Errorf("read the key: %w", err), Next: "check --api-key-file", Status: advice.Usage}
	}
	o.settings = append(o.settings, config.Given{Key: "api_key", Value: strings.TrimSpace(string(key)), From: "--api-key-file"})
	return nil
}

// inActions reports whether the process runs as a step of GitHub Actions.
func (p *Invocation) inActions() bool { return p.env("GITHUB_ACTIONS") == "true" }

// terminal reports whether a stream is a terminal a live view can be drawn on.
func (p *Invocation) terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || p.env("TERM") == "dumb" || p.inActions() || p.env("CI") != "" {
		return false
	}
	return term.IsTerminal(f)
}

// interactive reports whether a person can be asked.
func (p *Invocation) interactive() bool {
	in, ok := p.Stdin.(*os.File)
	return ok && p.terminal(in) && p.terminal(p.Stdout)
}

// width is the terminal's width in columns; 80 when nothing says.
func (p *Invocation) width() int {
	if n, err := strconv.Atoi(p.env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := p.Stdout.(*os.File); ok {
		if n := terminalWidth(f); n > 0 {
			return n
		}
	}
	return 80
}

// color reports whether output may be coloured (NO_COLOR, https://no-color.org).
func (p *Invocation) color() bool { return p.env("NO_COLOR") == "" && p.terminal(p.Stdout) }
