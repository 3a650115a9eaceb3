package symbols

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// cacheFormat begins the file of a cache. It names the parser, whose next version may read a file in another way, and a number to
// raise when this package does.
const cacheFormat = "prloop symbols 3, gotreesitter v0.51.0\n"

// cacheLimit bounds the file of a cache, in bytes. What was not used by the last look goes first.
const cacheLimit = 16 << 20

// key is the hash of a file's language and content.
type key [sha256.Size]byte

// Cache keeps what was read of files, by their content, in a file of its own. Nothing of it is needed: what is lost or damaged is
// read again. It may be used by several goroutines, and the file by several processes, the last of which wins. A nil Cache keeps nothing.
type Cache struct {
	path string

	mu    sync.Mutex
	old   map[key][]byte // as they were stored
	used  map[key][]byte // those asked for or added since
	added bool
}

// stored is a File as it is kept: uses by name.
type stored struct {
	Definitions []Definition     `json:"d"`
	Uses        map[string][]int `json:"u"`
}

// OpenCache reads the cache in a file. One that is not there or not readable is empty.
func OpenCache(path string) *Cache {
	c := &Cache{path: path, old: map[key][]byte{}, used: map[key][]byte{}}
	f, err := os.Open(path)
	if err != nil {
		return c
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cacheLimit+1<<20))
	rest, ok := bytes.CutPrefix(data, []byte(cacheFormat))
	if err != nil || !ok {
		return c
	}
	const head = sha256.Size + 8
	for len(rest) >= head {
		size := int(binary.BigEndian.Uint32(rest[sha256.Size:]))
		if size < 0 || size > len(rest)-head {
			break
		}
		text := rest[head : head+size]
		if crc32.ChecksumIEEE(text) == binary.BigEndian.Uint32(rest[sha256.Size+4:]) {
			c.old[key(rest)] = text
		}
		rest = rest[head+size:]
	}
	return c
}

// get gives what is kept of a file.
func (c *Cache) get(k key) (File, bool) {
	if c == nil {
		return File{}, false
	}
	c.mu.Lock()
	text, ok := c.used[k]
	if !ok {
		text, ok = c.old[k]
	}
	c.mu.Unlock()
	var s stored
	if !ok || json.Unmarshal(text, &s) != nil {
		return File{}, false
	}
	c.mu.Lock()
	c.used[k] = text
	c.mu.Unlock()
	f := File{Definitions: s.Definitions}
	for _, name := range slices.Sorted(maps.Keys(s.Uses)) {
		for _, line := range s.Uses[name] {
			f.Uses = append(f.Uses, Use{Name: name, Line: line})
		}
	}
	slices.SortStableFunc(f.Uses, func(a, b Use) int { return a.Line - b.Line })
	return f, true
}

func (c *Cache) put(k key, f File) {
	if c == nil {
		return
	}
	s := stored{Definitions: f.Definitions, Uses: map[string][]int{}}
	for _, u := range f.Uses {
		s.Uses[u.Name] = append(s.Uses[u.Name], u.Line)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[k], c.added = text, true
}

// Save writes the cache when something was added. The file is replaced whole.
func (c *Cache) Save() error {
	if c == nil || !c.added {
		return nil
	}
	var b bytes.Buffer
	b.WriteString(cacheFormat)
	write := func(entries map[key][]byte) {
		for _, k := range slices.SortedFunc(maps.Keys(entries), func(x, y key) int { return bytes.Compare(x[:], y[:]) }) {
			text := entries[k]
			if b.Len()+sha256.Size+8+len(text) > cacheLimit {
				continue
			}
			b.Write(k[:])
			b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
			b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(text)))
			b.Write(text)
		}
	}
	write(c.used)
	maps.DeleteFunc(c.old, func(k key, _ []byte) bool { _, again := c.used[k]; return again })
	write(c.old)
	f, err := os.CreateTemp(filepath.Dir(c.path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
