package plumbing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/subcommand"
)

// fileSchemas are the schemas of the files a person writes, by the names they have in docs/schema.
var fileSchemas = map[string]config.Kind{"reviewerc": config.Repository, "config": config.Operator}

// Schema is `prloop schema`.
func Schema() subcommand.Command {
	names := slices.AppendSeq(schema.Names(), maps.Keys(fileSchemas))
	slices.Sort(names)
	return subcommand.Command{
		Use:   "schema NAME",
		Short: "Print a JSON Schema",
		Long: "Names: " + strings.Join(names, ", ") + ".\n" +
			"reviewerc is that of .reviewerc, config that of the operator's file; editors complete and check by them.",
		Values: names,
		Run: func(_ context.Context, p subcommand.Process, a []string) error {
			if kind, ok := fileSchemas[a[0]]; ok {
				_, err := p.Stdout.Write(config.Schema(kind))
				return err
			}
			data, err := schema.Schema(a[0])
			if err != nil {
				err := fmt.Errorf("there is no schema %q", a[0])
				if near := nearest.Name(a[0], names); near != "" {
					err = fmt.Errorf("%w; did you mean %q?", err, near)
				}
				return advice.Misuse("one of: "+strings.Join(names, ", "), "%w", err)
			}
			_, err = p.Stdout.Write(data)
			return err
		},
	}
}
