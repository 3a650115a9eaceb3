package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Setting is one line of `prloop config explain`.
type Setting struct {
	Key string `json:"key"`
	// Value is what holds; a secret is only said to be set or not.
	Value any   `json:"value"`
	Layer Layer `json:"layer"`
	// Source is the file, variable or flag that set it; empty for a default.
	Source string `json:"source,omitempty"`
	// Line is 1-based in Source; 0 when Source is no file.
	Line int `json:"line,omitempty"`
	// Note says what else a reader should know, such as a value that was refused.
	Note string `json:"note,omitempty"`
	// Private is true where only the operator may set it: its value may name what is on the operator's machine.
	Private bool `json:"-"`
}

// Text is the value in one line.
func (s Setting) Text() string { return displayValue(s.Value) }

// String is the setting in one line.
func (s Setting) String() string {
	from := string(s.Layer)
	if s.Source != "" {
		from += ", " + s.Source
		if s.Line > 0 {
			from += fmt.Sprintf(":%d", s.Line)
		}
	}
	line := fmt.Sprintf("%s = %s  (%s)", s.Key, displayValue(s.Value), from)
	if s.Note != "" {
		line += "; " + s.Note
	}
	return line
}

// Explain lists every setting with its value and the layer that set it, in the order of the reference.
func (s Settings) Explain() []Setting { return s.explained }

func (r *resolver) explain() []Setting {
	var out []Setting
	for _, k := range keys() {
		if k.path == "commands" && len(r.settings.Commands) > 0 {
			out = append(out, r.settings.explainCommands()...)
			continue
		}
		o := r.origins[k.path]
		s := Setting{Key: k.path, Value: value(k.field(&r.settings)), Layer: o.layer, Source: o.where, Line: o.line, Note: o.note, Private: k.operator != ""}
		switch {
		case k.path == "verify" && r.settings.Verify == nil:
			s.Value, s.Note = "(detected)", "what the files of the base commit suggest"
		case k.path == "reviewers" && o.layer == LayerDefault && !r.settings.ModelConfigured():
			s.Note = "no model is configured: static only"
		case k.path == "tools.allow" && r.settings.Tools.Allow == nil:
			s.Note = "all categories"
		case k.path == "output.commentType" && r.settings.Output.CommentType == "":
			s.Note = "both when a comment asked, issue in review.run"
		case k.path == "limits.max_call_seconds" && r.settings.Limits.CallSeconds == 0:
			s.Note = "as long as the wall time lasts"
		case k.path == "limits.max_answer_tokens" && r.settings.Limits.AnswerTokens == 0:
			s.Note = "8192, and 32768 for models that reason"
		case k.path == "quick.max_answer_tokens" && r.settings.Quick.Limits.AnswerTokens == 0:
			s.Note = "8192, and 32768 for models that reason"
		case k.path == "auto_full.over_lines" && r.settings.Quick.Triggers.OverLines == 0:
			s.Note = "never"
		case unbounded(k.path) && reflect.ValueOf(s.Value).IsZero():
			s.Note = "no bound"
		}
		out = append(out, s)
	}
	return out
}

// unbounded tells the limits that hold only when somebody sets them, if they are 0: no file can set them to nothing.
func unbounded(path string) bool {
	return path == "limits.max_tokens" || strings.HasPrefix(path, "schedule.limits.") || strings.HasPrefix(path, "run_limits.") || strings.HasPrefix(path, "budgets.")
}

// value turns a field into what JSON output shows.
func value(field any) any {
	switch f := field.(type) {
	case *time.Duration:
		return f.String()
	case *Secret:
		return f.String()
	}
	return reflect.ValueOf(field).Elem().Interface()
}

func display(field any) string { return displayValue(value(field)) }

func displayValue(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.String {
		return cmp.Or(r.String(), "(none)")
	}
	if (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0 || r.Kind() == reflect.Pointer && r.IsNil() {
		return "(none)"
	}
	data, err := json.Marshal(v)
	if err != nil || string(data) == "{}" {
		return "(none)"
	}
	return strings.ReplaceAll(clip(string(data)), "\n", " ")
}
