package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/prloop/prloop/internal/toolset"
	"github.com/prloop/prloop/review"
)

func example(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "examples", name+".yml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// spec.md C1: the examples of the document, and one with every key, are accepted by the published schema as any validator reads
// it, and by prloop.
func TestExamplesFitThePublishedSchema(t *testing.T) {
	published, err := os.ReadFile("../../schemas/reviewerc.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(RepositorySchema, doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile(RepositorySchema)
	files, err := filepath.Glob("testdata/examples/*.yml")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		s, err := parse(name, example(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(s.value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := Validate(Repository, name, s.data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s.value["nobody"] = "knows"
		if schema.Validate(s.value) == nil {
			t.Errorf("%s: an unknown key is accepted", name)
		}
	}
	old := map[string]any{"tools": map[string]any{"allowlist": []any{"filesystem"}}}
	if err := schema.Validate(old); err != nil {
		t.Errorf("the old spelling: %v", err)
	}
	for _, key := range []string{"commands", "review"} {
		if !strings.Contains(string(published), `"examples"`) || doc.(map[string]any)["properties"].(map[string]any)[key] == nil {
			t.Errorf("%s is not described", key)
		}
	}
}

// A fault of a command or schedule is one sentence with its line and what is known, for every kind of mistake.
func TestFaultsOfCommands(t *testing.T) {
	head := "commands:\n- id: security\n  prompt: Look.\n- id: docs-drift\n  prompt: Look.\n"
	for name, c := range map[string]struct{ text, want string }{
		"an id twice":               {head + "- id: security\n  prompt: Again.\n", `6 commands[2].id: "security" is used twice`},
		"a word of prloop's own":    {"commands:\n- id: help\n  prompt: Look.\n", `2 commands[0].id: "help" is a word of prloop's own`},
		"an id that is none":        {"commands:\n- id: a b\n  prompt: Look.\n", `2 commands[0].id: is not ` + forms[commandID]},
		"an unknown id":             {head + "review:\n  run: [securty]\n", `7 review.run[0]: no command has the id "securty" (known: docs-drift, security) -> security`},
		"an unknown id in a job":    {head + "schedule:\n  runs:\n    nightly: [docs]\n", `8 schedule.runs.nightly[0]: no command has the id "docs" (known: docs-drift, security)`},
		"no commands at all":        {"review:\n  run: [security]\n", `2 review.run[0]: no command has the id "security" (known: none)`},
		"a job nobody defined":      {head + "schedule:\n  runs:\n    nightly: [security]\n  jobs:\n    nigthly: {}\n", `10 schedule.jobs.nigthly: schedule.runs has no job "nigthly" (known: nightly) -> nightly`},
		"a job that GitHub has not": {head + "schedule:\n  runs:\n    \"a b\": [security]\n", `8 schedule.runs.a b: is not ` + forms[jobID]},
		"an empty prompt":           {"commands:\n- id: a\n  prompt: \"  \"\n", `3 commands[0].prompt: is empty`},
		"a glob that is none":       {"commands:\n- id: a\n  prompt: b\n  files:\n    include: [\"[a\"]\n", `5 commands[0].files.include[0]: is not a valid glob`},
		"a glob of too many":        {"commands:\n- id: a\n  prompt: b\n  files:\n    include: [\"" + strings.Repeat("{*,*}", 7) + "\"]\n", `5 commands[0].files.include[0]: has braces that may stand for more than 64 globs; write several globs instead`},
		"guidance from the root":    {"context:\n  guidance: [/docs/**]\n", `2 context.guidance[0]: matches no path: paths are written from the root of the repository, such as "docs/**"`},
		"guidance from elsewhere":   {"context:\n  guidance: [../rules/*.md]\n", `2 context.guidance[0]: matches no path: paths are written from the root of the repository, such as "rules/*.md"`},
		"a glob as .gitignore has":  {"context:\n  exclude: [\"*.py\", \"!a.py\"]\n", `2 context.exclude[1]: begins with "!", which takes nothing out of other globs here; write \! for names that begin so`},
		"a folder by its slash":     {"context:\n  exclude: [data/]\n", `2 context.exclude[0]: matches no path: paths are written from the root of the repository, such as "data/**"`},
		"guidance of too many":      {"context:\n  guidance: [\"" + strings.Repeat("{*,*}", 7) + "\"]\n", `2 context.guidance[0]: has braces that may stand for more than 64 globs; write several globs instead`},
		"an address as provider":    {"review:\n  defaults:\n    provider: https://evil.example/v1\n", `3 review.defaults.provider: is not ` + forms[providerName]},
		"an unknown category":       {"tools:\n  allow: [shell]\n", `2 tools.allow[0]: "shell" is not one of ` + strings.Join(toolset.Spellings(), ", ")},
		"both spellings":            {"tools:\n  allow: [filesystem]\n  allowlist: [git.read]\n", `3 tools.allowlist: is the old spelling of tools.allow, and both are set`},
		"a mistake in the old one":  {"tools:\n  allowlist: [filesystm]\n", `2 tools.allow[0]: "filesystm" is not one of ` + strings.Join(toolset.Spellings(), ", ") + ` -> filesystem`},
		"a time zone":               {"schedule:\n  timezone: Mars/Olympus\n", `2 schedule.timezone: unknown key; when a job runs is said in its workflow (on.schedule)`},
		"a cron line":               {"schedule:\n  cron: \"61 * * * *\"\n", `2 schedule.cron: unknown key; when a job runs is said in its workflow (on.schedule)`},
		"a misspelt key of a job":   {head + "schedule:\n  runs: {n: [security]}\n  jobs:\n    n: {condition: {}}\n", `9 schedule.jobs.n.condition: unknown key -> conditions`},
		"an agent without preset":   {"commands:\n- id: a\n  prompt: b\n  agent: {use: acp}\n", `4 commands[0].agent.use: acp needs preset, the agent it is`},
		"a model for a program":     {"commands:\n- id: a\n  prompt: b\n  model: m\n  agent: {use: command, path: x}\n", `4 commands[0].model: has no meaning with agent.use: command`},
		"rules as an agent":         {"commands:\n- id: a\n  prompt: b\n  agent: {use: static}\n", `4 commands[0].agent.use: "static" is not one of builtin, command, acp`},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff([]string{c.want}, faultLines(t, Validate(Repository, ".reviewerc", []byte(c.text)))); d != "" {
				t.Error(d)
			}
		})
	}
}

// The old spelling is read as the new one, at its own line.
func TestOldSpellingOfTheAllowlist(t *testing.T) {
	s, err := Resolve(Input{Repository: repo("version: 1\ntools:\n  allowlist: [github.pr.read]\n")})
	if err != nil {
		t.Fatal(err)
	}
	if e := setting(t, s, "tools.allow"); e.Line != 3 || len(s.Tools.Allow) != 1 {
		t.Errorf("%+v %v", e, s.Tools)
	}
}

const two = `commands:
  - id: plain
    prompt: Look.
  - id: own
    title: Own
    prompt: Look.
    tools: {allow: [filesystem, repo.write]}
    model: own-model
    reasoning: high
    temperature: 1
    limits: {maxToolCalls: 7, maxCostUsd: 50}
    output: {mode: both, counts: false, severityFloor: high}
    comment: {type: review}
review:
  run: [plain]
  defaults: {model: default-model, reasoning: "off", temperature: 0.5}
tools: {allow: [filesystem, git.read]}
output: {commentType: issue}
`

// What holds for a command follows from what was said at run time, then by the command, then for all of them, then the default.
func TestCommandAtItsPlace(t *testing.T) {
	key := env("OPENAI_API_KEY", "k")
	for name, c := range map[string]struct {
		in   Input
		id   string
		at   review.Place
		want string
	}{
		"defaults of the file":            {Input{Repository: repo(two), Env: key}, "plain", review.PlaceReview, "default-model none 0.5 feed_main issue low true"},
		"no defaults where there is none": {Input{Repository: repo(two), Env: key}, "plain", review.PlaceSchedule, "gpt-4.1-mini  - separate_comment  low true"},
		"its own word":                    {Input{Repository: repo(two), Env: key}, "own", review.PlaceReview, "own-model high 1 both review high false"},
		"both, when a comment asked":      {Input{Repository: repo(strings.Replace(two, "output: {commentType: issue}", "", 1)), Env: key}, "plain", review.PlaceComment, "default-model none 0.5 separate_comment both low true"},
		"issue, in review.run":            {Input{Repository: repo(strings.Replace(two, "output: {commentType: issue}", "", 1)), Env: key}, "plain", review.PlaceReview, "default-model none 0.5 feed_main issue low true"},
		"the report of local changes":     {Input{Repository: repo(two), Env: key}, "plain", review.PlaceLocal, "default-model none 0.5 feed_main  low true"},
		"no comment on local changes":     {Input{Repository: repo(two), Env: key}, "own", review.PlaceLocal, "own-model high 1 both  high false"},
		"inputs stand above the file": {Input{Repository: repo(two), Env: key, Given: []Given{{"model", "input-model", "input model"}, {"reasoning_effort", "low", "input reasoning"}, {"output.commentType", "both", "input comment-type"}}},
			"own", review.PlaceComment, "input-model low 1 both both high false"},
		"an input of the defaults too": {Input{Repository: repo(two), Env: key, Given: []Given{{"review.defaults.model", "input-model", "x"}, {"review.defaults.temperature", "2", "x"}}},
			"own", review.PlaceReview, "input-model high 2 both review high false"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Command(c.id, c.at)
			if err != nil {
				t.Fatal(err)
			}
			temperature, _ := json.Marshal(r.Temperature)
			got := strings.Join([]string{r.Agent.Model, r.Effort, strings.Replace(string(temperature), "null", "-", 1), r.Mode, r.CommentType, r.Floor, map[bool]string{true: "true", false: "false"}[r.Counts]}, " ")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// spec.md C5: a command restricts the file's allowlist and never widens it. Budgets are lowered, never raised.
func TestCommandRestrictsOnly(t *testing.T) {
	s, err := Resolve(Input{Repository: repo(two), Env: env("OPENAI_API_KEY", "k")})
	if err != nil {
		t.Fatal(err)
	}
	own, err := s.Command("own", review.PlaceSchedule)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"filesystem"}, own.Categories); d != "" {
		t.Error(d)
	}
	if own.Limits.ToolCalls != 7 || own.Limits.CostUSD != s.ACPLimits.CostUSD {
		t.Errorf("%+v", own.Limits)
	}
	plain, err := s.Command("plain", review.PlaceReview)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"filesystem", "git.read"}, plain.Categories); d != "" {
		t.Error(d)
	}
	none, err := Resolve(Input{Repository: repo("commands:\n- id: a\n  prompt: b\n  tools: {allow: []}\n"), Env: env("OPENAI_API_KEY", "k")})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := none.Command("a", review.PlaceReview); err != nil || len(c.Categories) != 0 {
		t.Errorf("an empty allowlist allows %v: %v", c.Categories, err)
	}
}

// A provider is one of the operator's, by name, with a key; else nothing is asked.
func TestProviderOfACommand(t *testing.T) {
	config := operator("upstreams:\n- {name: openrouter, base_url: https://openrouter.ai/api/v1, key_env: ROUTER_KEY, models: [claude]}\n- {name: cellar, base_url: http://cellar.example/v1, models: [llama]}\n")
	file := func(provider, model string) *File {
		return repo("commands:\n- id: a\n  prompt: b\n  provider: " + provider + "\n  model: " + model + "\n")
	}
	keys := env("OPENAI_API_KEY", "k", "ROUTER_KEY", "r")
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"an upstream":                        {Input{Repository: file("openrouter", "claude"), Operator: config, Env: keys}, ""},
		"one that asks for no key":           {Input{Repository: file("cellar", "llama"), Operator: config, Env: keys}, ""},
		"the main endpoint":                  {Input{Repository: file("openai", "gpt-4.1"), Operator: config, Env: keys}, ""},
		"the main endpoint, named":           {Input{Repository: file("mine", "gpt-4.1"), Given: []Given{{"base_url", "https://mine.example/v1", "x"}}, Operator: operator("provider: mine\n"), Env: keys}, ""},
		"one that nobody knows":              {Input{Repository: file("anthropic", "claude"), Operator: config, Env: keys}, `4 commands[0].provider: "anthropic" is no provider of the operator's (known: cellar, openrouter, openai)`},
		"an address without scheme":          {Input{Repository: file("evil.example", "claude"), Operator: config, Env: keys}, `4 commands[0].provider: "evil.example" is no provider of the operator's (known: cellar, openrouter, openai)`},
		"one without its key":                {Input{Repository: file("openrouter", "claude"), Operator: config, Env: env("OPENAI_API_KEY", "k")}, `4 commands[0].provider: the provider "openrouter" has no key`},
		"the main one without its key":       {Input{Repository: file("openai", "gpt-4.1"), Operator: config, Env: env()}, `4 commands[0].provider: the provider "openai" has no key`},
		"a model it does not serve":          {Input{Repository: file("openrouter", "gpt-4.1"), Operator: config, Env: keys}, `4 commands[0].provider: "openrouter" does not serve the model "gpt-4.1" (known: claude)`},
		"a model another serves":             {Input{Repository: file("openai", "claude"), Operator: config, Env: keys}, `4 commands[0].provider: the model "claude" is served by "openrouter"`},
		"the defaults name it":               {Input{Repository: repo("commands:\n- id: a\n  prompt: b\nreview:\n  defaults: {provider: nobody}\n"), Env: keys}, `5 review.defaults.provider: "nobody" is no provider of the operator's (known: openai)`},
		"an input names it":                  {Input{Repository: repo("commands:\n- id: a\n  prompt: b\n"), Given: []Given{{"review.defaults.provider", "nobody", "input provider"}}, Env: keys}, `0 review.defaults.provider: "nobody" is no provider of the operator's (known: openai)`},
		"nobody to ask":                      {Input{Repository: repo("commands:\n- id: a\n  prompt: b\n")}, `2 commands[0]: no model is configured that could run "a"`},
		"a program needs no model":           {Input{Repository: repo("commands:\n- id: a\n  prompt: b\n  agent: {use: command, path: ./x}\n"), Local: true}, ""},
		"recorded conversations need no key": {Input{Repository: file("openrouter", "claude"), Replayed: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Command("a", review.PlaceComment)
			if got := strings.Join(faultLines(t, err), "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A repository cannot have programs started on a pull request by calling them commands.
func TestProgramOfACommand(t *testing.T) {
	s, err := Resolve(Input{Repository: repo("commands:\n- id: a\n  prompt: b\n  agent:\n    use: command\n    path: /bin/sh\n"), Env: env("OPENAI_API_KEY", "k")})
	if err != nil {
		t.Fatal(err)
	}
	var refused *RepoCommandError
	if _, err = s.Command("a", review.PlaceComment); !errors.As(err, &refused) || refused.Line != 6 {
		t.Errorf("%v", err)
	}
}

func TestUnknownCommandAndJob(t *testing.T) {
	s, err := Resolve(Input{Repository: repo(string(example(t, "plan-b")))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Command("docs-drfit", review.PlaceComment)
	if want := `.reviewerc defines no command "docs-drfit"; did you mean "docs-drift"? (known: docs-drift)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = s.Job("nightly-doc")
	if want := `.reviewerc:14: schedule.runs has no job "nightly-doc"; did you mean "nightly-docs"? (known: nightly-docs)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s, err = Resolve(Input{}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Job("build")
	if want := `.reviewerc: schedule.runs has no job "build" (known: none)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// spec.md C4: conditions of a job stand before those of all, one by one; schedules are enabled where nobody says otherwise.
func TestJobs(t *testing.T) {
	s, err := Resolve(Input{Repository: repo(string(example(t, "all-keys")))})
	if err != nil {
		t.Fatal(err)
	}
	if s.Schedule.Enabled {
		t.Error("enabled: false counts for nothing")
	}
	want := Job{ID: "weekly", Commands: []string{"licenses", "api-rules"}, Limits: CommandLimits{MaxFiles: 50, MaxDiffLines: 800}, Paths: Globs{Include: []string{"**/*.go"}},
		Window: 168 * time.Hour, WriteScope: Globs{Include: []string{"**/*.md"}, Exclude: []string{"docs/decisions/**"}}}
	got, err := s.Job("weekly")
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if s, err = Resolve(Input{Repository: repo(string(example(t, "trigger-lists")))}); err != nil {
		t.Fatal(err)
	}
	if j, err := s.Job("nightly-docs"); err != nil || !s.Schedule.Enabled || j.Window != 24*time.Hour || !j.Paths.Empty() {
		t.Errorf("%+v %v %v", j, s.Schedule.Enabled, err)
	}
}

// A pattern that matches nothing is told with its line; excluding ones may match nothing.
func TestIdleGlobs(t *testing.T) {
	text := "commands:\n- id: a\n  prompt: b\n  files:\n    include: [\"doc/**\", \"**/*.go\"]\n    exclude: [\"none/**\"]\nschedule:\n  writeScope: {include: [\"**/*.md\"]}\n  conditions: {paths: {include: [lib/**]}}\n"
	idle, err := Idle(*repo(text), func() ([]string, error) { return []string{"main.go", "README.md"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range idle {
		got = append(got, strings.SplitN(f.String(), "\n", 2)[0])
	}
	want := []string{`.reviewerc:5:15: commands[0].files.include[0]: "doc/**" matches no file`, `.reviewerc:9:34: schedule.conditions.paths.include[0]: "lib/**" matches no file`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"model: a\n", "mdel: a\n", "commands:\n- id: a\n  prompt: b\n"} {
		if idle, err := Idle(*repo(text), func() ([]string, error) { return nil, errors.New("nobody asks") }); err != nil || idle != nil {
			t.Errorf("%q: %v %v", text, idle, err)
		}
	}
}

// What reads as a variable of a prompt and is none is told with what was meant.
func TestMisspeltVariables(t *testing.T) {
	text := "commands:\n- id: a\n  prompt: Look at ${command.args}, ${command.argv}, ${HOME} and ${commands}.\n- id: b\n  prompt: |\n    Look at ${command.arg}.\n    Not at ${command.everything}.\n"
	var got []string
	for _, f := range Misspelt(*repo(text)) {
		got = append(got, f.String())
	}
	want := []string{`.reviewerc:5:3: commands[1].prompt: ${command.arg} is no variable, and stays as it is; did you mean "${command.args}"?`,
		`.reviewerc:5:3: commands[1].prompt: ${command.everything} is no variable, and stays as it is`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// `config explain` shows what holds for a command and where each value comes from.
func TestExplainCommands(t *testing.T) {
	s, err := Resolve(Input{Repository: repo(two), Env: env("OPENAI_API_KEY", "k"), Given: []Given{{"reasoning_effort", "low", "--reasoning-effort"}}})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"commands.plain.model":              `default-model  (repository, .reviewerc:16)`,
		"commands.own.model":                `own-model  (repository, .reviewerc:8)`,
		"commands.own.reasoning":            `low  (command line, --reasoning-effort)`,
		"commands.plain.title":              `plain  (default); its id`,
		"commands.own.tools.allow":          `["filesystem"]  (repository, .reviewerc:7)`,
		"commands.plain.tools.allow":        `["filesystem","git.read"]  (repository, .reviewerc:17)`,
		"commands.own.limits.maxToolCalls":  `7  (repository, .reviewerc:11)`,
		"commands.plain.output.mode":        `feed_main  (default); separate_comment when a comment asks for it`,
		"commands.plain.comment.type":       `issue  (repository, .reviewerc:18)`,
		"commands.plain.temperature":        `0.5  (repository, .reviewerc:16)`,
		"commands.plain.limits.maxFindings": `0  (default); no bound`,
		"schedule.enabled":                  `true  (default)`,
		"schedule.conditions.window":        `"24h0m0s"  (default)`,
		"review.defaults.model":             `default-model  (repository, .reviewerc:16)`,
	} {
		if got := setting(t, s, key).String(); got != key+" = "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
