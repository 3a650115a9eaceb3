package modes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/review"
)

// What a hog takes at most, for a machine that does not stop it: bytes on a disk, files, and megabytes of memory.
const (
	hogBytes  = 1 << 30
	hogFiles  = 200_000
	hogMemory = 3 << 10
)

func hogModes() []Mode {
	// hog takes without end and never answers: once it is refused more, or has all it dares to take, it hangs.
	hog := func(name, about string, take func(a *agent, dir string) error) Mode {
		return Mode{name, "resource", about, func(a *agent) int {
			dir := os.Getenv("HOME")
			if a.task.Role == review.RoleFixer && a.tree != "" {
				dir = a.tree
			}
			if err := take(a, dir); err != nil {
				fmt.Fprintln(a.err, "fakeagent:", err)
			}
			return hang()
		}}
	}
	return []Mode{
		hog("hog-file", "writes one file in its home, as a fixer in -tree, without end", func(_ *agent, dir string) error {
			return pourFile(filepath.Join(dir, "hog"), hogBytes)
		}),
		hog("hog-files", "writes files of 1 MB without end", func(_ *agent, dir string) error {
			for i := range hogBytes >> 20 {
				if err := pourFile(filepath.Join(dir, fmt.Sprint("hog-", i)), 1<<20); err != nil {
					return err
				}
			}
			return nil
		}),
		hog("hog-sparse", "writes one block in each megabyte of large files without end", func(_ *agent, dir string) error {
			for i := 0; ; i++ {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint("hog-", i)))
				if err != nil {
					return err
				}
				for at := range int64(1 << 9) {
					if _, err := f.WriteAt([]byte{1}, at<<20); err != nil {
						return err
					}
				}
				f.Close()
				if i == hogBytes>>21 {
					return nil
				}
			}
		}),
		hog("hog-removed", "fills a file without end that it has removed and keeps open", func(_ *agent, dir string) error {
			f, err := os.Create(filepath.Join(dir, "hog"))
			if err != nil {
				return err
			}
			if err := os.Remove(f.Name()); err != nil {
				return err
			}
			return pourInto(f, hogBytes)
		}),
		hog("hog-temp", "writes to all temporary folders without end", func(_ *agent, dir string) error {
			for _, dir := range []string{dir, "/tmp", "/var/tmp", "/dev/shm"} {
				_ = pourFile(filepath.Join(dir, "hog"), 40<<20)
			}
			return nil
		}),
		hog("hog-inodes", "makes empty files without end", func(_ *agent, dir string) error {
			for i := range hogFiles {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint("hog-", i)))
				if err != nil {
					return err
				}
				f.Close()
			}
			return nil
		}),
		hog("hog-links", "gives one file names without end", func(_ *agent, dir string) error {
			return named(dir, func(to string, i int) error {
				if i%10_000 == 0 { // disks have a limit for one file
					return os.WriteFile(filepath.Join(dir, fmt.Sprint("hog-of-", i/10_000)), nil, 0o600)
				}
				return os.Link(filepath.Join(dir, fmt.Sprint("hog-of-", i/10_000)), to)
			})
		}),
		hog("hog-symlinks", "makes symbolic links without end", func(_ *agent, dir string) error {
			return named(dir, func(to string, _ int) error { return os.Symlink("/", to) })
		}),
		hog("hog-deep", "makes folders in one another without end", func(_ *agent, dir string) error {
			if err := os.Chdir(dir); err != nil {
				return err
			}
			for range hogFiles {
				if err := os.Mkdir("hog", 0o700); err != nil {
					return err
				}
				if err := os.Chdir("hog"); err != nil {
					return err
				}
			}
			return nil
		}),
		hog("hog-attributes", "gives files large attributes without end", func(_ *agent, dir string) error {
			value := bytes.Repeat([]byte{1}, 3<<10) // what a disk takes in one block
			return named(dir, func(to string, _ int) error {
				if err := os.WriteFile(to, nil, 0o600); err != nil {
					return err
				}
				_ = setAttribute(to, value) // not every file system takes it
				return nil
			})
		}),
		hog("hog-memory", "takes memory without end", func(*agent, string) error { return holdMemory(hogMemory) }),
		hog("hog-memories", "takes memory in processes without end, 128 MB in each", func(a *agent, _ string) error {
			for range hogMemory / 128 {
				a.spawn("hog-memory-part", false)
			}
			return nil
		}),
		hog("hog-memory-part", "part of hog-memories: takes 128 MB of memory and hangs", func(*agent, string) error { return holdMemory(128) }),
		hog("hog-shared", "takes memory that it shares with nobody, in files without a name", func(*agent, string) error { return holdShared(hogMemory) }),
	}
}

// named makes things at so many new names.
func named(dir string, make func(to string, i int) error) error {
	for i := range hogFiles {
		if err := make(filepath.Join(dir, fmt.Sprint("hog-", i)), i); err != nil {
			return err
		}
	}
	return nil
}

func pourFile(path string, limit int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return pourInto(f, limit)
}

// pourInto writes so many bytes, 1 MB at a time.
func pourInto(f *os.File, limit int) error {
	chunk := bytes.Repeat([]byte{1}, 1<<20)
	for range limit >> 20 {
		if _, err := f.Write(chunk); err != nil {
			return err
		}
	}
	return nil
}

var held [][]byte

// holdMemory takes so many megabytes and uses them.
func holdMemory(megabytes int) error {
	for range megabytes {
		held = append(held, bytes.Repeat([]byte{1}, 1<<20))
	}
	return nil
}
