package config

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
)

// reserved are names of agents that are not reviewers, and of --reviewers items that are not configured names.
var reserved = []string{"comments-analyzer", "pr-fix", "verifier", JudgeName, JudgeName + "-2", ScoutName, FinderName, DiscoveryName, ExtractionName, "exec"}

// crossCheck finds what a schema cannot say: names used twice, ids nobody defined, fields that do not fit together.
func (s *source) crossCheck() {
	if list, ok := s.value["reviewers"].([]any); ok {
		seen := map[string]bool{}
		for i, r := range list {
			s.checkReviewer(index("/reviewers", i), r, seen)
		}
	}
	if c, ok := s.value["comments_analyzer"].(map[string]any); ok {
		s.checkAgent("/comments_analyzer", c)
	}
	if f, ok := s.value["fixer"].(map[string]any); ok {
		s.checkAgent("/fixer", f)
	}
	for _, key := range []string{"verifier", "judge", "scout", "finder"} {
		if v, ok := s.value[key].(map[string]any); ok {
			s.checkAgent("/"+key, v)
		}
	}
	s.checkCommands()
	s.crossCheckModels()
	s.crossCheckCrews()
	s.crossCheckSearch()
}

func (s *source) checkReviewer(pointer string, r any, seen map[string]bool) {
	name := item(r, "name")
	switch {
	case name == "":
	case seen[name]:
		s.faultIn(pointer+"/name", fmt.Sprintf("%q is used twice", name), "")
	case slices.Contains(reserved, name):
		s.faultIn(pointer+"/name", fmt.Sprintf("%q is a name of prloop's own", name), "")
	case (name == review.KindStatic || name == review.KindBuiltin) && item(r, "use") != name:
		s.faultIn(pointer+"/name", fmt.Sprintf("%q may only name an agent with use: %s", name, name), "")
	}
	seen[name] = true
	s.checkAgent(pointer, r)
}

// checkAgent refuses fields that another way to be an agent has, so that nothing written is silently without effect.
func (s *source) checkAgent(pointer string, r any) {
	m, _ := r.(map[string]any)
	use := item(r, "use")
	foreign := map[string][]string{
		review.KindBuiltin: {"path", "args", "preset"},
		review.KindStatic:  {"path", "args", "model", "lens", "preset"},
		review.KindCommand: {"model", "lens", "preset"},
		review.KindACP:     {"lens"},
	}
	for _, name := range foreign[use] {
		if _, ok := m[name]; ok {
			s.faultAt(pointer+"/"+name, "has no meaning with use: "+use, "")
		}
	}
	if use == review.KindACP && item(r, "preset") == "" {
		s.faultIn(pointer+"/use", "acp needs preset, the agent it is", "")
	}
	if use == review.KindCommand && item(r, "path") == "" {
		s.faultIn(pointer+"/use", "command needs path, the program to run", "")
	}
}
