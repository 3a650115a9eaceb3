package pushpolicy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// Declared are the packages that Python projects depend on: a new module of such a name, where python3 -m is called, takes the place of what is installed (threats.md T832). The zero
// value is of no tree.
type Declared struct {
	// by has for each module the file that declares it.
	by map[string]string
	// stood are the modules and folders of the trees, projects the folders of Python projects.
	stood, projects map[string]bool
	// beyond is true where there are more declarations than are read: then any new module may be one.
	beyond bool
}

// DeclaredBytes bounds what is read of a tree for Declared.
const DeclaredBytes = 32 << 20

var declaredBounds = bounds{files: 1000, bytes: DeclaredBytes, depth: 1}

var (
	declaring   = lazyregexp.New(`(?i)(^|/)([\w.-]*requirements[\w.-]*\.(txt|in)|requirements/[^/]+\.(txt|in)|pyproject\.toml|(poetry|uv|pdm)\.lock|pylock[\w.]*\.toml)$`)
	requirement = lazyregexp.New(`(?m)^\s*([A-Za-z][\w.-]*)\s*(?:[\[<>=!~;@ #]|\r?$)`)
	locked      = lazyregexp.New(`(?m)^name\s*=\s*"([\w.-]+)"`)
	depends     = lazyregexp.New(`(?:dependencies|requires)\s*=\s*\[((?:"[^"]*"|'[^']*'|[^\]"'])*)\]`)
	dependency  = lazyregexp.New(`["']([A-Za-z][\w.-]*)`)
	separators  = lazyregexp.New(`[.-]+`)
)

// modulesOf are the modules of known packages that are not called as these are.
var modulesOf = map[string]string{
	"pyyaml": "yaml", "pyjwt": "jwt", "pyserial": "serial", "pyzmq": "zmq", "pyopenssl": "openssl", "pillow": "pil", "beautifulsoup4": "bs4", "scikit_learn": "sklearn", "opencv_python": "cv2",
	"pycryptodome": "crypto", "python_dateutil": "dateutil", "attrs": "attr", "psycopg2_binary": "psycopg2", "mysqlclient": "mysqldb", "djangorestframework": "rest_framework", "setuptools": "pkg_resources",
}

// Add reads what a tree declares.
func (d *Declared) Add(sizes map[string]int64, read func(names []string) (map[string][]byte, error)) error {
	if d.by == nil {
		d.by, d.stood, d.projects = map[string]string{}, map[string]bool{}, map[string]bool{}
	}
	var first []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if declaring.MatchString(name) && !vendored.MatchString(name) {
			first = append(first, name)
		}
		if slices.Contains(projectFiles, path.Base(name)) {
			d.projects[path.Dir(name)] = true
		}
		d.stood[spelling.Fold(strings.TrimSuffix(name, ".py"))] = true
		for folder := path.Dir(name); folder != "." && !d.stood[spelling.Fold(folder)]; folder = path.Dir(folder) {
			d.stood[spelling.Fold(folder)] = true
		}
	}
	beyond, err := declaredBounds.follow(first, sizes, read, d.declares, func(string) bool { return false })
	d.beyond = d.beyond || beyond
	return err
}

// declares takes what a file declares.
func (d *Declared) declares(file, text string) {
	var names []string
	switch lower := strings.ToLower(path.Base(file)); {
	case path.Ext(lower) == ".txt", path.Ext(lower) == ".in":
		names = matchesOf(requirement, text)
	case lower != "pyproject.toml":
		names = matchesOf(locked, text)
	default:
		for _, list := range matchesOf(depends, text) {
			names = append(names, matchesOf(dependency, list)...)
		}
	}
	for _, name := range names {
		name = separators.ReplaceAllString(strings.ToLower(name), "_")
		for _, module := range []string{name, modulesOf[name], strings.TrimPrefix(name, "python_"), strings.TrimSuffix(name, "_python")} {
			d.by[module] = file
		}
	}
}

// why says why a new file takes the place of what a project depends on; empty means that it is not known to.
func (d *Declared) why(name string) string {
	module, is := strings.CutSuffix(spelling.Fold(name), ".py")
	module = strings.TrimSuffix(strings.TrimSuffix(module, "/__init__"), "/__main__")
	if folder := path.Dir(module); !is || d.stood[module] || folder != "." && !d.projects[folder] {
		return ""
	}
	by := d.by[path.Base(module)]
	switch {
	case by != "":
		return "it would take the place of a package that " + spelling.Name(by) + " declares"
	case d.beyond:
		return "there are more declarations of packages than are read, and it may take the place of one"
	}
	return ""
}
