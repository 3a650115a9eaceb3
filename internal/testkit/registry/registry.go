// Package registry is a stand-in for package registries: it speaks npm's protocol below /npm/, that of Go modules below /go/, PyPI's simple
// one below /pypi/simple/ and Cargo's sparse one below /cargo/, and has a few small packages. It listens on the loopback interface, under a name of it that clients do not take for this machine.
package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
)

// Version is that of every package.
const Version = "1.0.0"

// NPM are the packages of npm by name, with their files.
var NPM = map[string]map[string]string{
	"tiny": {
		"package.json": `{"name": "tiny", "version": "1.0.0", "main": "index.js", "types": "index.d.ts"}`,
		"index.js":     "exports.add = (a, b) => a + b;\n",
		"index.d.ts":   "export function add(a: number, b: number): number;\n",
	},
	// A compiler of very little TypeScript: it takes the types of parameters and results away.
	"tiny-tsc": {
		"package.json": `{"name": "tiny-tsc", "version": "1.0.0", "bin": {"tiny-tsc": "tsc.js"}}`,
		"tsc.js": "#!/usr/bin/env node\nconst fs = require('fs');\nfor (const f of process.argv.slice(2)) {\n" +
			"  fs.writeFileSync(f.replace(/ts$/, 'js'), fs.readFileSync(f, 'utf8').replace(/: (number|string)\\b(\\[\\])?/g, '').replace(/^import \\{(.*)\\} from '(.*)';$/gm, \"const {$1} = require('$2');\").replace(/^export function (\\w+)/gm, 'exports.$1 = function $1'));\n}\n",
	},
	// One whose author means harm: the word EVIL stands for what its installation runs.
	"evil": {
		"package.json": `{"name": "evil", "version": "1.0.0", "scripts": {"postinstall": "sh ./install.sh"}}`,
		"install.sh":   "EVIL\n",
	},
}

// Module is the path of the one Go module, GoFiles what is in it.
const Module = "tiny.example/sum"

// GoFiles are the files of Module.
var GoFiles = map[string]string{
	"go.mod": "module " + Module + "\n\ngo 1.21\n",
	"sum.go": "// Package sum adds.\npackage sum\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n",
}

// GoSum are the lines of go.sum for Module.
func GoSum() string {
	files := map[string]string{}
	for name, text := range GoFiles {
		files[Module+"@v"+Version+"/"+name] = text
	}
	return fmt.Sprintf("%s v%s %s\n%s v%s/go.mod %s\n", Module, Version, hash(files), Module, Version, hash(map[string]string{"go.mod": GoFiles["go.mod"]}))
}

// hash is Go's h1 of files.
func hash(files map[string]string) string {
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256([]byte(files[name]))
		fmt.Fprintf(all, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(all.Sum(nil))
}

// Wheel is the name of the one Python package's file, WheelFiles what is in it.
const Wheel = "tiny_sum-" + Version + "-py3-none-any.whl"

// WheelFiles are the files of Wheel.
var WheelFiles = map[string]string{
	"tiny_sum.py":                       "def add(a, b):\n    return a + b\n",
	"tiny_sum-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-sum\nVersion: 1.0.0\n",
	"tiny_sum-1.0.0.dist-info/WHEEL":    "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	"tiny_sum-1.0.0.dist-info/RECORD":   "tiny_sum.py,,\ntiny_sum-1.0.0.dist-info/METADATA,,\ntiny_sum-1.0.0.dist-info/WHEEL,,\ntiny_sum-1.0.0.dist-info/RECORD,,\n",
}

// Crate is the name of the one crate of Rust, CrateFiles what is in it.
const Crate = "tiny-sum"

// CrateFiles are the files of Crate.
var CrateFiles = map[string]string{
	"Cargo.toml": "[package]\nname = \"tiny-sum\"\nversion = \"" + Version + "\"\nedition = \"2021\"\n",
	"src/lib.rs": "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n",
}

// CrateSum is the checksum of Crate, for a Cargo.lock.
func CrateSum() string {
	return fmt.Sprintf("%x", sha256.Sum256(tarred(Crate+"-"+Version+"/", CrateFiles)))
}

// Registry is one that runs.
type Registry struct {
	server *httptest.Server
	asked  atomic.Int64
	evil   string
}

// Start starts a registry whose evil package runs a shell script when it is installed.
func Start(evil string) *Registry {
	r := &Registry{evil: evil}
	r.server = httptest.NewServer(r)
	return r
}

// Close ends it.
func (r *Registry) Close() { r.server.Close() }

// Host is its name and port.
func (r *Registry) Host() string {
	_, port, _ := net.SplitHostPort(r.server.Listener.Addr().String())
	return "registry.localhost:" + port
}

// Asked is how many requests it had.
func (r *Registry) Asked() int { return int(r.asked.Load()) }

// ServeHTTP answers clients of all kinds.
func (r *Registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.asked.Add(1)
	if rest, ok := strings.CutPrefix(q.URL.Path, "/npm/"); ok {
		r.npm(w, rest)
		return
	}
	if rest, ok := strings.CutPrefix(q.URL.Path, "/go/"+Module+"/@v/"); ok {
		r.module(w, rest)
		return
	}
	switch q.URL.Path {
	case "/pypi/simple/tiny-sum/":
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!DOCTYPE html><a href=\"/pypi/files/%s#sha256=%x\">%s</a>\n", Wheel, sha256.Sum256(zipped("", WheelFiles)), Wheel)
	case "/pypi/files/" + Wheel:
		_, _ = w.Write(zipped("", WheelFiles))
	case "/cargo/config.json":
		fmt.Fprintf(w, `{"dl": "http://%s/cargo/crates"}`, r.Host())
	case "/cargo/ti/ny/" + Crate:
		fmt.Fprintf(w, `{"name": "%s", "vers": "%s", "deps": [], "cksum": "%s", "features": {}, "yanked": false}`+"\n", Crate, Version, CrateSum())
	case "/cargo/crates/" + Crate + "/" + Version + "/download":
		_, _ = w.Write(tarred(Crate+"-"+Version+"/", CrateFiles))
	default:
		http.Error(w, "not found", http.StatusNotFound)
	}
}

// zipped packs files below a prefix.
func zipped(prefix string, files map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if f, err := z.Create(prefix + file); err == nil {
			_, _ = io.WriteString(f, files[file])
		}
	}
	_ = z.Close()
	return out.Bytes()
}

func (r *Registry) npm(w http.ResponseWriter, path string) {
	name, tarball, _ := strings.Cut(path, "/-/")
	files := NPM[name]
	if files == nil {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	if tarball != "" {
		_, _ = w.Write(r.tarball(files))
		return
	}
	var manifest map[string]any
	_ = json.Unmarshal([]byte(files["package.json"]), &manifest)
	manifest["dist"] = map[string]any{"tarball": "http://" + r.Host() + "/npm/" + name + "/-/" + name + "-" + Version + ".tgz"}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]string{"latest": Version}, "versions": map[string]any{Version: manifest}})
}

func (r *Registry) tarball(files map[string]string) []byte {
	mean := maps.Clone(files)
	for name, text := range mean {
		mean[name] = strings.ReplaceAll(text, "EVIL", r.evil)
	}
	return tarred("package/", mean)
}

// tarred packs files below a prefix.
func tarred(prefix string, files map[string]string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_ = packed.WriteHeader(&tar.Header{Name: prefix + name, Mode: 0o755, Size: int64(len(files[name]))})
		_, _ = io.WriteString(packed, files[name])
	}
	_, _ = packed.Close(), zipped.Close()
	return out.Bytes()
}

func (r *Registry) module(w http.ResponseWriter, name string) {
	switch name {
	case "list":
		fmt.Fprintln(w, "v"+Version)
	case "v" + Version + ".info":
		fmt.Fprintf(w, `{"Version": "v%s", "Time": "2026-01-02T03:04:05Z"}`, Version)
	case "v" + Version + ".mod":
		_, _ = io.WriteString(w, GoFiles["go.mod"])
	case "v" + Version + ".zip":
		_, _ = w.Write(zipped(Module+"@v"+Version+"/", GoFiles))
	default:
		http.Error(w, "not found", http.StatusNotFound)
	}
}
