package failpoint

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// A Point is one named place. Make it with New.
type Point struct{ name string }

var (
	armed atomic.Pointer[func(string) error]

	mu    sync.Mutex
	names []string
)

// New registers a point, to be kept in a package-level variable. A name belongs to one place only: a second one of the
// same name panics when the program starts.
func New(name string) *Point {
	mu.Lock()
	defer mu.Unlock()
	at, found := slices.BinarySearch(names, name)
	if found || name == "" {
		panic("failpoint " + strconv.Quote(name) + " exists already, or has no name")
	}
	names = slices.Insert(names, at, name)
	return &Point{name}
}

// Hit does what was armed, which may not return; its error is to be returned as if the step had failed here.
func (p *Point) Hit() error {
	f := armed.Load()
	if f == nil {
		return nil
	}
	return (*f)(p.name)
}

// Names lists all points of the program, sorted.
func Names() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(names)
}

// Arm has every point call f with its name from now on; nil disarms. f is called from many goroutines.
func Arm(f func(name string) error) {
	if f == nil {
		armed.Store(nil)
		return
	}
	armed.Store(&f)
}
