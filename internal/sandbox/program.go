package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// programPaths lists what a program needs beyond the system's folders, as far as it can be told from outside: the file
// itself, the interpreters its first line names, and for an npm package all of the node_modules it lies in. Its folder is
// not among them: beside an agent's script may lie anything.
func programPaths(cmd Command) []string {
	var paths []string
	for path, depth := cmd.Path, 0; path != "" && depth < 4; depth++ {
		paths = append(paths, path)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			break // said when the path is added
		}
		if root := packageRoot(real); root != "" {
			paths = append(paths, root)
		}
		path = interpreter(real, cmd.Env)
	}
	return paths
}

// packageRoot is the outermost node_modules folder a file lies in.
func packageRoot(path string) string {
	const name = "/node_modules/"
	if i := strings.Index(path, name); i >= 0 {
		return path[:i+len(name)-1]
	}
	return ""
}

// interpreter reads the first line of a script. "env NAME" is looked up in the child's own PATH.
func interpreter(path string, env []string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "#!") {
		return ""
	}
	words := strings.Fields(line[2:])
	if len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return lookPath(w, env)
		}
	}
	return ""
}

func lookPath(name string, env []string) string {
	for _, e := range env {
		list, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}
