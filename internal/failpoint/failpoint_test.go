package failpoint

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	second = New("test: second")
	first  = New("test: first")
)

func TestHit(t *testing.T) {
	if err := first.Hit(); err != nil {
		t.Errorf("nothing is armed: %v", err)
	}
	broken := errors.New("broken")
	Arm(func(name string) error {
		if name == first.name {
			return broken
		}
		return nil
	})
	if err := first.Hit(); !errors.Is(err, broken) {
		t.Errorf("armed: %v", err)
	}
	if err := second.Hit(); err != nil {
		t.Errorf("another point: %v", err)
	}
	Arm(nil)
	if err := first.Hit(); err != nil {
		t.Errorf("disarmed: %v", err)
	}
}

func TestNames(t *testing.T) {
	got := Names()
	if !slices.IsSorted(got) || !slices.Contains(got, "test: first") || !slices.Contains(got, "test: second") {
		t.Errorf("%q", got)
	}
	got[0] = "changed"
	if slices.Contains(Names(), "changed") {
		t.Error("the caller holds the registry")
	}
}

func TestANameBelongsToOnePlace(t *testing.T) {
	for _, name := range []string{"test: first", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken a second time", name)
				}
			}()
			New(name)
		}()
	}
}

// Points are hit by many goroutines while a test arms and disarms.
func TestManyAtOnce(t *testing.T) {
	var hits atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if err := first.Hit(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	Arm(func(string) error { hits.Add(1); return nil })
	wg.Wait()
	Arm(nil)
	before := hits.Load()
	if first.Hit(); hits.Load() != before {
		t.Error("a disarmed point called")
	}
}

func BenchmarkHitUnarmed(b *testing.B) {
	for b.Loop() {
		_ = first.Hit()
	}
}

var made = regexp.MustCompile(`failpoint\.New\("([^"]+)"\)`)

// The list in the package comment is the one a person goes by: it names every point of the module, and no other.
func TestTheListIsWhole(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^//\tK\d\d  (.*)$`).FindAllStringSubmatch(string(doc), -1) {
		for _, name := range regexp.MustCompile(`[a-z]+: [a-z]+(?: [a-z]+)*`).FindAllString(row[1], -1) {
			listed[name] = false
		}
	}
	root := os.DirFS("../..")
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/failpoint/") {
			return err
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for _, m := range made.FindAllStringSubmatch(string(source), -1) {
			if _, known := listed[m[1]]; !known {
				t.Errorf("%s makes the point %q, which doc.go does not list", path, m[1])
			}
			listed[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, used := range listed {
		if !used {
			t.Errorf("doc.go lists %q, which nobody makes", name)
		}
	}
}
