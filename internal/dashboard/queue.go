package dashboard

import (
	"net/http"

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
	st, err := d.Runs.Queue(r.Context(), rowsOfQueue)
	if err != nil {
		return err
	}
	if !v.Operator {
		st = st.Of(v.may)
	}
	d.render(w, r, http.StatusOK, "queue", view{Title: "Queue", Section: "queue", Data: queueView{st, v.Operator}})
	return nil
}
