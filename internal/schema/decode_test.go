package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

func TestTaskRoundTrip(t *testing.T) {
	task := review.Task{Version: review.TaskVersion, Role: review.RoleReviewer, Agent: "r", PRNumber: 7, Round: 1, Limits: review.DefaultLimits(),
		Brief:   review.Brief{Files: []review.BriefFile{{Path: "a.go", Change: "added", Diff: "+x", Hunks: 1, HunksGiven: 1}}, Status: "ok"},
		Options: review.Options{Lens: "security"}, Settings: map[string]string{"depth": "3"}}
	text, err := Encode(task)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") {
		t.Errorf("Encode writes null: %s", text)
	}
	plainText, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	want := task
	want.Brief.Guidance, want.Brief.Warnings = []review.GuidanceFile{}, []string{}
	for _, doc := range [][]byte{text, plainText} {
		got, notes, err := DecodeTask(doc)
		if err != nil || len(notes) != 0 {
			t.Fatal(notes, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	if _, _, err := DecodeTask([]byte(strings.Replace(string(text), `"version":1`, `"version":2`, 1))); err == nil {
		t.Error("a task of a newer version was accepted")
	}
}

func TestEncodeFillsListsAnywhere(t *testing.T) {
	type wrapped struct {
		Result any             `json:"result"`
		Raw    json.RawMessage `json:"raw,omitempty"`
		Note   *string         `json:"note"`
	}
	in := wrapped{Result: &review.FixPayload{PRNumber: 1, Round: 1}}
	got, err := Encode(in)
	want := `{"result":{"prNumber":1,"round":1,"issuesToFix":[],"optionalIssues":[]},"note":null}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
	if in.Result.(*review.FixPayload).IssuesToFix != nil {
		t.Error("the value itself was changed")
	}
	if got, err := Encode(nil); err != nil || string(got) != "null" {
		t.Errorf("%s %v", got, err)
	}
}

func TestEventOfAChildSpeaksForNobodyElse(t *testing.T) {
	e, _, err := DecodeEvent([]byte(`{"event":"usage","agent":"other","time":"2026-01-01T00:00:00Z","usage":{"inputTokens":5}}`))
	if err != nil || e.Agent != "" || !e.Time.IsZero() || *e.Usage.InputTokens != 5 {
		t.Errorf("%+v %v", e, err)
	}
	if _, _, err := DecodeEvent([]byte(`{"event":"usage","usage":{"inputTokens":-5}}`)); err == nil {
		t.Error("negative usage was accepted: it would give budget back")
	}
	if _, _, err := DecodeEvent([]byte(`{"event":"usage","usage":{"costUsd":-5}}`)); err == nil {
		t.Error("negative cost was accepted: it would give budget back")
	}
}

func TestEnumsAreTheConstantsOfPackageReview(t *testing.T) {
	states := []string{string(review.AgentWaiting), string(review.AgentRunning), string(review.AgentComplete), string(review.AgentDegraded), string(review.AgentFailed)}
	if got := rules["Event.state"].enum; !slices.Equal(got, states) {
		t.Errorf("states %v, want %v", got, states)
	}
	roles := []string{string(review.RoleReviewer), string(review.RoleCommentsAnalyzer), string(review.RoleFixer), string(review.RoleVerifier), string(review.RoleCommand), string(review.RoleScout), string(review.RoleFinder)}
	if got := rules["Task.role"].enum; !slices.Equal(got, roles) {
		t.Errorf("roles %v, want %v", got, roles)
	}
}

func TestSchemaNames(t *testing.T) {
	if _, err := Schema("nothing"); err == nil || !strings.Contains(err.Error(), "reviewer-result") {
		t.Errorf("an unknown name must list the known ones: %v", err)
	}
	if _, err := os.Stat(schemaDir + "/" + fmt.Sprint(Names()[0]) + ".schema.json"); err != nil {
		t.Error(err)
	}
}

// Values are counted before anything is decoded: an event has few, a task many (threats.md T474).
func TestCrammedDocumentsAreRefused(t *testing.T) {
	event := func(n int) []byte {
		return []byte(`{"event":"log","message":"x","y":[0` + strings.Repeat(",0", n) + `]}`)
	}
	if _, _, err := DecodeEvent(event(900)); err != nil {
		t.Error(err)
	}
	if _, _, err := DecodeEvent(event(1100)); err == nil || !strings.Contains(err.Error(), "more than 1024 values") {
		t.Error(err)
	}
	crammed := event(400_000)
	if n := testing.AllocsPerRun(3, func() { _, _, _ = DecodeEvent(crammed) }); n > 50 {
		t.Errorf("refusing one took %.0f pieces of memory", n)
	}
}

// Checkouts and state folders are called anything, and a checkout holds whatever its author likes.
func TestSchemasAreTheProgramsOwnInAnyFolder(t *testing.T) {
	for _, folder := range []string{"My Projects", "é", "{x}", "a^b", "a|b", "100%"} {
		t.Run(folder, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), folder)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			for _, name := range Names() {
				if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
					t.Fatal(err)
				}
				compiled.Delete(name)
				s, err := compile(name)
				if err != nil {
					t.Fatal(err)
				}
				if s.Validate("text") == nil {
					t.Errorf("%s takes anything", name)
				}
			}
		})
	}
}
