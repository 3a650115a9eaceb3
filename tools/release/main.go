// Command release packs the programs that make release built in an empty folder: an archive of prloop for each system, a
// Debian package for each Linux, a Homebrew formula, and the checksums of all that. The programs of the gh extension stay as they
// are, because gh looks for files whose names end in -OS-ARCH; those of prloop are packed and removed, so that it finds one.
// The same input gives the same bytes; dpkg-deb must be installed.
package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed prloop.rb.tmpl
var formula string

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: release VERSION FOLDER SECONDS")
		os.Exit(2)
	}
	seconds, err := strconv.ParseInt(os.Args[3], 10, 64)
	if err == nil {
		err = pack(os.Args[1], os.Args[2], time.Unix(seconds, 0).UTC())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// version is what names of files, Debian and gh all take.
var version = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)

func pack(v, dir string, when time.Time) error {
	if !version.MatchString(v) {
		return fmt.Errorf("%q is no version", v)
	}
	prefix := "prloop_" + v + "_"
	programs, err := filepath.Glob(filepath.Join(dir, prefix+"*-*"))
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for _, program := range programs {
		system, arch, _ := strings.Cut(strings.TrimPrefix(filepath.Base(program), prefix), "-")
		text, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		archive, err := targz([]file{{"prloop", text, 0o755}, {"LICENSE", must("LICENSE"), 0o644}, {"README.md", must("README.md"), 0o644}}, when)
		if err != nil {
			return err
		}
		if err := os.WriteFile(program+".tar.gz", archive, 0o644); err != nil {
			return err
		}
		sums[system+"_"+arch] = fmt.Sprintf("%x", sha256.Sum256(archive))
		if system == "linux" {
			if err := deb(v, arch, text, filepath.Join(dir, prefix+arch+".deb"), when); err != nil {
				return err
			}
		}
		if err := os.Remove(program); err != nil {
			return err
		}
	}
	if len(sums) == 0 {
		return fmt.Errorf("%s holds no program %sOS-ARCH", dir, prefix)
	}
	if len(sums) < 4 { // a formula is about all systems
		return checksums(dir)
	}
	var text bytes.Buffer
	if err := template.Must(template.New("").Option("missingkey=error").Parse(formula)).Execute(&text, map[string]any{"Version": v, "Number": strings.TrimPrefix(v, "v"), "Sums": sums}); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "prloop.rb"), text.Bytes(), 0o644); err != nil {
		return err
	}
	return checksums(dir)
}

// must reads a file of the checkout.
func must(name string) []byte {
	text, err := os.ReadFile(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release: run it at the top of the checkout:", err)
		os.Exit(1)
	}
	return text
}

type file struct {
	name string
	text []byte
	mode int64
}

func targz(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	var errs []error
	for _, f := range files {
		errs = append(errs, t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.text)), ModTime: when, Format: tar.FormatUSTAR}))
		_, err := t.Write(f.text)
		errs = append(errs, err)
	}
	err := errors.Join(append(errs, t.Close(), z.Close())...)
	return out.Bytes(), err
}

// deb makes a Debian package of the program. Versions of Debian begin with a digit; one that is only a commit comes before all others.
func deb(v, arch string, program []byte, out string, when time.Time) error {
	number := strings.TrimPrefix(v, "v")
	if number == "" || !strings.Contains(number, ".") || number[0] < '0' || number[0] > '9' {
		number = "0~" + number
	}
	root, err := os.MkdirTemp("", "deb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	control := fmt.Sprintf(`Package: prloop
Version: %s
Architecture: %s
Maintainer: prloop <https://github.com/prloop/prloop>
Installed-Size: %d
Depends: git (>= 1:2.39), ca-certificates
Recommends: gh
Section: vcs
Priority: optional
Homepage: https://github.com/prloop/prloop
Description: review pull requests with several agents and one verdict
 prloop reviews a pull request, turns findings into a verdict by fixed rules,
 posts one comment, and can fix what it found and review again.
`, number, arch, (len(program)+1023)/1024)
	for _, f := range []file{
		{"DEBIAN/control", []byte(control), 0o644}, {"usr/bin/prloop", program, 0o755},
		{"usr/share/doc/prloop/copyright", must("LICENSE"), 0o644}, {"usr/share/doc/prloop/README.md", must("README.md"), 0o644},
	} {
		path := filepath.Join(root, f.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := cmp.Or(os.WriteFile(path, f.text, 0o644), os.Chmod(path, os.FileMode(f.mode))); err != nil {
			return err
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	c := exec.Command("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", root, out)
	c.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", when.Unix()))
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("dpkg-deb, of the package dpkg: %w\n%s", err, said)
	}
	return nil
}

// checksums writes SHA256SUMS, as sha256sum -c reads it, of everything in the folder.
func checksums(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(text), filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(out.String()), 0o644)
}
