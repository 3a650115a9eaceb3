package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// noticedPerPage is how many observations a page lists.
const noticedPerPage = 50

// noticedList is a page of observations.
type noticedList struct {
	List []store.Noticed
	// Search, Tag and Repo are what was asked for.
	Search, Tag, Repo string
	// Repos are some that have runs.
	Repos []string
	// Next is the address of the next page; empty on the last.
	Next string
}

func (d *Dashboard) observationsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := r.URL.Query()
	list := noticedList{Search: strings.TrimSpace(q.Get("q")), Tag: strings.TrimSpace(q.Get("tag")), Repo: strings.TrimSpace(q.Get("repo"))}
	f := store.NoticedFilter{Tag: list.Tag, Text: list.Search, Limit: noticedPerPage + 1, Before: noticedMark(q.Get("before"))}
	repos, err := d.visible(r.Context(), v)
	if err != nil {
		return err
	}
	f.Keys = v.keys()
	if list.Repo != "" {
		if !v.called(list.Repo) {
			return errNotHere
		}
		f.Keys = []review.RepoKey{}
		for _, r := range repos { // whatever had the name last
			if r.Name == list.Repo {
				f.Keys = append(f.Keys, r.Key)
			}
		}
	}
	if list.List, err = d.Runs.Observations(r.Context(), f); err != nil {
		return err
	}
	if len(list.List) > noticedPerPage {
		list.List = list.List[:noticedPerPage]
		last := list.List[noticedPerPage-1]
		list.Next = noticedLink(list.Search, list.Tag, list.Repo, strconv.FormatInt(last.At.UnixMicro(), 10)+"-"+strconv.Itoa(last.Ord)+"-"+last.Run)
	}
	for _, r := range repos[:min(len(repos), offeredRepositories)] {
		list.Repos = append(list.Repos, r.Name)
	}
	d.render(w, r, http.StatusOK, "observations", view{Title: "Observations", Section: "observations", Data: list})
	return nil
}

// noticedMark reads where a page begins; the first page for what is none.
func noticedMark(s string) store.NoticedMark {
	micros, rest, _ := strings.Cut(s, "-")
	number, run, _ := strings.Cut(rest, "-")
	at, err := strconv.ParseInt(micros, 10, 64)
	ord, err2 := strconv.Atoi(number)
	if err != nil || err2 != nil || run == "" {
		return store.NoticedMark{}
	}
	return store.NoticedMark{At: time.UnixMicro(at).UTC(), Run: run, Ord: ord}
}

// noticedLink is the address of a search.
func noticedLink(search, tag, repo, before string) string {
	q := url.Values{}
	for name, value := range map[string]string{"q": search, "tag": tag, "repo": repo, "before": before} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return "/observations"
	}
	return "/observations?" + q.Encode()
}
