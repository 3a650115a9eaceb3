package dashboard

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/signin"
	"github.com/prloop/prloop/internal/store"
)

func (d *Dashboard) signIn(w http.ResponseWriter, r *http.Request) {
	d.render(w, r, http.StatusOK, "signin", view{Title: "Sign in", Data: d.GitHub.ID != ""})
}

// operatorName is whom the record of changes names for who came by the link. No login at GitHub has a space.
const operatorName = "the operator"

// signInByLink signs the operator in.
func (d *Dashboard) signInByLink(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // whoever only looks whether there is something does not use it up
		return
	}
	if !d.useLink(r.URL.Query().Get("key")) {
		d.refuse(w, r, http.StatusForbidden, "This link was used before, or has expired. Ask prloop for another one.")
		return
	}
	d.welcome(w, r, visitor{Name: operatorName, Operator: true})
}

func (d *Dashboard) signInAtGitHub(w http.ResponseWriter, r *http.Request) {
	if d.GitHub.ID == "" {
		d.refuse(w, r, http.StatusNotFound, "Sign-in with GitHub is not set up here.")
		return
	}
	address, visit := d.GitHub.Begin()
	d.remember(w, visit.State+"."+visit.Verifier, int(visitLife.Seconds()))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// remember leaves a visit with the browser that began it, or takes it away. Anybody can begin to sign in: nothing of it is kept here.
func (d *Dashboard) remember(w http.ResponseWriter, visit string, seconds int) {
	c := d.sessions.Cookie
	http.SetCookie(w, &http.Cookie{Name: c.Name + "-visit", Value: visit, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: c.Secure, SameSite: c.SameSite})
}

// visitOf is the visit that a browser began; the zero value when it began none.
func (d *Dashboard) visitOf(r *http.Request) (v signin.Visit) {
	if c, err := r.Cookie(d.sessions.Cookie.Name + "-visit"); err == nil {
		v.State, v.Verifier, _ = strings.Cut(c.Value, ".")
	}
	return v
}

func (d *Dashboard) signedInAtGitHub(w http.ResponseWriter, r *http.Request) {
	visit := d.visitOf(r)
	d.remember(w, "", -1)
	p, err := d.GitHub.End(r.Context(), visit, r.URL.Query())
	switch {
	case errors.Is(err, signin.ErrState), errors.Is(err, signin.ErrDenied):
		d.refuse(w, r, http.StatusForbidden, "You are not signed in: "+err.Error()+".")
	case err != nil:
		d.Log.Error("sign-in failed", "err", err)
		d.refuse(w, r, http.StatusBadGateway, "You are not signed in: GitHub could not be asked. Try again in a minute.")
	default:
		v := visitor{Name: p.Login}
		if v.Repos, err = d.known(r.Context(), p.Repos); err == nil {
			err = d.makeRoom(r.Context(), v.Name)
		}
		if err != nil {
			d.fault(w, r, err)
			return
		}
		d.welcome(w, r, v)
	}
}

// known are those of somebody's repositories that pages can be about: this process serves them, or they have runs. Sessions hold no others.
func (d *Dashboard) known(ctx context.Context, all []signin.Repo) ([]signin.Repo, error) {
	have, err := d.Runs.Repositories(ctx)
	return slices.DeleteFunc(all, func(r signin.Repo) bool {
		return (d.Serves == nil || !d.Serves(repoPath(r.Name))) && !slices.ContainsFunc(have, func(h store.Repository) bool { return h.Key == r.Key })
	}), err
}

// mostSessions is how many sessions one person has at a time, who may have as many browsers.
const mostSessions = 8

// makeRoom ends the oldest sessions of a person who has as many as may be.
func (d *Dashboard) makeRoom(ctx context.Context, login string) error {
	ends := map[string]time.Time{} // by what the store knows a session by
	err := d.sessions.Iterate(ctx, func(ctx context.Context) error {
		if v, _ := d.sessions.Get(ctx, "visitor").(visitor); v.Name == login {
			ends[d.sessions.Token(ctx)] = d.sessions.Deadline(ctx)
		}
		return nil
	})
	theirs := slices.SortedFunc(maps.Keys(ends), func(a, b string) int { return ends[a].Compare(ends[b]) })
	for _, session := range theirs[:max(0, len(theirs)-mostSessions+1)] {
		err = errors.Join(err, d.sessions.Store.Delete(session))
	}
	return err
}

// welcome begins a session under a new token, so that nobody can have planted it.
func (d *Dashboard) welcome(w http.ResponseWriter, r *http.Request, v visitor) {
	if err := d.sessions.RenewToken(r.Context()); err != nil {
		d.fault(w, r, err)
		return
	}
	d.sessions.SetDeadline(r.Context(), time.Now().Add(sessionLife).UTC()) // by the clock of the sessions
	d.sessions.Put(r.Context(), "visitor", v)
	http.Redirect(w, r, "/runs", http.StatusSeeOther)
}

func (d *Dashboard) signOut(w http.ResponseWriter, r *http.Request) {
	if err := d.sessions.Destroy(r.Context()); err != nil {
		d.fault(w, r, err)
		return
	}
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}
