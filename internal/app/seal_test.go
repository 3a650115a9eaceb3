package app

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// What a run was asked is gone on with only if a machine with one of the operator's keys wrote it, and nobody has changed a byte of it.
func TestSeal(t *testing.T) {
	t.Parallel()
	key := func(c string) []byte {
		k, err := hex.DecodeString(strings.Repeat(c, 32))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	of := func(database string, key []byte) *Service {
		return &Service{opts: Options{Database: database, Machine: Machine{MarkerKey: key}}}
	}
	const shared = "postgres://db/prloop"
	settings, err := config.Resolve(config.Input{Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	st := Machine{Readable: []string{"/a"}}.store(orchestrator.Request{
		Run: "one", Started: time.Now(), Agents: []orchestrator.AgentPlan{{Name: "own", Kind: review.KindCommand, Path: "/usr/bin/reviewer", Args: []string{"--json"}}}, Limits: settings.Limits,
		Fix: &orchestrator.FixPlan{Verify: []string{"make test"}},
	}, settings, gateway.Cassette{}, folders.Folder{Name: "rules"})
	// kept is how the database has it, after a change.
	kept := func(s *Service, change func(string) string) stored {
		t.Helper()
		sealed := st
		if err := s.seal(&sealed); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		var back stored
		if err := json.Unmarshal([]byte(change(string(text))), &back); err != nil {
			t.Fatal(err)
		}
		return back
	}
	same := func(s string) string { return s }
	put := func(old, by string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %s in %s", old, s)
			}
			return strings.Replace(s, old, by, 1)
		}
	}
	a, b := key("aa"), key("bb")
	for _, row := range []struct {
		name       string
		wrote, now *Service
		change     func(string) string
		ok         bool
	}{
		{"as it was", of(shared, a), of(shared, a), same, true},
		{"the key was replaced, and the old one is still there", of(shared, a), of(shared, append(b[:32:32], a...)), same, true},
		{"another key", of(shared, a), of(shared, b), same, false},
		{"no key when it was written", of(shared, nil), of(shared, a), same, false},
		{"no key at all", of(shared, nil), of(shared, nil), put("/usr/bin/reviewer", "/bin/sh"), true},
		{"one machine alone", of("", a), of("", a), same, true},
		{"another program", of(shared, a), of(shared, a), put("/usr/bin/reviewer", "/bin/sh"), false},
		{"another argument", of(shared, a), of(shared, a), put("--json", "-c"), false},
		{"another verify command", of(shared, a), of(shared, a), put("make test", "id"), false},
		{"another file to read", of(shared, a), of(shared, a), put(`"/a"`, `"/"`), false},
		{"the seal of nothing", of(shared, a), of(shared, a), func(s string) string { return put(`"seal":"`, `"seal":"","x":"`)(s) }, false},
		{"another run's", of(shared, a), of(shared, a), put(`"one"`, `"two"`), false},
	} {
		err := row.now.sealed(kept(row.wrote, row.change))
		var changed *ChangedError
		if row.ok != (err == nil) || !row.ok && (!errors.As(err, &changed) || changed.Part != Seal) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
