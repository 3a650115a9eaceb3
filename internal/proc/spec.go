package proc

import (
	"io"
	"time"
)

// Defaults of Spec.
const (
	DefaultGrace     = 5 * time.Second
	DefaultMaxStream = 8 << 20
	DefaultMaxLine   = 1 << 20
	DefaultKeepTail  = 16 << 10
)

// Spec says what to run and what it may cost. The zero value of each limit is its default.
type Spec struct {
	// Path is the program: a path, or a bare name that is looked up in prloop's own PATH.
	Path string
	// Args are the arguments without the program's name.
	Args []string
	// Dir is the working folder; empty means prloop's own.
	Dir string
	// Env is the whole environment, written out. It is never inherited: nil is an empty environment.
	Env []string

	// Stdin is what the child reads, then end of file. StdinFrom takes its place for streams; it is read by a goroutine
	// that ends at the latest when its Read returns, so a reader that can block for ever leaks that goroutine.
	Stdin     []byte
	StdinFrom io.Reader

	// Timeout is the wall time; 0 means only the context bounds it.
	Timeout time.Duration
	// Idle is the longest time without a byte on either stream; 0 means no watchdog.
	Idle time.Duration
	// Quiet is how long ago something else was heard of the child, such as a byte of the model it waits for; nil when its streams are
	// all that is heard of it. It must be safe for concurrent use.
	Quiet func() time.Duration
	// FirstByte is the longest time until the first byte on either stream; 0 means no watchdog.
	FirstByte time.Duration
	// Linger is how long the child may run on after it closed its standard output; 0 means no watchdog.
	Linger time.Duration
	// Grace is the time between TERM and KILL; 0 means 5 seconds.
	Grace time.Duration

	// MaxStdout and MaxStderr bound each stream in bytes; 0 means 8 MB. One byte more and the child is killed.
	MaxStdout, MaxStderr int64
	// KeepTail is how many bytes of the end of standard error are kept; 0 means 16 KB.
	KeepTail int

	// OnLine is given each line of standard output without its line end, one at a time, as it arrives; the slice is only
	// good during the call. A last line without a line end is given too. Result.Stdout is then empty.
	OnLine func([]byte)
	// MaxLine bounds one line in bytes when OnLine is set; 0 means 1 MB.
	MaxLine int
	// Stdout is given standard output as it arrives, for output too large to hold; Result.Stdout is then empty. An
	// error it returns ends the child. MaxStdout still holds.
	Stdout io.Writer

	// Bounds are what the child may take of the machine.
	Bounds Bounds

	// Direct starts the child without a leash. It is for prloop's own tools (git, gh), which are many, short and do not
	// hide: their process dies with prloop, but what they start may live a moment longer.
	Direct bool
}

// Result is what a child left behind. It is filled as far as possible when Run returns an error, too.
type Result struct {
	// ExitCode is the exit status; -1 when the child was ended by a signal or never started.
	ExitCode int
	// Signal names the signal that ended the child, such as "killed"; empty when it exited.
	Signal string
	// Reason says why prloop ended it; empty when it ended by itself.
	Reason Reason
	// Took is the time from start until nothing of it was left.
	Took time.Duration
	// Stdout is standard output, as far as MaxStdout allowed; empty when it went to OnLine or Spec.Stdout.
	Stdout []byte
	// StderrTail is the end of standard error, raw: whoever shows or stores it sanitizes it first.
	StderrTail []byte
	// StdoutBytes and StderrBytes count what was read from each stream.
	StdoutBytes, StderrBytes int64
	// StdinUnread counts bytes of Stdin the child's pipe never took. Bytes in the pipe's buffer count as read.
	StdinUnread int64
	// Survivors counts descendants that were still there after the child had ended by itself, and were killed.
	Survivors int
	// Unclean is true when after all killing something was left. The run must then be reported as unclean (threats.md "Sandbox tiers").
	Unclean bool
}

// Reason says why prloop ended a child.
type Reason string

// The reasons.
const (
	ReasonNone        Reason = ""
	ReasonTimeout     Reason = "timeout"         // Spec.Timeout
	ReasonIdle        Reason = "idle"            // Spec.Idle
	ReasonFirstByte   Reason = "first-byte"      // Spec.FirstByte
	ReasonLinger      Reason = "linger"          // Spec.Linger
	ReasonOutputLimit Reason = "output-limit"    // Spec.MaxStdout or MaxStderr
	ReasonLineLimit   Reason = "line-limit"      // Spec.MaxLine
	ReasonCanceled    Reason = "canceled"        // the context; its cause is in the error
	ReasonReceiver    Reason = "receiver-failed" // Spec.Stdout returned an error or OnLine panicked
	ReasonLeashLost   Reason = "leash-lost"      // the child killed its supervisor
	// What belongs to Bounds stands there.
)

func (s Spec) withDefaults() Spec {
	if s.Grace <= 0 {
		s.Grace = DefaultGrace
	}
	if s.MaxStdout <= 0 {
		s.MaxStdout = DefaultMaxStream
	}
	if s.MaxStderr <= 0 {
		s.MaxStderr = DefaultMaxStream
	}
	if s.MaxLine <= 0 {
		s.MaxLine = DefaultMaxLine
	}
	if s.KeepTail <= 0 {
		s.KeepTail = DefaultKeepTail
	}
	if s.Env == nil {
		s.Env = []string{} // os/exec reads nil as "inherit"
	}
	return s
}
