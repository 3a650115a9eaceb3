package static

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/gosource"
	"github.com/prloop/prloop/internal/proc"
)

const goVet = "go vet"

// goSourceTimeout bounds the reading of Go from its source; it takes a tenth of a second, or a half with all of net/http.
const goSourceTimeout = 5 * time.Second

// nothingCompiled reports whether the go command's cache is empty: what it is asked first takes as long as the standard library
// takes to compile. A cache that is kept where only the go command knows counts as full.
func nothingCompiled() bool {
	dir := os.Getenv("GOCACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return true // the go command does not run without one
		}
		dir = filepath.Join(user, "go-build")
		if config, err := os.UserConfigDir(); err == nil {
			if text, err := os.ReadFile(filepath.Join(config, "go", "env")); err == nil && strings.Contains(string(text), "GOCACHE=") {
				return false
			}
		}
	}
	entries, err := os.ReadDir(dir)
	return err != nil || len(entries) == 0
}

// notHere reports whether go vet says that a package is not on this machine.
func notHere(r remark) bool {
	return r.level == "" && slices.ContainsFunc([]string{"no required module provides ", "cannot find module ", "cannot find package ", "missing go.sum entry "},
		func(words string) bool { return strings.HasPrefix(r.message, words) })
}

// readGo does what go vet could not: its analyzers read the changed packages from their source.
func (w *work) readGo(ctx context.Context) {
	vet := linters()[slices.IndexFunc(linters(), func(l linter) bool { return l.name == goVet })]
	names := w.filesOf(vet)
	root, err := os.OpenRoot(w.opts.CheckoutDir)
	if err != nil || len(names) == 0 {
		return
	}
	defer root.Close()
	w.say("reading Go source in %s", files(len(names)))
	ctx, cancel := context.WithTimeout(ctx, goSourceTimeout)
	defer cancel()
	res, err := gosource.Check(ctx, root.FS(), standardLibrary(), names)
	if err != nil {
		w.tell("The Go packages could not be read from their source either: %s.", printable(err.Error(), 200))
		return
	}
	var remarks []remark
	for _, r := range res.Remarks {
		level := ""
		if r.Error {
			level = "error"
		}
		remarks = append(remarks, remark{file: r.File, line: r.Line, level: level, message: r.Message})
	}
	w.place(vet, remarks)
	said := "The checks of go vet read the changed Go packages from their source, without building them."
	if len(res.Lacking) > 0 {
		shown := res.Lacking[:min(len(res.Lacking), 3)]
		said += " Types of imports that are not here went unchecked: " + code(printable(strings.Join(shown, ", "), 200))
		if more := len(res.Lacking) - len(shown); more > 0 {
			said += " and more"
		}
		said += "."
	}
	w.tell("%s", said)
}

// standardLibrary are the sources that came with the go command; nil where there are none.
func standardLibrary() fs.FS {
	var places []string
	if root := os.Getenv("GOROOT"); root != "" {
		places = append(places, root)
	}
	if program, err := proc.LookPath("go"); err == nil {
		places = append(places, filepath.Dir(filepath.Dir(real(program))))
	}
	for _, place := range places {
		src := filepath.Join(place, "src")
		if exists(filepath.Join(src, "fmt", "print.go")) {
			return os.DirFS(src)
		}
	}
	return nil
}
