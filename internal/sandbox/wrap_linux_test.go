package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// masked is this machine without some parts.
func masked(names ...string) *Machine {
	m := &Machine{missing: map[string]string{}}
	for _, n := range names {
		m.missing[n] = n + " is masked"
	}
	return m
}

func TestTiers(t *testing.T) {
	t.Parallel()
	if r := thisMachine.Probe(t.Context()); r.Tier != Tier1 {
		t.Skip("this machine cannot: " + r.String())
	}
	for _, row := range []struct {
		sentence string
		missing  []string
		want     Tier
	}{
		{"all parts are tier 1", nil, Tier1},
		{"without namespaces Landlock and seccomp are tier 2", []string{PartNamespaces, PartBubblewrap}, Tier2},
		{"namespaces without Landlock are tier 3", []string{PartLandlock}, Tier3},
		{"namespaces without seccomp are tier 3", []string{PartSeccomp}, Tier3},
		{"Landlock alone is tier 3", []string{PartNamespaces, PartBubblewrap, PartSeccomp}, Tier3},
		{"nothing is tier 4", []string{PartNamespaces, PartBubblewrap, PartSeccomp, PartLandlock}, Tier4},
	} {
		r := masked(row.missing...).Probe(t.Context())
		if r.Tier != row.want {
			t.Errorf("%s: %s", row.sentence, r)
		}
		for _, name := range row.missing {
			if p := r.Part(name); p.OK || p.Detail != name+" is masked" {
				t.Errorf("%s: %+v", row.sentence, p)
			}
		}
	}
	for _, row := range []struct {
		sentence string
		fill     func(*Report)
		want     Tier
	}{
		{"bubblewrap in place of namespaces is tier 1b", func(r *Report) { r.landlock = 3; r.say(PartSeccomp, true, ""); r.say(PartBubblewrap, true, "") }, Tier1b},
		{"Landlock below 3 is tier 3", func(r *Report) { r.landlock = 2; r.say(PartSeccomp, true, ""); r.say(PartNamespaces, true, "") }, Tier3},
		{"Landlock 3 without namespaces is tier 3: it does not know TCP", func(r *Report) { r.landlock = 3; r.say(PartSeccomp, true, "") }, Tier3},
	} {
		var r Report
		row.fill(&r)
		if got := r.rate(); got != row.want {
			t.Errorf("%s: %s", row.sentence, got)
		}
	}
}

func TestWrapFailsClosed(t *testing.T) {
	t.Parallel()
	withFilters(t)
	cmd := Command{Path: "/bin/true"}
	for _, row := range []struct {
		sentence string
		missing  []string
		min      Tier
		names    []string
	}{
		{"the zero policy wants full containment", []string{PartNamespaces, PartBubblewrap}, 0, []string{PartNamespaces}},
		{"tier 2 wants Landlock and seccomp", []string{PartNamespaces, PartBubblewrap, PartLandlock}, Tier2, []string{PartLandlock}},
		{"tier 1 is not 1b", []string{PartNamespaces, PartLandlock, PartSeccomp}, Tier1, []string{PartNamespaces, PartLandlock, PartSeccomp}},
		{"tier 3 wants anything", []string{PartNamespaces, PartBubblewrap, PartLandlock, PartSeccomp}, Tier3, []string{PartNamespaces, PartLandlock, PartSeccomp}},
	} {
		_, err := masked(row.missing...).Wrap(Policy{MinTier: row.min, Home: t.TempDir()}, cmd)
		var tier *TierError
		if !errors.As(err, &tier) {
			t.Errorf("%s: %v", row.sentence, err)
			continue
		}
		var names []string
		for _, p := range tier.Missing {
			names = append(names, p.Name)
		}
		if !slices.Equal(names, row.names) || !strings.Contains(err.Error(), row.names[0]+" is masked") {
			t.Errorf("%s: %v", row.sentence, err)
		}
	}
	none := masked(PartNamespaces, PartBubblewrap, PartLandlock, PartSeccomp)
	got, err := none.Wrap(Policy{MinTier: Tier4, Home: t.TempDir()}, cmd)
	if err != nil || got.Path != cmd.Path {
		t.Errorf("tier 4, asked for by name, does not run plainly: %+v %v", got, err)
	}
}

// Root's child without namespaces has a uid of its own where its folders are open to it; where they are not, it keeps root's, which is tier 3.
func TestRootsUIDIsTier3(t *testing.T) {
	t.Parallel()
	m := masked(PartNamespaces, PartBubblewrap)
	report := m.Probe(t.Context())
	if os.Geteuid() != 0 || report.Tier != Tier2 {
		t.Skip("this machine cannot, or not as this user: " + report.String())
	}
	root := open(t)
	home := filepath.Join(root, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := Command{Path: "/bin/true"}
	if _, err := m.Wrap(Policy{MinTier: Tier2, Home: home}, cmd); err != nil {
		t.Errorf("a home that others may enter: %v", err)
	}
	if err := os.Chmod(root, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := m.Wrap(Policy{MinTier: Tier2, Home: home}, cmd)
	var tier *TierError
	if !errors.As(err, &tier) || tier.Have != Tier3 || !strings.Contains(err.Error(), "own uid: no other user may enter "+root) {
		t.Errorf("a home that nobody else may enter: %v", err)
	}
	if _, err := m.Wrap(Policy{MinTier: Tier3, Home: home}, cmd); err != nil {
		t.Errorf("tier 3: %v", err)
	}
	if got := report.Private(); got.Tier != Tier3 || !strings.Contains(got.String(), "; own uid: ") || report.Part(PartUID) == got.Part(PartUID) {
		t.Errorf("prloop's own folders: %s", got)
	}
	if full := thisMachine.Probe(t.Context()); full.Tier <= Tier1b && full.Private().String() != full.String() {
		t.Errorf("namespaces: %s", full.Private())
	}
}

func TestPoliciesThatCannotBeKept(t *testing.T) {
	if r := thisMachine.Probe(t.Context()); r.Tier > Tier2 {
		t.Skip("this machine cannot: " + r.String())
	}
	root := t.TempDir()
	operator, home := filepath.Join(root, "operator"), filepath.Join(root, "home")
	if err := errors.Join(os.MkdirAll(operator+"/agent", 0o755), os.MkdirAll(home, 0o755), os.Symlink(operator, root+"/alias")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", operator)
	machine := &Machine{}
	for _, row := range []struct {
		sentence string
		policy   Policy
		dir      string
		bad      bool
	}{
		{"a home is enough", Policy{}, "", false},
		{"a folder below the operator's home may be listed", Policy{ReadOnly: []string{operator + "/agent"}}, "", false},
		{"the operator's home may not", Policy{ReadOnly: []string{operator}}, "", true},
		{"nor by another name", Policy{ReadOnly: []string{root + "/alias"}}, "", true},
		{"nor as home", Policy{Home: operator}, "", true},
		{"the root may not be listed", Policy{ReadOnly: []string{"/"}}, "", true},
		{"the machine's /proc may not be listed", Policy{ReadOnly: []string{"/proc"}}, "", true},
		{"nor a folder that holds the sandbox's own", Policy{ReadOnly: []string{"/run"}}, "", true},
		{"a part of the system may not be written to", Policy{Writable: []string{"/usr/share"}}, "", true},
		{"a path must be absolute", Policy{ReadOnly: []string{"here"}}, "", true},
		{"and exist", Policy{ReadOnly: []string{root + "/missing"}}, "", true},
		{"a socket cannot be listed", Policy{ReadOnly: []string{"/dev/null"}}, "", true},
		{"the working folder must be in sight", Policy{}, operator, true},
		{"a port needs a gateway", Policy{GatewayPort: 4141}, "", true},
		{"what is listed may be shown elsewhere", Policy{ReadOnly: []string{operator + "/agent"}, Shown: []Shown{{operator, RoomInside}}}, "", false},
		{"but in its place alone", Policy{ReadOnly: []string{operator + "/agent"}, Shown: []Shown{{operator, "/usr"}}}, "", true},
		{"nor out of it", Policy{ReadOnly: []string{operator + "/agent"}, Shown: []Shown{{operator, RoomInside + "/.."}}}, "", true},
	} {
		if row.policy.Home == "" {
			row.policy.Home = home
		}
		_, err := machine.Wrap(row.policy, Command{Path: "/bin/true", Dir: row.dir})
		var policy *PolicyError
		if row.bad != errors.As(err, &policy) || !row.bad && err != nil {
			t.Errorf("%s: %v", row.sentence, err)
		}
	}
	_, err := masked(PartNamespaces, PartBubblewrap).Wrap(Policy{MinTier: Tier2, Home: home, Loopback: true}, Command{Path: "/bin/true"})
	var policy *PolicyError
	if !errors.As(err, &policy) {
		t.Errorf("TCP without a network namespace was allowed: %v", err)
	}
	_, err = masked(PartNamespaces, PartBubblewrap).Wrap(Policy{MinTier: Tier2, Home: home, Shown: []Shown{{home, RoomInside}}}, Command{Path: "/bin/true"})
	if !errors.As(err, &policy) {
		t.Errorf("another place without a mount namespace was allowed: %v", err)
	}
}

// An npm agent: a link on PATH, a script whose interpreter is found through env, a package folder.
func TestProgramPaths(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	script := root + "/lib/node_modules/agent/bin/agent.js"
	node := root + "/node/bin/node"
	err := errors.Join(os.MkdirAll(filepath.Dir(script), 0o755), os.MkdirAll(filepath.Dir(node), 0o755), os.MkdirAll(root+"/bin", 0o755),
		os.WriteFile(script, []byte("#!/usr/bin/env -S node\n"), 0o755), os.WriteFile(node, []byte("\x7fELF"), 0o755), os.Symlink(script, root+"/bin/agent"))
	if err != nil {
		t.Fatal(err)
	}
	got := programPaths(Command{Path: root + "/bin/agent", Env: []string{"PATH=relative:" + filepath.Dir(node)}})
	want := []string{root + "/bin/agent", root + "/lib/node_modules", node}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSocketPathIsReplaced(t *testing.T) {
	t.Parallel()
	got := replaceSocket([]string{"S=/tmp/x/model.sock", "T=/tmp/x/model.sock2", "EMPTY"}, "/tmp/x/model.sock", GatewaySocket)
	if want := []string{"S=" + GatewaySocket, "T=/tmp/x/model.sock2", "EMPTY"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if replaceSocket(nil, "", "") == nil {
		t.Error("an empty environment became none at all")
	}
}

// Of the folders in which toolchains keep what they start with, that is shown, and no password that lies beside it.
func TestWhatOfEtcIsShown(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/etc/java-17-openjdk/jvm-amd64.cfg": true, "/etc/java-21-openjdk/net.properties": true, "/etc/java-17-openjdk/security/java.security": true,
		"/etc/java-17-openjdk/management/jmxremote.password": false, "/etc/java-17-openjdk/keys.p12": false, "/etc/maven/m2.conf": true, "/etc/maven/settings.xml": false,
		"/etc/chromium.d/default-flags": true, "/etc/chromium.d/apikeys": false, "/etc/fonts/fonts.conf": true, "/etc/ssl/certs/a.pem": true, "/etc/ssl/private/a.key": false,
		"/usr/local/etc/npmrc": false, "/usr/local/etc/gemrc": false, "/usr/local/etc/php/conf.d/docker-php-ext-intl.ini": true, "/etc/shadow": false, "/etc/resolv.conf": false, "/etc": false,
	} {
		got := false
		for dir := path; dir != "/"; dir = filepath.Dir(dir) {
			got = got || slices.ContainsFunc(etcPatterns, func(pattern string) bool {
				ok, err := filepath.Match(pattern, dir)
				if err != nil {
					t.Fatal(pattern, err)
				}
				return ok
			})
		}
		if got != want {
			t.Errorf("%s: shown %v, want %v", path, got, want)
		}
	}
}

// An image may keep the home of a package manager among the system's folders, with the tokens for registries (threats.md T444).
func TestSettingsOfImages(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hidden := []string{"/usr/local/cargo/credentials.toml", "/usr/local/cargo/config.toml", "/usr/local/bundle/config", "/usr/local/share/.npmrc", "/usr/share/maven/conf/settings.xml",
		"/usr/share/maven/ref/settings-docker.xml", "/usr/share/rust/.cargo/credentials", "/usr/local/miniconda3/pip.conf", "/usr/local/etc/npmrc",
		"/usr/local/lib/R/etc/Renviron.site", "/usr/lib/R/etc/Rprofile.site", "/usr/local/share/.Renviron", "/usr/local/gradle/.gradle/init.gradle", "/usr/share/gradle/gradle.properties",
		"/usr/share/gradle/init.d", "/usr/local/composer/auth.json", "/usr/local/share/.composer/auth.json", "/usr/local/share/.config/composer/auth.json"}
	shown := []string{"/usr/local/lib/R/etc/Renviron", "/usr/lib/R/etc/ldpaths", "/usr/share/gradle/lib/a.jar", "/usr/local/composer/vendor/b/auth.json",
		"/usr/local/cargo/bin/cargo", "/usr/local/cargo/registry/x", "/usr/local/bundle/gems/a/config", "/usr/share/maven/conf/logging/a.properties", "/usr/local/etc2/config", "/usr/lib/credentials/a"}
	for _, path := range slices.Concat(hidden, shown) {
		if err := os.MkdirAll(root+filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root+"/usr/share/maven", root+"/usr/local/maven"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range hidden {
		want = append(want, root+strings.Replace(path, "/usr/local/etc/npmrc", "/usr/local/etc", 1))
	}
	got := settingsBelow(root)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	p := &plan{Mode: modeRules}
	p.addWithout(root+"/usr", got)
	for _, path := range slices.Concat(hidden, shown) {
		if is := p.shown(root + path); is != slices.Contains(shown, path) {
			t.Errorf("%s without namespaces: shown %v", path, is)
		}
	}
}

// Debian's Java reads its settings from /etc.
func TestDebiansJavaStarts(t *testing.T) {
	t.Parallel()
	if found, _ := filepath.Glob("/etc/java-*-openjdk/jvm-*.cfg"); len(found) == 0 {
		t.Skip("no OpenJDK of Debian here")
	}
	const java = "/usr/bin/java"
	if _, err := os.Stat(java); err != nil {
		t.Skip(err)
	}
	for name, missing := range map[string]map[string]string{"tier 1": nil, "tier 1b": {PartNamespaces: "masked"}, "tier 2": withoutNamespaces} {
		t.Run(name, func(t *testing.T) {
			forUsers(t, func(t *testing.T, user int) {
				r := newTrial(t, user, "")
				r.order.Missing, r.order.Policy.MinTier = missing, Tier2
				r.order.Command.Path, r.order.Command.Args = java, []string{"-version"}
				r.good()
			})
		})
	}
}
