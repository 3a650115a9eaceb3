package report

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// links builds addresses of the repository's own pages: the only ones a report may link to (threats.md T38).
type links struct {
	target review.Target
	head   string
}

// none is true when there is nothing to link to: a local range, or a repository that is not known.
func (l links) none() bool { return l.target.Local() || l.target.Repo.Owner == "" }

func (l links) repo() string {
	r := l.target.Repo
	return "https://" + r.Host + "/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
}

func (l links) pull() string { return fmt.Sprintf("%s/pull/%d", l.repo(), l.target.PR) }

// commit names a commit, linked when it can be.
func (l links) commit(sha string) string {
	short := sha
	if len(short) > 12 {
		short = short[:12]
	}
	if l.none() || sha == "" {
		return span(short)
	}
	return "[" + span(short) + "](" + l.repo() + "/commit/" + url.PathEscape(sha) + ")"
}

// id names a commit so that its whole id can be read back: in the link, or in the text where there is none.
func (l links) id(sha string) string {
	if l.none() {
		return span(sha)
	}
	return l.commit(sha)
}

// cause names the commit that wrote a finding's lines, linked when it is a whole id.
func (l links) cause(sha string) string {
	if oid(sha) == "" {
		return span(sha)
	}
	return l.id(sha)
}

// place names a file and its lines, linked to the file at the head commit.
func (l links) place(f Finding) string {
	if f.File == "" {
		return "no file"
	}
	if l.none() {
		return span(f.File) + lineSuffix(f, " line ", "-") // a colon could be part of the name, and there is no link to ask
	}
	return "[" + span(word(f.File)+lineSuffix(f, ":", "-")) + "](" + l.address(f) + ")"
}

// address is where a file's lines can be seen: with the comment on them where there is one.
func (l links) address(f Finding) string {
	if f.Thread != "" {
		return f.Thread
	}
	steps := strings.Split(spelling.Raw(f.File), "/")
	for i, s := range steps {
		steps[i] = url.PathEscape(s)
	}
	return l.repo() + "/blob/" + url.PathEscape(l.head) + "/" + strings.Join(steps, "/") + lineSuffix(f, "#L", "-L")
}

// maxPath is how long a path a table names whole, in characters.
const maxPath = 36

// brief is place with the end of a long path; where there is no link it is whole.
func (l links) brief(f Finding) string {
	name := []rune(word(f.File))
	if l.none() || len(name) <= maxPath {
		return l.place(f)
	}
	end := string(name[len(name)-maxPath:])
	if _, rest, ok := strings.Cut(end, "/"); ok {
		end = rest
	}
	return "[" + span("…/"+end+lineSuffix(f, ":", "-")) + "](" + l.address(f) + ")"
}

// more is the place of one more finding of a file that was named.
func (l links) more(f Finding) string {
	lines := strings.TrimPrefix(lineSuffix(f, ":", "-"), ":")
	switch {
	case lines == "":
		return l.brief(f)
	case l.none():
		return span(lines)
	}
	return "[" + span(lines) + "](" + l.address(f) + ")"
}

func lineSuffix(f Finding, before, between string) string {
	switch {
	case f.Line == 0:
		return ""
	case f.LineEnd == 0:
		return before + strconv.Itoa(f.Line)
	}
	return before + strconv.Itoa(f.Line) + between + strconv.Itoa(f.LineEnd)
}
