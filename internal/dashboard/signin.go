package dashboard

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/signin"
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
		d.welcome(w, r, visitor{Name: p.Login, Repos: p.Repos})
	}
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
