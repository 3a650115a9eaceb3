package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/proc"
)

// bigFile is git's core.bigFileThreshold: larger blobs are streamed and never compared as text (threats.md T27).
const bigFile = 1 << 20

// setting is one configuration entry of a single command.
type setting struct{ key, value string }

// hardened holds for every command (threats.md "Git environment"). Settings of a command outrank those of any file, so a poisoned
// repository's own values lose.
var hardened = []setting{
	{"safe.bareRepository", "explicit"},
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.symlinks", "false"},
	{"core.attributesFile", os.DevNull},
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"core.bigFileThreshold", strconv.Itoa(bigFile)},
	{"core.pager", ""},
	{"core.sshCommand", ""},
	{"core.askPass", ""},
	{"core.gitProxy", ""},
	{"credential.helper", ""},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.fsckObjects", "true"},
	{"fetch.fsck.gitattributesLarge", "warn"}, // fsck does not look into large blobs; prloop has git read none of those
	{"transfer.fsckObjects", "true"},
	{"filter.lfs.smudge", ""},
	{"filter.lfs.clean", ""},
	{"filter.lfs.process", ""},
	{"filter.lfs.required", "false"},
	{"gc.auto", "0"},
	{"gc.cruftPacks", "true"}, // what is young stays in one pack
	{"maintenance.auto", "false"},
	{"diff.external", ""},
	{"protocol.ext.allow", "never"},
}

// oldFaults are oddities of commits and modes that stand in many old histories and harm nobody; everything else that fsck
// knows stays an error.
var oldFaults = []string{"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail",
	"missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "multipleAuthors", "zeroPaddedDate",
	"zeroPaddedFilemode"}

// place is where a command works: git's folders, always explicit, so that git never goes looking for a repository.
type place struct {
	dir   string // GIT_DIR
	index string // GIT_INDEX_FILE, empty for none
	work  string // GIT_WORK_TREE, empty for none
}

// env is the complete environment of one command: proc's allowlist, which holds no GIT_ variable, and ours.
func (g *Git) env(at place, more []setting, extra []string) []string {
	env := []string{
		"LC_ALL=C",
		"LANGUAGE=",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=" + os.DevNull,
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ADVICE=0",
		"GIT_ALLOW_PROTOCOL=" + strings.Join(g.protocols, ":"),
		"GIT_EDITOR=false",
		"GIT_PAGER=cat",
		"GIT_DIR=" + at.dir,
	}
	if at.index != "" {
		env = append(env, "GIT_INDEX_FILE="+at.index)
	}
	if at.work != "" {
		env = append(env, "GIT_WORK_TREE="+at.work)
	}
	settings := append(append([]setting(nil), hardened...), more...)
	for _, f := range oldFaults {
		settings = append(settings, setting{"fetch.fsck." + f, "warn"})
	}
	env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.value))
	}
	return proc.BaseEnv(append(env, extra...)...)
}

// nowhere is a place without a repository, for commands that need none.
func (g *Git) nowhere() place { return place{dir: filepath.Join(os.TempDir(), "prloop-no-repository")} }
