package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/nearest"
)

// args wraps a cobra argument check so that a wrong count is a usage error with a next step, which calls the arguments
// as the usage line does.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		err := check(c, a)
		if err == nil {
			return nil
		}
		switch need, most := arguments(c); {
		case len(a) < len(need):
			err = fmt.Errorf("%s needs %s", within(c), strings.Join(need[len(a):], " and "))
			if slices.Equal(need, []string{"RUN"}) {
				return advice.Misuse(c.CommandPath()+" latest, or another run: prloop runs", "%w", err)
			}
		case len(a) > most:
			err = fmt.Errorf("%s: unexpected argument %q", within(c), a[most])
			if json := c.Flags().Lookup("json"); json != nil && json.Changed && json.NoOptDefVal == wholeResult {
				return noField("%w, which is no field of --json", err)
			}
		}
		return usageError(c, err)
	}
}

// arguments reads a usage line: the arguments that may not be left out, and how many there may be at most.
func arguments(c *cobra.Command) (need []string, most int) {
	for _, word := range strings.Fields(c.Use)[1:] {
		name, more := strings.CutSuffix(strings.Trim(word, "[]"), "...")
		if !strings.HasPrefix(word, "[") {
			need = append(need, name)
		}
		if most++; more {
			return need, math.MaxInt
		}
	}
	return need, most
}

// valueKinds says what flags of a type take.
var valueKinds = map[string]string{"int": "a whole number", "duration": "a time such as 90s or 10m", "float64": "a number", "bool": "true or false"}

// flagError refuses a flag as every command does, and lists the fields where --json stands without them, as gh does.
func flagError(c *cobra.Command, err error) error {
	var alone *pflag.ValueRequiredError
	if fields := c.Annotations[jsonFields]; fields != "" && errors.As(err, &alone) && alone.GetSpecifiedName() == "json" {
		return advice.Misuse("one of: "+strings.Join(strings.Fields(fields), " "), "%s: --json needs FIELDS", within(c))
	}
	return usageError(c, meantFlag(c, err))
}

// meantFlag says in plain words what is wrong with a flag's value, and adds to the error about an unknown flag the one that was probably meant.
func meantFlag(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if kind := valueKinds[invalid.GetFlag().Value.Type()]; kind != "" {
			return fmt.Errorf("--%s: %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), kind)
		}
		return err
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := nearest.Name(unknown.GetSpecifiedName(), known); near != "" {
		return fmt.Errorf("%w; did you mean %q?", err, "--"+near)
	}
	return err
}

// within is a command's name without that of the program, which every message begins with.
func within(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") }

// group makes a command that only holds others refuse a name it does not know: a misspelt check in a script must not
// pass.
func group(c *cobra.Command, members ...*cobra.Command) *cobra.Command {
	c.AddCommand(members...)
	c.Args = unknownCommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.SuggestionsMinimumDistance = 2
	return c
}

// otherWords are what people call commands that have another name here.
var otherWords = map[string]string{"review": "run", "check": "run", "fix": "run", "list": "runs", "logs": "show", "report": "show", "ignore": "dismiss", "setup": "init"}

// unknownCommand refuses the name of a command that is not there; it is only asked when no command has that name.
func unknownCommand(c *cobra.Command, a []string) error {
	if len(a) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", a[0])
	if c.HasParent() {
		err = fmt.Errorf("%w of %s", err, within(c))
	}
	near := c.SuggestionsFor(a[0])
	if word := otherWords[a[0]]; word != "" && !c.HasParent() {
		near = []string{word}
	}
	if len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %q?", err, near[0])
	}
	return usageError(c, err)
}
