package tools

import (
	"context"
	"os"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// git asks git in prloop's own repository; nothing of the machine's or a user's configuration takes part (threats.md "Git environment").
func (b *Box) git(ctx context.Context, args ...string) ([]byte, error) {
	program, err := proc.LookPath("git")
	if err != nil {
		return nil, fail(Unavailable, "there is no git here")
	}
	res, err := proc.Run(ctx, proc.Spec{
		Path: program, Args: append([]string{"--no-pager", "-c", "core.bigFileThreshold=1m", "-c", "diff.renames=false"}, args...),
		Timeout: 20 * time.Second, MaxStdout: 4 << 20, Direct: true, Dir: b.o.GitDir,
		Env: proc.BaseEnv("GIT_DIR="+b.o.GitDir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
			"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "LC_ALL=C"),
	})
	return res.Stdout, err
}
