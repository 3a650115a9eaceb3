package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// system is what every child may read: programs and their libraries. Links among them are made as links.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"}

// etcPatterns is the part of /etc that programs start with and that tells nothing about people or services. passwd, group,
// hosts and nsswitch.conf are written anew where there is a mount namespace. There is no resolv.conf: no name can be asked.
//
// Debian keeps there what Java, Maven and Chromium do not start without. Beside it lie passwords of an operator (jmxremote.password, settings.xml,
// apikeys), so of those folders only what is named is shown.
var etcPatterns = []string{"/etc/alternatives", "/etc/ca-certificates", "/etc/chromium.d/default-flags", "/etc/fonts",
	"/etc/java-*-openjdk/*.cfg", "/etc/java-*-openjdk/*.properties", "/etc/java-*-openjdk/security", "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ld.so.conf.d", "/etc/localtime", "/etc/maven/logging", "/etc/maven/m2.conf", "/etc/mime.types", "/etc/os-release", "/etc/pki/tls",
	"/etc/pki/ca-trust", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/timezone",
	"/usr/local/etc/fonts", "/usr/local/etc/php/conf.d", "/usr/local/etc/php/php.ini", "/usr/local/etc/ssl/certs", "/usr/local/etc/ssl/openssl.cnf"}

// settings are the places among the system's folders where package managers and services are set up for all of the machine: tokens for registries lie
// there (npmrc, pip.conf, gemrc). Of them a child sees what etcPatterns names.
var settings = []string{"/usr/etc", "/usr/local/etc", "/usr/pip.conf", "/usr/local/pip.conf", "/usr/lib/node_modules/npm/npmrc", "/usr/local/lib/node_modules/npm/npmrc",
	"/usr/lib/R/etc/Renviron.site", "/usr/lib/R/etc/Rprofile.site", "/usr/lib64/R/etc/Renviron.site", "/usr/lib64/R/etc/Rprofile.site", "/usr/local/lib/R/etc/Renviron.site", "/usr/local/lib/R/etc/Rprofile.site",
	"/usr/share/gradle/init.d", "/usr/local/gradle/init.d"}

// homes are the folders of the system in which, or in a folder of which, an image may keep the home of a package manager for all users: rust's has
// /usr/local/cargo, ruby's /usr/local/bundle, maven's /usr/share/maven; Yarn takes /usr/local/share for the home of root.
var homes = []string{"/usr/local", "/usr/local/share", "/usr/share"}

// homeSettings are the files of such homes in which tokens and passwords lie.
var homeSettings = []string{"credentials", "credentials.toml", "cargo/config", "cargo/config.toml", ".cargo/config", ".cargo/config.toml", ".cargo/credentials", ".cargo/credentials.toml",
	"bundle/config", ".bundle/config", ".gemrc", ".gem/credentials", ".npmrc", ".yarnrc", ".yarnrc.yml", "conf/settings.xml", "conf/settings-security.xml", "ref/settings-docker.xml",
	".m2/settings.xml", "gradle.properties", "init.gradle", ".gradle/gradle.properties", ".gradle/init.gradle", "auth.json", ".composer/auth.json", ".config/composer/auth.json", ".Renviron", "pip.conf", ".pypirc", ".condarc", "NuGet.Config", "nuget.config", ".netrc", ".gitconfig", ".git-credentials"}

// settingsBelow are the paths of settings and of homeSettings that are there, below the root of a system. Links are followed.
func settingsBelow(root string) []string {
	var out []string
	add := func(path string, file bool) {
		if info, err := os.Stat(path); err != nil || file && !info.Mode().IsRegular() {
			return
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	for _, path := range settings {
		add(filepath.Join(root, path), false)
	}
	for _, home := range homes {
		home = filepath.Join(root, home)
		entries, _ := os.ReadDir(home) // what cannot be listed has no home
		for _, name := range homeSettings {
			add(filepath.Join(home, name), true)
			for _, e := range entries {
				if !e.Type().IsRegular() {
					add(filepath.Join(home, e.Name(), name), true)
				}
			}
		}
	}
	return out
}

// plainEtc are the paths of this machine that etcPatterns match.
func plainEtc() []string {
	var paths []string
	for _, pattern := range etcPatterns {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		paths = append(paths, found...)
	}
	return paths
}

// ours are the folders of the sandbox itself; a policy cannot change what is there.
var ours = []string{"/proc", "/dev", "/sys", "/run/prloop", "/etc"}

// within reports whether path is dir or lies below it. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// show lists what the child sees, in the order of mounting.
func (p *plan) show(policy Policy, cmd Command) error {
	hide := slices.Clone(policy.Hide)
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) && filepath.Clean(home) != "/" {
		hide = append(hide, home)
	}
	settings := settingsBelow("/")
	for _, path := range p.Mode.system() {
		if p.Mode == modeRules {
			p.addWithout(path, settings)
		} else {
			p.addSystem(path)
		}
	}
	if p.Mode != modeSeatbelt {
		for _, path := range plainEtc() {
			p.addSystem(path)
		}
	}
	for _, path := range programPaths(cmd) {
		if err := p.addProgram(path, hide); err != nil {
			return err
		}
	}
	for _, path := range policy.ReadOnly {
		if err := p.add("read-only path", path, policy.inside(filepath.Clean(path)), false, hide); err != nil {
			return err
		}
	}
	for _, path := range append([]string{policy.Home}, policy.Writable...) {
		if err := p.add("writable path", path, policy.inside(filepath.Clean(path)), true, hide); err != nil {
			return err
		}
	}
	if err := p.addScratch(policy); err != nil {
		return err
	}
	if p.Mode != modeRules && p.Mode != modeSeatbelt {
		for _, path := range settings {
			if !slices.ContainsFunc(p.Binds, func(b bind) bool { return b.Path == path }) { // the operator may show one
				hide = append(hide, path)
			}
		}
	}
	if err := p.cover(hide); err != nil {
		return err
	}
	p.sort()
	if i := slices.IndexFunc(p.Binds, func(b bind) bool { return !b.Hide && within(filepath.Clean(p.Dir), b.Path) }); i < 0 {
		return &PolicyError{"working folder", fmt.Sprintf("%s is not among the paths the child sees", p.Dir)}
	}
	return nil
}

// addWithout is addSystem of a folder without some paths in it, which Landlock alone cannot hide: of a folder that holds one of them, what lies beside it is listed.
func (p *plan) addWithout(path string, without []string) {
	if slices.Contains(without, path) {
		return
	}
	if !slices.ContainsFunc(without, func(w string) bool { return within(w, path) }) {
		p.addSystem(path)
		return
	}
	entries, _ := os.ReadDir(path) // what cannot be listed cannot be shown
	for _, e := range entries {
		p.addWithout(filepath.Join(path, e.Name()), without)
	}
}

func (p *plan) addSystem(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if target, err := os.Readlink(path); err == nil {
			p.Links = append(p.Links, link{path, target})
		}
		return
	}
	p.Binds = append(p.Binds, bind{Path: path, Source: path, Dir: info.IsDir()})
}

// add lists one path of the policy, and where it is found inside.
func (p *plan) add(what, path, at string, write bool, hide []string) error {
	if err := checkPath(what, path); err != nil {
		return err
	}
	path = filepath.Clean(path)
	if path == "/" || slices.ContainsFunc(ours, func(o string) bool { return within(path, o) || within(o, path) }) {
		return &PolicyError{what, fmt.Sprintf("%s belongs to the sandbox", path)}
	}
	source, err := filepath.EvalSymlinks(path)
	if err != nil {
		return &PolicyError{what, err.Error()}
	}
	info, err := os.Stat(source)
	if err != nil {
		return &PolicyError{what, err.Error()}
	}
	if !info.IsDir() && (write || !info.Mode().IsRegular()) {
		return &PolicyError{what, fmt.Sprintf("%s is not a folder", path)}
	}
	if write && slices.ContainsFunc(p.Mode.system(), func(s string) bool { return within(source, s) || within(s, source) }) {
		return &PolicyError{what, fmt.Sprintf("%s is part of the system", path)}
	}
	for _, h := range hide {
		if h = filepath.Clean(h); h == path || h == source {
			return &PolicyError{what, fmt.Sprintf("%s is to be hidden", path)}
		}
	}
	p.Binds = append(p.Binds, bind{Path: at, Source: source, Write: write, Dir: info.IsDir()})
	return nil
}

// addScratch puts the home into memory where that can be done and is wanted. Sockets in it stay those of the folder.
func (p *plan) addScratch(policy Policy) error {
	home := filepath.Clean(policy.Home)
	i := slices.IndexFunc(p.Binds, func(b bind) bool { return b.Path == p.Home && b.Write })
	if p.Mode.inPlace() || slices.ContainsFunc(policy.Writable, func(w string) bool { return within(home, filepath.Clean(w)) }) {
		return nil
	}
	p.Binds[i].Scratch = true
	entries, err := os.ReadDir(p.Binds[i].Source)
	if err != nil {
		return &PolicyError{"home", err.Error()}
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSocket {
			p.Binds = append(p.Binds, bind{Path: filepath.Join(p.Home, e.Name()), Source: filepath.Join(p.Binds[i].Source, e.Name()), Write: true})
		}
	}
	return nil
}

// addProgram lists a file the program needs: links on the way are made as links, because programs find their own parts
// from where the last one points.
func (p *plan) addProgram(path string, hide []string) error {
	path = filepath.Clean(path)
	if p.shown(path) {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return &PolicyError{"program", err.Error()}
	}
	if real != path {
		p.Links = append(p.Links, link{path, real})
	}
	if p.shown(real) {
		return nil
	}
	return p.add("program", real, real, false, hide)
}

// shown reports whether a path is visible already.
func (p *plan) shown(path string) bool {
	return slices.ContainsFunc(p.Binds, func(b bind) bool { return within(path, b.Path) }) ||
		slices.ContainsFunc(p.Links, func(l link) bool { return within(path, l.Path) })
}

// cover hides what lies in a visible folder. Landlock alone cannot take a part out of a folder.
func (p *plan) cover(hide []string) error {
	for _, h := range hide {
		if !filepath.IsAbs(h) {
			return &PolicyError{"hidden path", fmt.Sprintf("%q is not absolute", h)}
		}
		h = filepath.Clean(h)
		real, err := filepath.EvalSymlinks(h)
		if err != nil {
			continue // what is not there need not be hidden
		}
		for _, b := range p.Binds {
			// A folder shown at another path than its own shows the hidden one there.
			if rel, err := filepath.Rel(b.Source, real); err == nil && !b.Hide && within(real, b.Source) {
				if p.Mode == modeRules {
					return &PolicyError{"hidden path", fmt.Sprintf("%s lies in %s, and nothing but a mount namespace can hide it", h, b.Path)}
				}
				info, err := os.Stat(real)
				if err != nil {
					return &PolicyError{"hidden path", err.Error()}
				}
				p.Binds = append(p.Binds, bind{Path: filepath.Join(b.Path, rel), Source: real, Hide: true, Dir: info.IsDir()})
			}
		}
	}
	return nil
}

// sort puts a folder before what lies in it, a cover over what is shown at the same path, and keeps of two equal paths the
// writable one.
func (p *plan) sort() {
	rank := func(b bind) int {
		switch {
		case b.Hide:
			return 0
		case b.Write:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(p.Binds, func(a, b bind) int {
		if c := strings.Compare(a.Path+"/", b.Path+"/"); c != 0 {
			return c
		}
		return rank(a) - rank(b)
	})
	p.Binds = slices.CompactFunc(p.Binds, func(a, b bind) bool { return a.Path == b.Path })
	p.Links = slices.DeleteFunc(p.Links, func(l link) bool {
		return slices.ContainsFunc(p.Binds, func(b bind) bool { return !b.Hide && within(l.Path, b.Path) })
	})
}
