package symbols

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

const (
	// parseTime is the processor time one file may take, and parseByteTime what each byte of it adds: a large file takes 0.3 s by
	// itself. Hostile inputs of 40 kB took 38 s without such a limit. It is no wall time, so that a busy machine reads the same.
	parseTime     = 300 * time.Millisecond
	parseByteTime = 2 * time.Microsecond
	// stuckTime is the processor time after which a parse is given up although the parser did not stop by itself.
	stuckTime = 2 * time.Second
	// parseWall is when a parse is stopped whatever the processor time is, and stuckWall when it is given up. On a busy machine a file that
	// takes parseTime may wait for a hundred times as long, and is to be read all the same: what a reviewer is shown does not hang on what
	// else runs.
	parseWall = 2 * time.Minute
	stuckWall = 150 * time.Second
	// watchEvery is how often a parse is looked after.
	watchEvery = 10 * time.Millisecond
	// depthLimit is the deepest nesting of brackets that is parsed.
	depthLimit = 400
	// parseLimit is the largest file parsed, in bytes.
	parseLimit = 512 << 10
	// walkLimit bounds how deep definitions are looked for.
	walkLimit = 200
)

// Read reads a file's definitions, uses of names and imports. ok is false when its structure is not known: no grammar, too
// large, too slow, too deep, or broken beyond reading.
func Read(language string, text []byte) (File, bool) {
	f, ok, _ := ReadInTime(language, text)
	return f, ok
}

// ReadInTime is Read, and says of a file that is not known whether the limits on time are why.
func ReadInTime(language string, text []byte) (f File, ok, slow bool) {
	if !Known(language) || len(text) > parseLimit || tooDeep(text) || language != golang && endless(language, text) {
		return File{}, false, false
	}
	if stuck.Load() >= stuckLimit {
		return File{}, false, true
	}
	if language == golang {
		f, ok = readGo(text)
		return f, ok, false
	}
	g := byLanguage[language]
	type answer struct {
		File
		ok bool
	}
	// Loading a grammar takes its time once; it counts against no file.
	entry := grammars.DetectLanguageByName(g.name)
	if entry == nil {
		return File{}, false, false
	}
	p := gotreesitter.NewParser(entry.Language()) // not safe for concurrent use, so each call has its own
	var stop uint32
	p.SetCancellationFlag(&stop)
	done, clock := make(chan answer, 1), make(chan func() time.Duration, 1)
	go func() {
		runtime.LockOSThread() // the time of one thread is measured
		defer runtime.UnlockOSThread()
		clock <- threadClock()
		s, ok := parse(g, entry, p, text)
		done <- answer{s, ok}
	}()
	started, spent := time.Now(), <-clock
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case a := <-done:
			return a.File, a.ok, !a.ok && slow
		case <-tick.C:
		}
		took, wall := spent(), time.Since(started)
		if took > parseTime+time.Duration(len(text))*parseByteTime || wall > parseWall {
			atomic.StoreUint32(&stop, 1)
			slow = true
		}
		if took > stuckTime || wall > stuckWall {
			stuck.Add(1)
			go func() {
				<-done
				stuck.Add(-1)
			}()
			return File{}, false, true
		}
	}
}

// stuck counts parses that were given up. The parser's own limit does not hold in its error recovery, whose cost grows
// with the square of the open constructs, and nothing can stop it there; it ends by itself, and until it has, no more
// than stuckLimit others may join it.
var stuck atomic.Int32

const stuckLimit = 2

// tooDeep reports nesting no person writes: the input recovery is slowest on.
func tooDeep(text []byte) bool {
	depth, angles := 0, 0
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
			angles = 0
		case ')', ']', '}':
			depth = max(0, depth-1)
		case '<':
			angles++
		case ';', '>':
			angles = 0
		}
		if depth > depthLimit || angles > depthLimit {
			return true
		}
	}
	return false
}

// endlessLimit is how far the next end of a statement may be, in bytes. Recovery from a statement without end costs the square of its
// length, minutes for 400 kB, and cannot be stopped.
const endlessLimit = 20_000

// endless reports text that goes on for longer than people write without a semicolon, a brace or a comma, or a new line where that ends
// a statement.
func endless(language string, text []byte) bool {
	lines := language == "python" || language == "ruby"
	since := 0
	for i, c := range text {
		if c == ';' || c == '{' || c == '}' || c == ',' || c == '\n' && lines {
			since = i
		}
		if i-since > endlessLimit {
			return true
		}
	}
	return false
}

// parse parses a file. A panic of the parser counts as "not known": its input is hostile.
func parse(g grammar, entry *grammars.LangEntry, p *gotreesitter.Parser, text []byte) (f File, ok bool) {
	defer func() {
		if recover() != nil {
			f, ok = File{}, false
		}
	}()
	lang := p.Language()
	var tree *gotreesitter.Tree
	var err error
	if entry.TokenSourceFactory != nil {
		tree, err = p.ParseWithTokenSourceStrict(text, entry.TokenSourceFactory(text, lang))
	} else {
		tree, err = p.ParseStrict(text)
	}
	if tree != nil {
		defer tree.Release()
	}
	if err != nil || tree == nil || tree.RootNode() == nil {
		return f, false
	}
	w := &walker{notes: notes{text: text}, g: g, lang: lang, named: map[uint32]bool{}}
	w.walk(tree.RootNode(), "", false, 0)
	w.file.Imports = w.imports(tree.RootNode())
	return w.file, true
}
