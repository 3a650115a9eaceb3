package starter

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/sanitize"
)

// Command is `prloop init`.
func Command() subcommand.Command {
	var o Options
	f := subcommand.Flags("init")
	f.BoolVar(&o.Workflow, "workflow", false, "also write .github/workflows/prloop.yml, which reviews labelled pull requests")
	f.BoolVar(&o.Hook, "hook", false, "also write a pre-push hook")
	f.BoolVar(&o.Force, "force", false, "replace existing files")
	return subcommand.Command{
		Use:   "init",
		Short: "Write a commented .reviewerc, and optionally a workflow or a hook",
		Long: "The suggestions follow from the files of the repository. Nothing is committed, and no existing file is replaced without\n" +
			"--force: a .reviewerc stays when a workflow or a hook is added. The hook looks at what is about to be pushed with rules and linters alone.",
		Example: "  prloop init\n  prloop init --workflow --hook",
		Flags:   f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			w, err := Write(ctx, p.Dir, o)
			if err != nil {
				return err
			}
			for _, name := range w.Files {
				fmt.Fprintf(p.Stdout, "wrote %s\n", sanitize.Terminal(name))
			}
			fmt.Fprint(p.Stdout, o.next(w.Base))
			return nil
		},
	}
}

// next says what is left to a person.
func (o Options) next(base string) string {
	text := "next: prloop run --base " + base + "\n"
	if base == "" {
		text = "next: commit something; prloop run --base HEAD then reviews what you change\n"
	}
	if o.Workflow {
		text += "next, for the workflow:\n" +
			"  gh secret set OPENAI_API_KEY\n" +
			"  openssl rand -hex 32 | gh secret set PRLOOP_MARKER_KEY\n" +
			"  gh label create prloop\n" +
			"  commit and push " + workflowName + ", then add the label prloop to a pull request\n"
	}
	if o.Hook {
		text += "the hook runs before each git push; git push --no-verify skips it\n"
	}
	return text
}
