// Package pipes notices when nobody reads the output any more.
package pipes

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// ErrReaderGone: what reads standard output or standard error has ended, as in `prloop run 123 | head`.
var ErrReaderGone = errors.New("nobody reads the output any more")

// Watch has gone called when what reads one of the streams has ended. Without it the signal of a broken pipe would end the
// process there and then; a run is to be stopped as by Ctrl-C. Only pipes are watched: no other file breaks.
func Watch(stdout, stderr io.Writer, gone func()) (io.Writer, io.Writer) {
	// Nobody listens: being told is what keeps the signal from ending the process. Children do not inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return watch(stdout, gone), watch(stderr, gone)
}

func watch(w io.Writer, gone func()) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	if info, err := f.Stat(); err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return w
	}
	return pipe{f, gone}
}

// pipe is a stream whose reader may end.
type pipe struct {
	file *os.File
	gone func()
}

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.gone()
	}
	return n, err
}
