package evalcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/sources"
	"github.com/prloop/prloop/internal/subcommand"
)

func importCommand() subcommand.Command {
	var recording, judge string
	var m sources.Merged
	f, asJSON := newFlags("import")
	f.StringVar(&recording, "recording", "", "code-review-bench: take the recording `NAME`; the first one if not given")
	f.StringVar(&judge, "judge", "", "code-review-bench: take the verdicts of the judge `NAME`; the first one if not given")
	f.StringVar(&m.Base, "base", "", "merged: `REVISION` of the target branch before the merge")
	f.StringVar(&m.First, "first", "", "merged: `REVISION` that was reviewed first")
	f.StringVar(&m.Last, "last", "", "merged: `REVISION` that was merged")
	f.StringVar(&m.ID, "id", "", "merged: `NAME` of the case")
	f.StringVar(&m.Title, "title", "", "merged: `TITLE` of the pull request")
	f.StringVar(&m.Body, "body", "", "merged: `TEXT` of the pull request")
	f.StringVar(&m.Language, "language", "", "merged: main `LANGUAGE` of the repository")
	f.BoolVar(&m.Clean, "clean", false, "merged: the first version was merged as it was, and nothing is expected to be found")
	return subcommand.Command{
		Use:   "import KIND SOURCE OUT",
		Short: "Import review cases from benchmarks and merged pull requests",
		Long: "Writes cases, and result sets where reviews were recorded, into the folder OUT. KIND says what SOURCE is:\n" +
			"  code-review-bench  the folder of index.json, with recordings in code-review-bench\n" +
			"  aacr-bench         the folder of positive.json.gz and negative.json.gz\n" +
			"  cases              a folder of cases, which are checked, and pinned by hash\n" +
			"  merged             a git checkout: what the authors of a pull request changed before the merge is expected to be found",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, args []string) error {
			source, out := p.Path(args[1]), p.Path(args[2])
			var made sources.Imported
			var err error
			switch kind := args[0]; kind {
			case "code-review-bench":
				made, err = sources.CodeReviewBench(source, out, recording, judge)
			case "aacr-bench":
				made, err = sources.AACRBench(source, out)
			case "cases":
				made, err = sources.Own(source, out)
			case "merged":
				m.Dir = source
				if m.Base == "" || m.First == "" || m.Last == "" || m.ID == "" {
					return advice.Misuse("--id NAME --base main --first REVISION --last REVISION", "a merged pull request needs --id, --base, --first and --last")
				}
				made, err = m.Import(ctx, out)
			default:
				return advice.Misuse("one of: code-review-bench, aacr-bench, cases, merged", "%q is no kind of source", kind)
			}
			switch {
			case errors.Is(err, sources.ErrMerged):
				return advice.Misuse("--base MERGE^1, where MERGE is the commit that merged it", "import %s: %w", args[0], err)
			case errors.Is(err, sources.ErrEmpty) && args[0] == "merged":
				return advice.Misuse("--clean when it was merged as it was; else look at --first and --last", "import %s: %w", args[0], err)
			case errors.Is(err, eval.ErrNoBench), errors.Is(err, sources.ErrEmpty), errors.Is(err, fs.ErrNotExist):
				return advice.Misuse("see: prloop eval import --help", "import %s: %w", args[0], err)
			case err != nil:
				return refused(fmt.Errorf("import %s: %w", args[0], err))
			}
			return print(p, *asJSON, made)
		},
	}
}
