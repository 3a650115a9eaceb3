package agentrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The way to the registries opens below scratch folders of every length.
func TestWayOutFits(t *testing.T) {
	root, err := os.MkdirTemp("/tmp", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	for length := socketFolderLimit - 3; length < socketFolderLimit+8; length++ {
		dir := filepath.Join(root, strings.Repeat("x", length-len(root)-1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b := &FixExecutor{Launcher: &Launcher{Scratch: dir}}
		for range 20 { // names differ in length
			way, err := b.wayOut(t.Context())
			if err != nil {
				t.Fatalf("%d bytes: %v", length, err)
			}
			if err := way.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
