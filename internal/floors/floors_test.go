package floors

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/prloop/prloop/"

// table gives the floor of each package (design.md "Floors"). A new package starts by getting a floor here. An entry covers the folders below it
// too, unless they have an entry of their own.
var table = map[string]int{
	"review":              0,
	"internal/globs":      0,
	"internal/lazyregexp": 0,
	"internal/runnerlog":  0,
	"internal/needles":    0,
	"internal/failpoint":  0,
	"internal/spelling":   0,
	"internal/neverread":  0,
	"internal/nearest":    0,
	"internal/widetables": 0,
	"internal/drafts":     0,
	"internal/values":     0,
	"internal/lang":       0,
	"internal/lineends":   0,

	"internal/testkit/eventually": 0, // imports nothing, for tests of every floor
	"internal/testkit/webhooks":   0, // likewise
	"internal/testkit/traffic":    0, // likewise
	"internal/testkit/pace":       0, // likewise
	"deploy":                      0, // files; its tests read them

	"consensus":           1,
	"sanitize":            1,
	"prompts":             1,
	"internal/schema":     1,
	"internal/report":     1,
	"internal/diff":       1,
	"internal/identity":   1,
	"internal/pushpolicy": 1,
	"internal/markdown":   1,
	"internal/lens":       1,
	"internal/score":      1,
	"internal/trigger":    1,
	"internal/escalate":   1,
	"internal/actions":    1,
	"internal/weight":     1,
	"internal/advice":     1,
	"internal/toolset":    1,
	"internal/schedule":   1,
	"internal/addresses":  1,
	"internal/gate":       1,

	"internal/conversation": 1, // what GitHub says of our threads, as we remember it

	"internal/subcommand": 2,
	"internal/appfile":    2,
	"internal/pipes":      2,
	"internal/proc":       2,
	"internal/sandbox":    2,
	"internal/effects":    2,
	"internal/answer":     2,
	"internal/filelock":   2,
	"internal/database":   2,
	"internal/postgres":   2,
	"internal/canary":     2,
	"internal/distinct":   2,
	"internal/evidence":   2,
	"internal/broker":     2,
	"internal/wallclock":  2,
	"internal/dismissals": 2,
	"internal/policy":     2,
	"internal/symbols":    2,
	"internal/gosource":   2, // Go packages read without a build
	"internal/threads":    2, // asks internal/conversation what is only thanks
	"internal/coverage":   2, // which changed files were read; pure
	"internal/masks":      2, // what a mask hides of a change; pure
	"internal/intake":     2, // what GitHub tells a server asks for; pure

	"agents":                     3,
	"internal/aftermerge":        3, // what posted findings became; pure
	"internal/acp":               3,
	"internal/objections":        3, // what people object in our threads, remembered; pure
	"internal/github":            3,
	"internal/git":               3,
	"internal/store":             3,
	"internal/engine":            3,
	"internal/repocontext":       3,
	"internal/discovery":         3,
	"internal/gateway":           3,
	"internal/otlp":              3,
	"internal/webfetch":          3,
	"internal/signin":            3,
	"internal/webhook":           3,
	"internal/websearch":         3,
	"internal/registries":        3,
	"internal/buildlayers":       3,
	"internal/modelagent":        3,
	"internal/static":            3,
	"internal/artifacts":         3,
	"internal/blobs":             3,
	"internal/ownfolder":         3,
	"internal/folders":           3,
	"internal/config":            3,
	"internal/tools":             3,
	"internal/testkit/forge":     3,
	"internal/testkit/fakemodel": 3,
	"internal/testkit/fakeagent": 3,
	"internal/testkit/npmagent":  3,
	"internal/testkit/gittest":   3,
	"internal/testkit/registry":  3,
	"internal/testkit/postgres":  3,

	"internal/store/storetest":   4, // what every kind of database has to do, for the tests of a lower floor
	"internal/engine/enginetest": 4,

	"internal/backup":      4,
	"orchestrator":         4,
	"internal/eval":        4,
	"internal/fixspace":    4,
	"internal/maintenance": 4,
	"internal/queue":       4,

	"internal/agentrun": 5,
	"internal/builtin":  5,
	"internal/progress": 5,
	"internal/demo":     5,
	"internal/evalcli":  5,
	"internal/appcli":   5,
	"internal/starter":  5,
	"internal/stats":    5,
	"internal/forecast": 5,
	"internal/formats":  5,

	"internal/app":      6,
	"internal/agentcli": 6,

	"internal/operator":  7,
	"internal/daemon":    7,
	"internal/dashboard": 7,
	"internal/metrics":   7,
	"internal/plumbing":  7,

	"internal/subcommand/host": 8,
	"internal/democli":         8,
	"internal/servecli":        9,
	"internal/troubleshoot":    8,
	"internal/actionsjob":      8,

	"internal/doctor":    9,
	"internal/policycli": 9,

	"internal/cli": 10,

	"cmd/prloop":         11,
	"cmd/gh-review-loop": 11,
}

// rooms are the most lines a package may have in files other than tests. Commands stay thin in internal/cli, and what they do is below it:
// in a package that offers them (internal/subcommand), in internal/app, or further down.
var rooms = map[string]int{"internal/cli": 2500}

// impure are the standard packages that floors 0 and 1, and internal/effects above them, may not import: no exec, network, files, clock-driven
// behaviour, environment or randomness. "time" itself is allowed: it also holds values.
var impure = []string{"os", "os/exec", "net", "net/http", "io/ioutil", "math/rand", "math/rand/v2", "crypto/rand", "syscall"}

// vendors are modules that one package alone may import. Keys are import path
// prefixes; values the packages that may.
var vendors = map[string][]string{
	"os/exec":                                  {"internal/proc"},
	"github.com/gofrs/flock":                   {"internal/filelock"},
	"github.com/spf13/cobra":                   {"internal/cli"},
	"github.com/sashabaranov/go-openai":        {"internal/modelagent"},
	"github.com/dbos-inc/dbos-transact-golang": {"internal/engine"},
	"github.com/prometheus":                    {"internal/metrics"},
	"github.com/jackc/pgx":                     {"internal/postgres"},
	"github.com/cli/go-gh/v2/pkg/api":          {"internal/github"},
	"github.com/cli/go-gh/v2/pkg/auth":         {"internal/github"},
	"github.com/cli/go-gh/v2/pkg/repository":   {"internal/github"},
	"github.com/bradleyfalzon/ghinstallation":  {"internal/github"},
	"github.com/google/go-github":              {"internal/github"},
	"github.com/golang-jwt/jwt":                {"internal/github"},
	"github.com/bluekeyes/go-gitdiff":          {"internal/diff"},
	"github.com/odvcencio/gotreesitter":        {"internal/symbols"},
	"github.com/invopop/jsonschema":            {"internal/schema"},
	"github.com/goccy/go-yaml":                 {"internal/config"},
	"go.yaml.in/yaml":                          {"internal/pushpolicy"}, // bounded where it reads what others wrote
	"github.com/coder/acp-go-sdk":              {"internal/acp"},
	"github.com/modelcontextprotocol/go-sdk":   {"internal/acp"},
	"github.com/vektah/gqlparser/v2":           {"internal/testkit/forge", "internal/github"},
	"github.com/getkin/kin-openapi":            {"internal/testkit/forge"},
}

// floor finds the entry of the table for a folder; ok is false when it has none.
func floor(dir string) (name string, level int, ok bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if l, found := table[d]; found {
			return d, l, true
		}
	}
	return "", 0, false
}

func TestImportsPointDown(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		dir := path.Dir(rel)
		if dir == "internal/floors" || strings.HasPrefix(dir, "tools") {
			return nil
		}
		seen++
		checkFile(t, p, rel, dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no Go file was found: the walk starts in the wrong folder")
	}
}

func checkFile(t *testing.T, file, rel, dir string) {
	t.Helper()
	from, level, ok := floor(dir)
	if !ok {
		t.Errorf("%s: package %s has no floor: give it one in internal/floors", rel, dir)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	for _, spec := range f.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		if (level <= 1 || from == "internal/effects") && slices.Contains(impure, imp) {
			t.Errorf("%s: %s (floor %d) is pure and may not import %q", rel, from, level, imp)
		}
		for prefix, owners := range vendors {
			if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !slices.Contains(owners, from) {
				t.Errorf("%s: only %v may import %q", rel, owners, imp)
			}
		}
		if !strings.HasPrefix(imp, module) {
			continue
		}
		to, below, ok := floor(strings.TrimPrefix(imp, module))
		switch {
		case !ok:
			t.Errorf("%s: imports %s, which has no floor", rel, imp)
		case to != from && below >= level:
			t.Errorf("%s: %s (floor %d) imports %s (floor %d): arrows point down", rel, from, level, to, below)
		}
	}
}

func TestRooms(t *testing.T) {
	for dir, most := range rooms {
		lines, err := linesOf(os.DirFS(filepath.Join("..", "..", filepath.FromSlash(dir))))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case lines == 0:
			t.Errorf("%s has no Go file: the table names what is not there", dir)
		case lines > most:
			t.Errorf("%s has %d lines without tests, and room for %d: offer a command from a package of its own (docs/architecture.md)", dir, lines, most)
		}
	}
}

// TestArchitectureShowsTheFloors: every entry of the table is a folder, and docs/architecture.md lists it on its floor, and on no other.
// Stand-ins for tests need not be listed.
func TestArchitectureShowsTheFloors(t *testing.T) {
	doc, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := floorsShown(t, string(doc))
	for dir, level := range table {
		if _, err := os.Stat(filepath.Join("../..", dir)); err != nil {
			t.Errorf("%s has a floor and is no folder", dir)
		}
		at, ok := shown[dir]
		onlyForTests := dir == "deploy" || strings.HasPrefix(dir, "internal/testkit/") || strings.HasSuffix(dir, "test")
		if ok && at != level || !ok && !onlyForTests {
			t.Errorf("docs/architecture.md does not list %s on floor %d", dir, level)
		}
	}
	for dir := range shown {
		if _, ok := table[dir]; !ok && dir != "internal/testkit" {
			t.Errorf("docs/architecture.md lists %s, which has no floor", dir)
		}
	}
}

// floorsShown reads the packages of the first block of code in a page, with their floors. The number and the name of a floor stand in the
// first eleven columns; lines without a number are of the floor above them. What follows the packages of a line is prose.
func floorsShown(t *testing.T, doc string) map[string]int {
	t.Helper()
	_, rest, _ := strings.Cut(doc, "```\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no block of code")
	}
	const prefix = 11
	shown := map[string]int{}
	level := 0
	for line := range strings.Lines(block) {
		first, _, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(first); err == nil {
			level = n
		}
		if len(line) <= prefix {
			continue
		}
		names := strings.TrimSpace(line[prefix:])
		if group, ok := strings.CutPrefix(names, "internal/{"); ok {
			names = "internal/" + strings.ReplaceAll(strings.TrimSuffix(group, "}"), ",", " internal/")
		}
		for _, name := range strings.Fields(names) {
			if _, ok := table[name]; !ok && !strings.HasPrefix(name, "internal/") {
				break // prose
			}
			shown[name] = level
		}
	}
	return shown
}

// linesOf counts the lines of the Go files of a folder, but for its tests and what lies below.
func linesOf(dir fs.FS) (n int, err error) {
	files, err := fs.Glob(dir, "*.go")
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return 0, err
		}
		n += strings.Count(string(text), "\n")
	}
	return n, nil
}

func TestLinesOf(t *testing.T) {
	n, err := linesOf(fstest.MapFS{
		"a.go": {Data: []byte("package a\n\nvar x int\n")}, "b.go": {Data: []byte("package a\n")}, "a_test.go": {Data: []byte("package a\n")},
		"c.txt": {Data: []byte("\n")}, "below/d.go": {Data: []byte("package d\n")},
	})
	if err != nil || n != 4 {
		t.Errorf("%d lines, %v; want 4", n, err)
	}
}
