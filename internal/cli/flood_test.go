package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
)

// floodGrowthBytes is how much more memory prloop may hold while its agents flood it (threats.md P9, T84).
const floodGrowthBytes = 32 << 20

// TestFloodMemory floods prloop on both streams, with no regard for TERM, with findings that never end, and from five
// agents at once: each is cut at 8 MB of a stream, what still comes until it is dead is thrown away, and prloop never holds
// more than 32 MB beyond what a clean run holds.
func TestFloodMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves gigabytes through the whole program: go test without -short does")
	}
	a := newArena(t)
	for _, box := range []string{"off", "best"} {
		team := func(modes ...string) (b bout) {
			b.env = []string{"PRLOOP_SANDBOX=" + box}
			b.reviewers = []fighter{{name: "good", mode: "ok"}}
			for i, mode := range modes[:4] {
				b.reviewers = append(b.reviewers, fighter{name: fmt.Sprintf("agent-%d", i+1), mode: mode})
			}
			b.analyzer = fighter{mode: modes[4]}
			return b
		}
		clean := a.enter(team("ok-empty", "ok-empty", "ok-empty", "ok-empty", "ok-empty")).watched()
		t.Logf("sandbox %s: a clean run holds %d MB at most", box, clean.peak>>20)
		for _, modes := range [][]string{
			{"flood-stubborn", "ok-empty", "ok-empty", "ok-empty", "ok-empty"},
			{"flood-json", "ok-empty", "ok-empty", "ok-empty", "ok-empty"},
			{"flood-stubborn", "flood-stubborn", "flood-both", "flood-out", "flood-stubborn"},
		} {
			flooded := a.enter(team(modes...)).watched()
			checkFlood(t, box, modes, clean, flooded)
		}
	}
}

// crammedGrowthBytes is how much more memory prloop may hold while it reads an answer of 7 MB that cannot be one, twice.
const crammedGrowthBytes = 80 << 20

// TestCrammedMemory has agents write few bytes that are costly to decode: documents, events and messages of tiny values, and marks of
// answers without end. prloop counts before it decodes (threats.md T473, T474).
func TestCrammedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole program a dozen times: go test without -short does")
	}
	a, model := newArena(t), endpoint(t, fakemodel.Script{})
	const (
		answer = `{"agent":"a","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":"Fine."`
		listen = "#!/bin/sh\ncat >/dev/null\n"
		// talk answers as an ACP agent does, and runs %s at the prompt.
		talk = "#!/bin/sh\nwhile read -r line; do\n\tid=$(printf '%%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n\tanswer='{}'\n\tcase $line in\n" +
			"\t*'\"initialize\"'*) answer='{\"protocolVersion\":1}' ;;\n\t*'\"session/new\"'*) answer='{\"sessionId\":\"s\"}' ;;\n" +
			"\t*'\"session/prompt\"'*)\n\t\tanswer='{\"stopReason\":\"end_turn\"}'\n\t\tfor n in 1 2 3 4 5 6 7; do\n%s\n\t\tdone ;;\n\tesac\n" +
			"\tprintf '{\"jsonrpc\":\"2.0\",\"id\":%%s,\"result\":%%s}\\n' \"$id\" \"$answer\"\ndone\n"
		objects = `yes '{"":0},' | head -n 900000 | tr -d '\n'; printf '0]'`
	)
	run := func(line, script string) watched {
		file := filepath.Join(a.dir, fmt.Sprintf("agent-%d", a.runs.Load()))
		write(t, file, []byte(script))
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		b := bout{reviewers: []fighter{{name: "good", mode: "ok"}}, env: []string{"PRLOOP_SANDBOX=best", "OPENAI_BASE_URL=" + model.URL(), "OPENAI_API_KEY=sk-test-0123456789abcdef0123"}}
		b.also = []string{fmt.Sprintf(line, file)}
		return a.enter(b).watched()
	}
	const command, acp = "{name: crammed, use: command, path: %s}", "{name: crammed, use: acp, preset: opencode, path: %s}"
	clean := run(command, listen+"echo '"+answer+"}'\n")
	for _, row := range []struct {
		name, line, script string
		most               int64
	}{
		{"an answer of tiny values", command, listen + "printf '%s' '" + answer + `,"x":['; yes '{"":0},' | head -n 900000; echo '0]}'` + "\n", crammedGrowthBytes},
		{"an answer of names", command, listen + "printf '%s' '" + answer + `'; seq 500000 | sed 's/.*/,"&":0/'; echo '}'` + "\n", crammedGrowthBytes},
		{"an answer of long texts", command, listen + "printf '%s' '" + answer + `,"x":['; for n in 1 2 3 4 5 6 7; do printf '"'; yes xxxxxxx | head -n 120000 | tr -d '\n'; echo '",'; done; echo '0]}'` + "\n", crammedGrowthBytes},
		{"events of tiny values", command, listen + `for n in 1 2 3 4 5 6 7; do printf '{"event":"log","message":"x","y":['; yes '{"":0},' | head -n 120000 | tr -d '\n'; echo '0]}'; done` + "\n", crammedGrowthBytes},
		{"braces", command, listen + `for n in 1 2 3 4 5 6 7; do yes '{}' | head -n 400000 | tr -d '\n'; echo; done` + "\n", crammedGrowthBytes},
		{"fences", command, listen + "yes '```json\n{\n```' | head -c 7000000\n", crammedGrowthBytes},
		{"marks", command, listen + "yes 'BEGIN_JSON\n{}\nEND_JSON' | head -c 7000000\n", crammedGrowthBytes},
		{"requests of tiny values", acp, fmt.Sprintf(talk, `printf '{"jsonrpc":"2.0","id":"p%s","method":"session/request_permission","params":{"options":[],"toolCall":{"toolCallId":"t","rawInput":[' $n; `+objects+`; echo '}}}'`), floodGrowthBytes},
		{"replies of tiny values", acp, fmt.Sprintf(talk, `printf '{"jsonrpc":"2.0","id":7,"result":{"_meta":{"x":['; `+objects+`; echo '}}}'`), floodGrowthBytes},
		{"updates of tiny values", acp, fmt.Sprintf(talk, `printf '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":['; `+objects+`; echo '}}}'`), floodGrowthBytes},
	} {
		got := run(row.line, row.script)
		r := got.agent("crammed")
		grown := got.peak - clean.peak
		t.Logf("%s: %+d MB, read %d MB, %s: %s", row.name, grown>>20, (got.read-clean.read)>>20, r.State, r.Reason)
		if grown > row.most {
			t.Errorf("%s: prloop grew by %d MB", row.name, grown>>20)
		}
		if got.read-clean.read < 4<<20 {
			t.Errorf("%s: nothing was read", row.name)
		}
		if got.answer("good") != clean.answer("good") {
			t.Errorf("%s: the good reviewer's answer is not that of a clean run", row.name)
		}
		got.checkGone(0)
	}
}

func checkFlood(t *testing.T, box string, modes []string, clean, flooded watched) {
	t.Helper()
	grown, read := flooded.peak-clean.peak, flooded.read-clean.read
	t.Logf("sandbox %s, %s: %.2f GB read in %.1f s, %+d MB", box, strings.Join(modes, ","), float64(read)/1e9, flooded.took.Seconds(), grown>>20)
	if grown > floodGrowthBytes {
		t.Errorf("sandbox %s: prloop grew by %d MB", box, grown>>20)
	}
	floods := int64(0)
	for i, mode := range modes {
		if mode == "ok-empty" {
			continue
		}
		floods++
		name := fmt.Sprintf("agent-%d", i+1)
		if i == 4 {
			name = "comments-analyzer"
		}
		if got := flooded.agent(name); got.State == well || !strings.Contains(got.Reason, "wrote too much") {
			t.Errorf("sandbox %s: %s is %s: %s", box, name, got.State, got.Reason)
		}
	}
	if read < floods*(8<<20) {
		t.Errorf("sandbox %s: only %d bytes were read: nothing was flooded", box, read)
	}
	if got, want := flooded.answer("good"), clean.answer("good"); got != want {
		t.Errorf("sandbox %s: the good reviewer's answer is not that of a clean run:\n%s", box, got)
	}
	flooded.checkGone(0)
}

// watched is a finished run of which the memory was watched.
type watched struct {
	*finished
	// peak is the most memory prloop itself held, read is what it read from files, pipes and sockets, both in bytes.
	peak, read int64
}

// watched runs a bout and looks at the process all the while.
func (b *bout) watched() watched {
	b.t.Helper()
	done := make(chan struct{})
	w := watched{}
	f := b.fightWith(func(pid int) {
		go func() {
			defer close(done)
			for {
				status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
				if err != nil || !bytes.Contains(status, []byte("VmHWM:")) { // it has ended
					return
				}
				counts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
				w.peak = max(w.peak, figure(status, "VmHWM:")<<10)
				w.read = max(w.read, figure(counts, "rchar:"))
				time.Sleep(5 * time.Millisecond)
			}
		}()
	})
	<-done
	if w.peak == 0 {
		b.t.Fatal("the memory of prloop was never seen")
	}
	w.finished = f
	return w
}

// figure reads one number of a file of /proc.
func figure(data []byte, name string) (n int64) {
	_, rest, _ := bytes.Cut(data, []byte(name))
	_, _ = fmt.Sscan(string(rest), &n)
	return n
}
