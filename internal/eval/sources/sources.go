// Package sources makes review cases, and recorded results, of what others published and of one's own repositories
// (eval.md "Import").
package sources

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Imported says what was made.
type Imported struct {
	// Cases and Results are folders.
	Cases   string   `json:"cases"`
	Results []string `json:"results"`
	// Pulls and Golden count the cases and what they expect.
	Pulls  int `json:"pulls"`
	Golden int `json:"golden"`
	// Notes name what was changed or left out.
	Notes []string `json:"notes"`
}

// Write prints it.
func (i Imported) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %s\n", i.Cases, counted(i.Pulls, "case"), counted(i.Golden, "expected finding"))
	if n := len(i.Results); n > 0 {
		fmt.Fprintf(w, "%s: %s\n", filepath.Dir(i.Results[0]), counted(n, "result set"))
	}
	for _, n := range i.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	return nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (i *Imported) note(format string, args ...any) {
	i.Notes = append(i.Notes, fmt.Sprintf(format, args...))
}

// add writes a case.
func (i *Imported) add(c cases.Case, archive, diffText []byte) error {
	if err := cases.Write(i.Cases, c, archive, diffText); err != nil {
		return err
	}
	i.Pulls, i.Golden = i.Pulls+1, i.Golden+len(c.Golden)
	return nil
}

// Why there is nothing to import: ErrEmpty where nothing is expected, ErrMerged where the target branch holds the work already.
var (
	ErrEmpty  = errors.New("nothing to import")
	ErrMerged = errors.New("the target branch has the first version already")
)

// done reads back what was written, so that an import that leaves bad cases fails.
func (i *Imported) done() (Imported, error) {
	if i.Pulls == 0 {
		return *i, ErrEmpty
	}
	_, err := cases.Read(i.Cases)
	return *i, err
}

// pullAddress is the address of a pull request on GitHub.
var pullAddress = lazyregexp.New(`^/([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/pull/([0-9]+)$`)

// identify makes the identity of a case of a pull request's address.
func identify(address string) (cases.Case, error) {
	u, err := url.Parse(address)
	if err != nil {
		return cases.Case{}, fmt.Errorf("%q is no address of a pull request", address)
	}
	m := pullAddress.FindStringSubmatch(u.Path)
	if m == nil {
		return cases.Case{}, fmt.Errorf("%q is no address of a pull request", address)
	}
	n, err := strconv.Atoi(m[3])
	if err != nil {
		return cases.Case{}, fmt.Errorf("%q is no address of a pull request", address)
	}
	return cases.Case{ID: strings.TrimLeft(m[1]+"-"+m[2]+"-"+m[3], "."), Repo: m[1] + "/" + m[2], PR: n, URL: address}, nil
}

// maxBytes bounds what a file may unpack to.
const maxBytes = 256 << 20

// readPacked reads compressed JSON.
func readPacked(file string, v any) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := json.NewDecoder(io.LimitReader(z, maxBytes)).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// severityOf is a severity in lower case; one nobody knows is none.
func severityOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, l := range review.Levels() {
		if l.Severity == s {
			return s
		}
	}
	return ""
}
