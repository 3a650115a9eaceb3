package plumbing

import (
	"context"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/subcommand"
)

// Validate is `prloop config validate`.
func Validate() subcommand.Command {
	f := subcommand.Flags("validate")
	operator := f.Bool("operator", false, "check it as the operator's own file")
	asJSON := f.Bool("json", false, "print JSON")
	return subcommand.Command{
		Use:   "validate [FILE]",
		Short: "Validate a configuration file (default: .reviewerc of the working tree)",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, a []string) error {
			kind := config.Repository
			if *operator {
				kind = config.Operator
			}
			file, err := toValidate(ctx, p, kind, a)
			if err == nil {
				err = config.Validate(kind, file.Name, file.Data)
			}
			var faults *config.Error
			if *asJSON && (err == nil || errors.As(err, &faults)) {
				return printFaults(p, file.Name, faults)
			}
			if err != nil {
				return err
			}
			if f := config.Unreached(kind, file.Name, file.Data); f.File != "" {
				p.Note(f.String())
			}
			fmt.Fprintf(p.Stdout, "%s is valid\n", file.Name)
			return nil
		},
	}
}

// printFaults prints what is wrong with a file, if anything is, for programs.
func printFaults(p subcommand.Process, file string, faults *config.Error) error {
	out := struct {
		File   string         `json:"file"`
		Valid  bool           `json:"valid"`
		Faults []config.Fault `json:"faults"`
	}{file, faults == nil, []config.Fault{}}
	if faults != nil {
		out.Faults = faults.Faults
	}
	if err := progress.JSON(p.Stdout, out); err != nil || out.Valid {
		return err
	}
	return subcommand.Status(advice.Usage)
}

// toValidate is the file a person named, or else the one a run would read.
func toValidate(ctx context.Context, p subcommand.Process, kind config.Kind, named []string) (config.File, error) {
	const next = "name the file: prloop config validate FILE"
	if len(named) == 0 && kind == config.Repository {
		r, err := app.RulesIn(ctx, p.Dir)
		if err != nil {
			return config.File{}, err
		}
		for _, n := range r.Notes {
			p.Note(n)
		}
		if r.File == nil {
			return config.File{}, advice.Misuse(next, "there is %s", r.From)
		}
		return *r.File, nil
	}
	name, _ := config.OperatorPath(p.Getenv)
	if len(named) == 1 {
		name = named[0]
	}
	data, err := p.Read(name)
	if err != nil {
		return config.File{}, advice.Error{Err: err, Next: next, Status: advice.Usage}
	}
	file := config.File{Name: name, Data: data}
	if kind == config.Repository {
		for _, f := range config.Misspelt(file) {
			p.Note(f.String())
		}
	}
	return file, nil
}
