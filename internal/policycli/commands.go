package policycli

import (
	"context"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
)

// Commands is `prloop policy`.
func Commands(h host.Host) subcommand.Command {
	return subcommand.Command{
		Use: "policy", Short: "View and change the settings of a repository",
		Long: "A policy is a row of columns for one repository in prloop's database. It overrides .reviewerc, within the bounds of the operator's\n" +
			"file (docs/policy.md). prloop config explain PR shows what it comes to.",
		Members: []subcommand.Command{get(h), set(h), export(h), importing(h), log(h)},
	}
}

const (
	ofOne = "`[HOST/]OWNER/REPO` of the policy (default: the repository of this checkout)"
	ofAll = "`[HOST/]OWNER/REPO` of the policy (default: all)"
)

// work opens the service for a command and fills in what its flags do not say.
func work(ctx context.Context, h host.Host, p subcommand.Process, w Words, do func(Service, Words) error) error {
	var err error
	if w.Operator, err = config.ReadOperator(p.Getenv); err != nil {
		return err
	}
	s, err := h.Open(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	w.Dir, w.Read = p.Dir, p.Read
	return do(s, w)
}

func get(h host.Host) subcommand.Command {
	var w Words
	f := subcommand.Flags("get")
	f.StringVarP(&w.Repo, "repo", "R", "", ofOne)
	f.BoolVar(&w.JSON, "json", false, "print JSON")
	return subcommand.Command{
		Use: "get", Short: "Print the policy of a repository", Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			return work(ctx, h, p, w, func(s Service, w Words) error { return Get(ctx, s, p.Stdout, w) })
		},
	}
}

func set(h host.Host) subcommand.Command {
	var w Words
	f := subcommand.Flags("set")
	f.StringVarP(&w.Repo, "repo", "R", "", ofOne)
	f.BoolVar(&w.JSON, "json", false, "print JSON")
	f.Int64Var(&w.Version, "if-version", 0, "save only if the row is of version `N`")
	return subcommand.Command{
		Use: "set COLUMN=VALUE...", Short: "Change the policy of a repository",
		Long: "All columns are saved, or none. COLUMN= unsets one; lists are separated by commas; COLUMN=@FILE reads a value from a file.\n\n" + Help(),
		Example: "  prloop policy set gating_policy=verdict context_path_excludes='customer_data/**'\n" +
			"  prloop policy set -R octo/demo fixing=false",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, a []string) error {
			return work(ctx, h, p, w, func(s Service, w Words) error { return Set(ctx, s, p.Stdout, w, a) })
		},
	}
}

func export(h host.Host) subcommand.Command {
	var w Words
	f := subcommand.Flags("export")
	f.StringVarP(&w.Repo, "repo", "R", "", ofAll)
	return subcommand.Command{
		Use: "export", Short: "Print policies as JSON", Example: "  prloop policy export > policies.json", Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			return work(ctx, h, p, w, func(s Service, w Words) error { return Export(ctx, s, p.Stdout, w) })
		},
	}
}

func importing(h host.Host) subcommand.Command {
	var w Words
	f := subcommand.Flags("import")
	f.BoolVar(&w.JSON, "json", false, "print JSON")
	return subcommand.Command{
		Use: "import FILE", Short: "Import policies from JSON, all or none; - reads standard input", Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, a []string) error {
			data, err := p.Read(a[0])
			if err != nil {
				return advice.Error{Err: err, Next: "check the path", Status: advice.Usage}
			}
			return work(ctx, h, p, w, func(s Service, w Words) error { return Import(ctx, s, p.Stdout, w, data) })
		},
	}
}

func log(h host.Host) subcommand.Command {
	var w Words
	f := subcommand.Flags("log")
	f.StringVarP(&w.Repo, "repo", "R", "", ofOne)
	f.BoolVar(&w.JSON, "json", false, "print JSON")
	f.BoolVar(&w.All, "all", false, "print those of all repositories")
	return subcommand.Command{
		Use: "log", Short: "Print the changes of policies, newest first", Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			return work(ctx, h, p, w, func(s Service, w Words) error { return Log(ctx, s, p.Stdout, w) })
		},
	}
}
