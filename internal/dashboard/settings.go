package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/review"
)

// Settings resolves what holds for a repository now; row stands in for its stored policy where it is not nil. from says which file was read.
type Settings func(ctx context.Context, repo review.Repo, row *policy.Row) (settings config.Settings, from string, err error)

// settingsView is the page of a repository's settings.
type settingsView struct {
	Name, Path, From string
	// Decided are settings that somebody set, Defaults all others.
	Decided, Defaults []shownSetting
	// Hidden is how many values only the operator sees.
	Hidden int
}

// shownSetting is one line of the page.
type shownSetting struct {
	Key, Value, Layer, Source, Note string
	Line                            int
	// Hidden is true where only the operator sees the value.
	Hidden bool
}

func (d *Dashboard) settingsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	if d.Settings == nil {
		return errNotHere
	}
	_, path, err := d.policyOf(r, v)
	if err != nil {
		return err
	}
	repo := review.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}
	settings, from, err := d.Settings(r.Context(), repo, nil)
	if err != nil {
		return &unansweredError{err}
	}
	p := settingsView{Name: repo.String(), Path: path, From: from}
	for _, s := range settings.Explain() {
		line := shownTo(v, s)
		switch {
		case line.Hidden:
			p.Hidden++
			fallthrough
		case s.Layer != config.LayerDefault:
			p.Decided = append(p.Decided, line)
		default:
			p.Defaults = append(p.Defaults, line)
		}
	}
	d.render(w, r, http.StatusOK, "settings", view{Title: "Settings of " + p.Name, Section: "repositories", Data: p})
	return nil
}

// shownTo is a setting as a visitor may see it. What the operator set may name endpoints, files and programs of the operator's machine: others see
// of it numbers, yes and no, and words that a repository could have set itself (threats.md T272).
func shownTo(v visitor, s config.Setting) shownSetting {
	out := shownSetting{Key: s.Key, Value: s.Text(), Layer: string(s.Layer), Source: s.Source, Line: s.Line, Note: s.Note}
	switch s.Layer {
	case config.LayerPolicy, config.LayerRepository, config.LayerDefault:
		return out
	}
	if v.Operator {
		return out
	}
	out.Source, out.Line, out.Note = "", 0, ""
	switch of := reflect.ValueOf(s.Value); {
	case s.Private || !of.IsValid():
		out.Hidden = true
	default:
		switch of.Kind() {
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.String:
		default:
			out.Hidden = true
		}
	}
	if out.Hidden {
		out.Value = ""
	}
	out.Layer = cmp.Or(out.Layer, "operator")
	return out
}
