package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/template"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/nearest"
	"github.com/prloop/prloop/review"
)

// ResultFields are the names of the fields of a run's result, as JSON has them.
func ResultFields() []string {
	var names []string
	for f := range reflect.TypeFor[review.RunResult]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// JoinFields lets the fields of a result stand after --json with a space between, as gh has it, in the arguments of a command in which
// that flag may stand alone and so takes none: run, show and resume. A word is taken for a field if it is one, and a list if one of
// its words is: the others are misspelt, and no part of a branch's name. So is a word of run that is spelled much like a field: a branch
// that is called so stands before --json.
func JoinFields(args []string) []string {
	if len(args) == 0 || !slices.Contains([]string{"run", "show", "resume"}, args[0]) {
		return args
	}
	at := slices.Index(args, "--json")
	if end := slices.Index(args, "--"); at < 0 || at+1 == len(args) || end >= 0 && end < at {
		return args
	}
	known, list := ResultFields(), args[at+1]
	field := func(word string) bool {
		return slices.Contains(known, word) || args[0] == "run" && !strings.HasPrefix(word, "-") && nearest.Name(word, known) != ""
	}
	if !slices.ContainsFunc(strings.Split(list, ","), field) {
		return args
	}
	return slices.Concat(args[:at], []string{"--json=" + list}, args[at+2:])
}

// Result writes a result, or the named fields of it where there are some, as Format does; what is not formatted is indented.
func Result(w io.Writer, result review.RunResult, fields []string, filter, format string, width int, color bool) error {
	data, err := json.Marshal(result)
	var all map[string]any
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return len(fields) > 0 && !slices.Contains(fields, name) })
	switch {
	case filter != "" || format != "":
		return Format(w, all, filter, format, width, color)
	case len(fields) == 0:
		return JSON(w, result)
	}
	return JSON(w, all)
}

// Format writes a value as JSON, filtered by a jq expression or formatted by a Go template where there is one.
func Format(w io.Writer, chosen any, filter, format string, width int, color bool) error {
	data, err := json.Marshal(chosen)
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	switch {
	case filter != "":
		return ofFilter(jq.Evaluate(bytes.NewReader(data), w, filter))
	case format != "":
		t := template.New(w, width, color)
		if err := t.Parse(format); err != nil {
			return ofTemplate(err)
		}
		if err := t.Execute(bytes.NewReader(data)); err != nil {
			return ofTemplate(err)
		}
		return t.Flush()
	default:
		_, err = fmt.Fprintln(w, string(data))
	}
	return err
}

// CheckFormat says what is wrong with a jq expression or a template while there is nothing to format yet.
func CheckFormat(filter, format string) error {
	if filter != "" {
		in, out := io.Pipe()
		out.CloseWithError(errUnread) // an expression is compiled before anything is read
		if err := jq.Evaluate(in, io.Discard, filter); !errors.Is(err, errUnread) {
			return ofFilter(err)
		}
	}
	t := template.New(io.Discard, 0, false)
	return ofTemplate(t.Parse(format))
}

var errUnread = errors.New("not to be read")

func ofFilter(err error) error {
	if err == nil {
		return nil
	}
	return advice.Misuse("see the jq manual", "jq expression: %w", err)
}

func ofTemplate(err error) error {
	if err == nil {
		return nil
	}
	return advice.Misuse("see: gh help formatting", "template: %w", err)
}
