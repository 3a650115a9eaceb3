package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// Policies are what administrators decide about repositories.
type Policies interface {
	PolicyRepo(ctx context.Context, named, dir string) (policy.Repo, error)
	Policy(ctx context.Context, at policy.Repo) (policy.Row, error)
	PolicyChanges(ctx context.Context, f policy.ChangeFilter) ([]policy.Change, error)
	// Administers reports whether somebody administers a repository now, as far as GitHub shows.
	Administers(ctx context.Context, at policy.Repo, login string) (bool, error)
	// SavePolicyAs makes a row what it says, as somebody. Errors: *policy.Error, *policy.ConflictError.
	SavePolicyAs(ctx context.Context, row policy.Row, operator *config.File, by string) (policy.Row, []policy.Change, error)
	// Preview says what settings would have made of the last ten pull requests.
	Preview(ctx context.Context, key review.RepoKey, s config.Settings) ([]app.Previewed, error)
}

// policyView is the page of a repository's policy.
type policyView struct {
	policy.Repo
	Path    string
	Version int64
	Fields  []field
	Changes []policy.Change
	// Saved is how many columns were changed just now; -1 when nothing was sent. Wrong is true when a field has a fault.
	Saved int
	Wrong bool
	// Since is what somebody else changed meanwhile.
	Since []policy.Change
	// Unresolved is true when the page cannot say what holds now.
	Unresolved bool
	// Previews is true where a preview can be made, Asked when this is one. Preview is about the last pull requests, and Unseen says why there is
	// none.
	Previews, Asked bool
	Preview         []app.Previewed
	Unseen          string
}

// field is one column as a form has it.
type field struct {
	policy.Column
	// Value is what stands in it, as people type it; Fault is what is wrong with that.
	Value, Fault string
	// Choices are all it may be, for radios and boxes; the first, empty one of a choice is "not decided here".
	Choices []choice
	// Holds is what holds now, and which layer set it; nil where that is not known.
	Holds *shownSetting
}

// section are fields under one heading. It is open where something is decided, or wrong, and where a policy begins.
type section struct {
	Name   string
	Fields []field
	Open   bool
}

// alwaysOpen is how many sections are open whatever they hold.
const alwaysOpen = 2

// Sections are the fields under their headings.
func (v policyView) Sections() (all []section) {
	for _, f := range v.Fields {
		if len(all) == 0 || all[len(all)-1].Name != f.Section {
			all = append(all, section{Name: f.Section, Open: len(all) < alwaysOpen})
		}
		s := &all[len(all)-1]
		s.Fields, s.Open = append(s.Fields, f), s.Open || f.Value != "" || f.Fault != ""
	}
	return all
}

type choice struct {
	Value, Label string
	On           bool
}

// manyChanges is how many changes a page lists.
const manyChanges = 100

// policyOf finds the repository whose policy a page is about.
func (d *Dashboard) policyOf(r *http.Request, v visitor) (at policy.Repo, name string, err error) {
	repo := review.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}
	if d.Policies == nil || !v.called(repo.String()) {
		return at, "", errNotHere
	}
	if at, err = d.Policies.PolicyRepo(r.Context(), repo.String(), ""); err != nil {
		err = &unansweredError{err}
	} else if err = d.serves(r.Context(), at); err == nil && !v.may(at.Key()) { // somebody else has the name since they signed in
		err = errNotHere
	}
	return at, repo.Host + "/" + repo.Owner + "/" + repo.Name, err
}

// serves gives errNotHere for a repository that pages have nothing fetched of (Options.Serves).
func (d *Dashboard) serves(ctx context.Context, at policy.Repo) error {
	if d.Serves != nil {
		if !d.Serves(at.Host + "/" + at.Name) {
			return errNotHere
		}
		return nil
	}
	runs, err := d.Runs.Runs(ctx, store.Filter{Keys: []review.RepoKey{at.Key()}, Limit: 1})
	if err == nil && len(runs) == 0 {
		err = errNotHere
	}
	return err
}

// unansweredError: GitHub did not say what a page has to know.
type unansweredError struct{ err error }

func (e *unansweredError) Error() string { return e.err.Error() }
func (e *unansweredError) Unwrap() error { return e.err }

func (d *Dashboard) policyPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	at, name, err := d.policyOf(r, v)
	if err != nil {
		return err
	}
	row, err := d.Policies.Policy(r.Context(), at)
	if err != nil {
		return err
	}
	saved, err := strconv.Atoi(r.URL.Query().Get("saved"))
	if err != nil {
		saved = -1
	}
	return d.showPolicy(w, r, v, http.StatusOK, policyView{Repo: at, Path: name, Version: row.Version, Fields: fields(row.Columns), Saved: saved})
}

func (d *Dashboard) showPolicy(w http.ResponseWriter, r *http.Request, v visitor, status int, p policyView) (err error) {
	p.Previews = d.Settings != nil
	d.holds(r, v, &p)
	if p.Changes, err = d.Policies.PolicyChanges(r.Context(), policy.ChangeFilter{Keys: []review.RepoKey{p.Key()}, Limit: manyChanges}); err != nil {
		return err
	}
	d.render(w, r, status, "policy", view{Title: "Policy of " + p.Name, Section: "repositories", Data: p})
	return nil
}

// holds adds what holds now to the fields. A policy can be edited without it.
func (d *Dashboard) holds(r *http.Request, v visitor, p *policyView) {
	if d.Settings == nil {
		return
	}
	settings, _, err := d.Settings(r.Context(), review.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}, nil)
	if err != nil {
		d.Log.Warn("the settings of a repository cannot be read", "repository", p.Name, "err", err)
		p.Unresolved = true
		return
	}
	now := map[string]shownSetting{}
	for _, s := range settings.Explain() {
		now[s.Key] = shownTo(v, s)
	}
	for i, f := range p.Fields {
		if s, known := now[f.Key]; known {
			p.Fields[i].Holds = &s
		}
	}
}

// savePolicy saves the whole form, or nothing of it.
func (d *Dashboard) savePolicy(w http.ResponseWriter, r *http.Request, v visitor) error {
	at, name, err := d.policyOf(r, v)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	if !v.Operator { // who signed in hours ago may have lost the right since
		may, err := d.Policies.Administers(r.Context(), at, v.Name)
		if err != nil {
			return &unansweredError{err}
		}
		if !may {
			d.refuse(w, r, http.StatusForbidden, "Nothing was saved: GitHub does not show that you administer this repository now.")
			return nil
		}
	}
	p := policyView{Repo: at, Path: name, Saved: -1}
	if p.Version, err = strconv.ParseInt(r.PostForm.Get("version"), 10, 64); err != nil {
		d.refuse(w, r, http.StatusBadRequest, "The form has no version. Open the page again.")
		return nil //nolint:nilerr // it is said on the page
	}
	values, faults := read(r.PostForm)
	if len(faults) == 0 {
		var row policy.Row
		var changes []policy.Change
		row, changes, err = d.Policies.SavePolicyAs(r.Context(), policy.Row{Repo: at, Version: p.Version, Columns: values}, d.Operator, v.Name)
		var wrong *policy.Error
		var late *policy.ConflictError
		switch {
		case err == nil:
			d.Log.Info("a policy was saved", "repository", at.Name, "version", row.Version, "by", v.Name)
			http.Redirect(w, r, repoLink("policies", name)+"?saved="+strconv.Itoa(len(changes)), http.StatusSeeOther)
			return nil
		case errors.As(err, &wrong):
			faults = wrong.Faults
		case errors.As(err, &late): // what was typed stays; the next save is on top of what is there now
			p.Version, p.Since, p.Fields = late.Have.Version, late.Since, typed(r.PostForm, nil)
			return d.showPolicy(w, r, v, http.StatusConflict, p)
		default:
			return err
		}
	}
	p.Fields, p.Wrong = typed(r.PostForm, faults), true
	return d.showPolicy(w, r, v, http.StatusUnprocessableEntity, p)
}

// previewPolicy shows what a form, as it was typed, would have made of the last pull requests. Nothing is saved.
func (d *Dashboard) previewPolicy(w http.ResponseWriter, r *http.Request, v visitor) error {
	at, name, err := d.policyOf(r, v)
	if err != nil {
		return err
	}
	if d.Settings == nil {
		return errNotHere
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	p := policyView{Repo: at, Path: name, Saved: -1, Asked: true}
	if p.Version, err = strconv.ParseInt(r.PostForm.Get("version"), 10, 64); err != nil {
		d.refuse(w, r, http.StatusBadRequest, "The form has no version. Open the page again.")
		return nil //nolint:nilerr // it is said on the page
	}
	values, faults := read(r.PostForm)
	var wrong *policy.Error
	if len(faults) == 0 && errors.As(config.CheckPolicy(d.Operator, values), &wrong) {
		faults = wrong.Faults
	}
	p.Fields = typed(r.PostForm, faults)
	if len(faults) > 0 {
		p.Unseen = "Correct the fields that are marked first: " + faults[0].Field + " " + faults[0].Message + "."
		return d.showPolicy(w, r, v, http.StatusOK, p)
	}
	repo := review.Repo{Host: r.PathValue("host"), Owner: r.PathValue("owner"), Name: r.PathValue("name")}
	settings, _, err := d.Settings(r.Context(), repo, &policy.Row{Repo: at, Version: p.Version, Columns: values})
	if err != nil {
		return &unansweredError{err}
	}
	if p.Preview, err = d.Policies.Preview(r.Context(), at.Key(), settings); err != nil {
		return err
	}
	if len(p.Preview) == 0 {
		p.Unseen = "No pull request of this repository was reviewed yet."
	}
	return d.showPolicy(w, r, v, http.StatusOK, p)
}

// read takes the columns of a form. What is empty is not decided.
func read(form url.Values) (policy.Values, []policy.Fault) {
	values := policy.Values{}
	var faults []policy.Fault
	for _, c := range policy.Columns() {
		text := entered(form, c)
		if text == "" {
			continue
		}
		v, fault := c.Parse(text)
		if fault != nil {
			faults = append(faults, *fault)
			continue
		}
		values[c.Name] = v
	}
	return values, faults
}

// entered is what a form says of a column, as people type it.
func entered(form url.Values, c policy.Column) string {
	return strings.TrimSpace(strings.Join(form[c.Name], "\n"))
}

// fields are the columns of a row as a form.
func fields(values policy.Values) []field {
	form := url.Values{}
	for name, v := range values {
		switch v := v.(type) {
		case []string:
			form[name] = v
		case string:
			form.Set(name, v)
		default:
			form.Set(name, policy.Encode(v))
		}
	}
	return typed(form, nil)
}

// typed are the fields of a form as it was typed, each with its fault.
func typed(form url.Values, faults []policy.Fault) []field {
	var out []field
	for _, c := range policy.Columns() {
		f := field{Column: c, Value: entered(form, c)}
		for _, fault := range faults {
			if fault.Field == c.Name || strings.HasPrefix(fault.Field, c.Name+"[") {
				f.Fault = fault.Message
			}
		}
		if c.Kind == policy.Bool || c.Kind == policy.Text && len(c.Words) > 0 {
			f.Choices = append(f.Choices, choice{"", "not decided here", f.Value == ""})
		}
		if c.Kind == policy.Bool {
			f.Choices = append(f.Choices, choice{"true", "yes", f.Value == "true"}, choice{"false", "no", f.Value == "false"})
		}
		for _, word := range c.Words {
			f.Choices = append(f.Choices, choice{word, word, slices.Contains(form[c.Name], word)})
		}
		out = append(out, f)
	}
	return out
}

// repoLink is a page of ours about a repository, by HOST/OWNER/NAME.
func repoLink(page, name string) string {
	steps := strings.Split(name, "/")
	for i, s := range steps {
		steps[i] = url.PathEscape(s)
	}
	return "/" + page + "/" + strings.Join(steps, "/")
}

// repoPath is HOST/OWNER/NAME of a repository as lists have it, which leave out github.com.
func repoPath(repo string) string {
	if strings.Count(repo, "/") == 1 {
		return "github.com/" + repo
	}
	return repo
}

// auditView is a page of changes. Next is the address of the next one; empty on the last.
type auditView struct {
	Changes []policy.Change
	Next    string
}

// auditPage lists what was changed, of all repositories a visitor may see.
func (d *Dashboard) auditPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	if d.Policies == nil {
		return errNotHere
	}
	var p auditView
	var err error
	f := policy.ChangeFilter{Keys: v.keys(), Before: changeMark(r.URL.Query().Get("before")), Limit: manyChanges + 1}
	if p.Changes, err = d.Policies.PolicyChanges(r.Context(), f); err != nil {
		return err
	}
	if len(p.Changes) > manyChanges {
		p.Changes = p.Changes[:manyChanges]
		last := p.Changes[manyChanges-1]
		p.Next = fmt.Sprintf("/audit?before=%d-%d-%s-%s", last.At.UnixMicro(), last.Version, last.Column, url.QueryEscape(string(last.Key())))
	}
	d.render(w, r, http.StatusOK, "audit", view{Title: "Audit log", Section: "audit", Data: p})
	return nil
}

// changeMark reads where a page begins; the first page for what is none.
func changeMark(s string) policy.ChangeMark {
	parts := strings.SplitN(s, "-", 4)
	if len(parts) < 4 {
		return policy.ChangeMark{}
	}
	at, err := strconv.ParseInt(parts[0], 10, 64)
	version, err2 := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || err2 != nil {
		return policy.ChangeMark{}
	}
	return policy.ChangeMark{At: time.UnixMicro(at).UTC(), Version: version, Column: parts[2], Key: review.RepoKey(parts[3])}
}
