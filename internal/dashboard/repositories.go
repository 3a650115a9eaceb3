package dashboard

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// repositoriesView is a page of repositories.
type repositoriesView struct {
	Cards []card
	// Next is where the next page begins; 0 on the last.
	Next int
}

// card is one repository at a glance.
type card struct {
	Repo string
	// Newest are its newest runs, the newest first.
	Newest []store.Run
	// Served is true where there are pages of its policy and settings.
	Served bool
}

// cardsPerPage is how many repositories a page shows.
const cardsPerPage = 24

// visible are the repositories with runs that a visitor may see.
func (d *Dashboard) visible(ctx context.Context, v visitor) ([]store.Repository, error) {
	repos, err := d.Runs.Repositories(ctx)
	return slices.DeleteFunc(repos, func(r store.Repository) bool { return !v.may(r.Key) }), err
}

// cardOf are the newest runs of a repository, under all its names; of one without a key those without a key.
func cardOf(repo store.Repository) store.Filter {
	f := store.Filter{Keys: []review.RepoKey{repo.Key}, Limit: 10}
	if repo.Key == "" {
		f.Repo = repo.Name
	}
	return f
}

func (d *Dashboard) repositoriesPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	repos, err := d.visible(r.Context(), v)
	if err != nil {
		return err
	}
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 || from > len(repos) {
		from = 0
	}
	var p repositoriesView
	if repos = repos[from:]; len(repos) > cardsPerPage {
		repos, p.Next = repos[:cardsPerPage], from+cardsPerPage
	}
	for _, repo := range repos {
		runs, err := d.Runs.Runs(r.Context(), cardOf(repo))
		if err != nil {
			return err
		}
		if len(runs) > 0 { // it may have been pruned just now
			p.Cards = append(p.Cards, card{Repo: repo.Name, Newest: runs, Served: d.Serves == nil || d.Serves(repoPath(repo.Name))})
		}
	}
	d.render(w, r, http.StatusOK, "repositories", view{Title: "Repositories", Section: "repositories", Data: p})
	return nil
}
