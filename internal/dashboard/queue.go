package dashboard

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/queue"
)

// rowsOfQueue is how many of a kind the page of the queue shows.
const rowsOfQueue = 50

// queueView is the page of what servers are at.
type queueView struct {
	queue.Status
	// Whole is true when nothing was left out that concerns other repositories.
	Whole bool
}

func (d *Dashboard) queuePage(w http.ResponseWriter, r *http.Request, v visitor) error {
	st, err := d.Runs.Queue(r.Context(), v.keys(), rowsOfQueue)
	if err != nil {
		return err
	}
	if !v.Operator {
		st = st.Of(v.may)
	}
	d.render(w, r, http.StatusOK, "queue", view{Title: "Queue", Section: "queue", Data: queueView{st, v.Operator}})
	return nil
}

// subject finds the repository and the number of what servers are at.
var subject = lazyregexp.New(`^(?:([^/#]+)/)?([^/#]+)/([^/#]+)#([0-9]+)`)

// subjectLink is the page of the pull request on GitHub, where there may be none here yet; empty for anything else.
func subjectLink(what string) string {
	m := subject.FindStringSubmatch(what)
	if m == nil {
		return ""
	}
	return (&url.URL{Scheme: "https", Host: cmp.Or(m[1], "github.com"), Path: "/" + m[2] + "/" + m[3] + "/pull/" + m[4]}).String()
}
