package sandbox

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// aMac is a machine that has Seatbelt. Its profiles are text, which can be made and read anywhere.
func aMac() *Machine {
	m := &Machine{}
	m.probed.report = &Report{Tier: Tier2}
	m.probed.report.say(PartSeatbelt, true, "")
	return m
}

// testdata/seatbelt.sb is what sandbox-exec is told for a child with a home, a tree in which a file is hidden, a program behind a link,
// and a gateway.
func TestSeatbeltProfile(t *testing.T) {
	p := &plan{
		Mode: modeSeatbelt, Dir: "/private/tmp/run/home", Gateway: "/private/tmp/run/model.sock",
		Binds: []bind{
			{Path: "/usr/lib", Source: "/usr/lib", Dir: true},
			{Path: "/tmp/run/home", Source: "/private/tmp/run/home", Dir: true, Write: true},
			{Path: "/private/tmp/run/tree", Source: "/private/tmp/run/tree", Dir: true},
			{Path: "/private/tmp/run/tree/.env", Source: "/private/tmp/run/tree/.env", Hide: true},
			{Path: `/Users/ann/a "fine" \ agent`, Source: `/Users/ann/a "fine" \ agent`},
		},
		Links: []link{{"/Users/ann/bin/agent", `/Users/ann/a "fine" \ agent`}},
	}
	got, err := p.profile()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "seatbelt.sb")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the profile is\n%s", got)
	}
}

// balanced reports whether every parenthesis outside of strings and comments is closed, and nothing is open at the end.
func balanced(profile string) bool {
	depth, quoted := 0, false
	for _, line := range strings.Split(profile, "\n") {
		if !quoted && strings.HasPrefix(line, ";") {
			continue
		}
		for i := 0; i < len(line); i++ {
			switch c := line[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '(':
				depth++
			case c == ')':
				if depth--; depth < 0 {
					return false
				}
			}
		}
	}
	return depth == 0 && !quoted
}

// What a policy says becomes a profile: nothing outside of it can be read, and no path can end its rule.
func TestSeatbeltWrap(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	operator, home, tree := filepath.Join(root, "operator"), filepath.Join(root, "home"), filepath.Join(root, `tree") (allow default) ("`)
	err = errors.Join(os.MkdirAll(operator+"/agent", 0o755), os.Mkdir(home, 0o755), os.MkdirAll(tree+"/state/shown", 0o755), os.WriteFile(root+"/model.sock", nil, 0o600),
		os.Symlink(root, root+"/alias"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", operator)
	policy := Policy{
		MinTier: Tier2, Home: home, ReadOnly: []string{tree, tree + "/state/shown", operator + "/agent"}, Hide: []string{tree + "/state"},
		Gateway: root + "/alias/model.sock", Limits: Limits{Files: 7},
	}
	cmd, err := aMac().Wrap(policy, Command{Path: "/bin/sh", Args: []string{"-c", "true"}, Env: []string{"S=" + root + "/alias/model.sock", "A=b"}})
	if err != nil {
		t.Fatal(err)
	}
	self, _ := os.Executable()
	if cmd.Path != self || len(cmd.Args) != 6 || cmd.Args[0] != InitCommand || !slices.Equal(cmd.Args[3:], []string{"/bin/sh", "-c", "true"}) || cmd.Dir != home {
		t.Errorf("%q %q in %q", cmd.Path, cmd.Args, cmd.Dir)
	}
	if !slices.Equal(cmd.Env, []string{"S=" + root + "/model.sock", "A=b"}) {
		t.Errorf("environment %q", cmd.Env)
	}
	if !strings.Contains(cmd.Args[1], `"Files":7,`) {
		t.Errorf("limits %s", cmd.Args[1])
	}
	profile := cmd.Args[2]
	if !balanced(profile) {
		t.Errorf("a parenthesis or a string is open:\n%s", profile)
	}
	quoted := func(path string) string { return `"` + strings.ReplaceAll(path, `"`, `\"`) + `"` }
	for what, line := range map[string]string{
		"nothing is allowed that no rule allows": "(deny default)\n",
		"the tree without what is hidden":        "(require-all (subpath " + quoted(tree) + ") (require-not (subpath " + quoted(tree+"/state") + ")))\n",
		"what is shown of the hidden":            "\n  (subpath " + quoted(tree+"/state/shown") + ")",
		"a folder of the operator's home":        "\n  (subpath " + quoted(operator+"/agent") + ")",
		"only the home may be written":           "(allow file-write*\n  (subpath " + quoted(home) + "))\n",
		"only the gateway is reached":            "(allow network-outbound\n  (remote unix-socket (path-literal " + quoted(root+"/model.sock") + ")))\n",
	} {
		if !strings.Contains(profile, line) {
			t.Errorf("%s: %q is not in\n%s", what, line, profile)
		}
	}
	if strings.Count(profile, "network") != 1 || strings.Contains(profile, quoted(operator)+")\n  (subpath") || strings.Contains(profile, "(subpath "+quoted(root)+")") {
		t.Errorf("more is open than the policy says:\n%s", profile)
	}

	for sentence, change := range map[string]func(*Policy){
		"the operator's home may not be read":                func(p *Policy) { p.ReadOnly = []string{operator} },
		"nor programs be written":                            func(p *Policy) { p.Writable = []string{"/usr/bin"} },
		"TCP needs a network namespace":                      func(p *Policy) { p.Loopback = true },
		"another place needs a mount namespace":              func(p *Policy) { p.Shown = []Shown{{home, RoomInside}} },
		"a socket with a path that macOS does not take":      func(p *Policy) { p.Gateway = root + "/" + strings.Repeat("x", seatbeltSocketLimit) },
		"a gateway in a folder that is not there":            func(p *Policy) { p.Gateway = root + "/missing/model.sock" },
		"less than full containment has to be asked for":     func(p *Policy) { p.MinTier = 0 },
		"the working folder has to be seen":                  func(p *Policy) { p.Home = tree + "/state/shown"; p.Writable = nil; p.ReadOnly = nil; p.Hide = nil },
		"a path with a control character is in no profile":   func(p *Policy) { p.ReadOnly = []string{mkdir(t, root+"/a\nb")} },
		"nor one that is the machine's devices or processes": func(p *Policy) { p.ReadOnly = []string{"/dev"} },
	} {
		changed := policy
		change(&changed)
		dir := ""
		if sentence == "the working folder has to be seen" {
			dir = operator
		}
		_, err := aMac().Wrap(changed, Command{Path: "/bin/sh", Dir: dir})
		if !errors.As(err, new(*PolicyError)) && !errors.As(err, new(*TierError)) {
			t.Errorf("%s: %v", sentence, err)
		}
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Seatbelt is tier 2, and less where an operator leaves it out.
func TestSeatbeltTier(t *testing.T) {
	var r Report
	r.say(PartNamespaces, false, "darwin has none")
	r.say(PartSeatbelt, true, "")
	if r.rate() != Tier2 || len(r.lacks(Tier2)) != 0 {
		t.Errorf("Seatbelt is tier %s, which lacks %q", r.rate(), r.lacks(Tier2))
	}
	r = Report{}
	r.say(PartSeatbelt, false, "left out")
	if r.rate() != Tier4 {
		t.Errorf("nothing is tier %s", r.rate())
	}
	if p := planFor(Report{Parts: []Part{{Name: PartSeatbelt, OK: true}}}); p.Mode != modeSeatbelt || !p.Mode.inPlace() {
		t.Errorf("%+v", p)
	}
}
