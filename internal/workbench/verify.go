package workbench

import (
	"time"

	"github.com/prloop/prloop/internal/sandbox"
)

// Defaults of VerifyOptions.
const (
	// DefaultTimeout bounds one command.
	DefaultTimeout = 10 * time.Minute
	// DefaultWall bounds all commands of one call together.
	DefaultWall = 30 * time.Minute
	// LogBytes is how much of the end of a command's output is kept.
	LogBytes = 16 << 10
)

// VerifyOptions say how verify commands are run.
type VerifyOptions struct {
	// Timeout bounds each command; 0 means DefaultTimeout.
	Timeout time.Duration
	// Wall bounds the commands of one call together; 0 means DefaultWall.
	Wall time.Duration
	// Path is the PATH commands are looked up in; empty means prloop's own.
	Path string
	// Read are folders the operator lends: caches, toolchains. They are read-only, and code of the pull request reads
	// them, so nothing private may stand in them.
	Read []string
	// Env are further variables ("NAME=value") of the operator, which outrank those set here; they say where what is lent
	// is found, such as GOPROXY=file:///var/cache/go/cache/download. No secret belongs here.
	Env []string
	// Limits bound what a command may use up; zero fields are the defaults of a verify job.
	Limits sandbox.Limits
}

// VerifyOrder asks for commands to be run on a commit.
type VerifyOrder struct {
	// Commit is a full object id.
	Commit string
	// Commands are run in this order, each whatever became of the one before.
	Commands []Command
}

// Command is one verify command.
type Command struct {
	// Line is a line of POSIX shell.
	Line string
	// From says what it was detected from, such as "Makefile: target lint"; empty for one that the repository or the
	// operator configured.
	From string
}

// Configured makes commands of what a configuration lists.
func Configured(lines []string) []Command {
	commands := make([]Command, len(lines))
	for i, line := range lines {
		commands[i] = Command{Line: line}
	}
	return commands
}
