package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// atWork is a child that says what it has at work.
type atWork struct {
	boundless
	has     crowd
	shared  bool
	yielded int
}

func (c *atWork) term()                 {}
func (c *atWork) kill()                 {}
func (c *atWork) destroy()              {}
func (c *atWork) wait() status          { return status{} }
func (c *atWork) atWork() (crowd, bool) { return c.has, !c.shared }
func (c *atWork) standBack()            { c.yielded++ }

// Too much at work counts while another child has something at work too, and has to last.
func TestCrowds(t *testing.T) {
	most := crowdEach * runtime.NumCPU()
	few, threads, sessions := crowd{1, most}, crowd{1, most + 1}, crowd{most + 1, most + 1}
	for name, row := range map[string]struct {
		has, beside []crowd // by the second; the last one stays
		shared      bool
		yields      bool
		ends        bool
	}{
		"as much as it may":                  {[]crowd{few}, []crowd{{1, 1}}, false, false, false},
		"too many threads":                   {[]crowd{threads}, []crowd{{1, 1}}, false, true, false},
		"too many sessions":                  {[]crowd{sessions}, []crowd{{1, 1}}, false, false, true},
		"a group gives it its share":         {[]crowd{sessions}, []crowd{{1, 1}}, true, false, false},
		"alone":                              {[]crowd{sessions}, nil, false, false, false},
		"beside one that waits":              {[]crowd{sessions}, []crowd{{}}, false, false, false},
		"beside one that had waited":         {[]crowd{sessions}, []crowd{{}, {}, {}, {}, {1, 1}}, false, false, true},
		"beside one that mostly waits":       {[]crowd{sessions}, []crowd{{1, 1}, {}, {1, 1}, {}, {1, 1}, {}, {1, 1}, {}, {1, 1}, {}}, false, false, true},
		"for a moment":                       {[]crowd{sessions, sessions, sessions, few}, []crowd{{1, 1}}, false, false, false},
		"for most of the time":               {[]crowd{few, sessions, sessions, sessions, few, sessions, sessions, sessions, few, sessions, sessions, few}, []crowd{{1, 1}}, false, false, true},
		"beside another with as much":        {[]crowd{sessions}, []crowd{sessions}, false, false, true},
		"as many threads, each in a session": {[]crowd{{most, most}}, []crowd{{1, 1}}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			one, other := &atWork{shared: row.shared}, &atWork{}
			w, beside := &watcher{child: one, Bounds: Bounds{Processes: 1}, crowdSeen: now}, &watcher{child: other, Bounds: Bounds{Processes: 1}, crowdSeen: now}
			defer crowds.forget(w)
			defer crowds.forget(beside)
			var stop stopped
			for second := range 15 {
				now = now.Add(crowdEvery)
				if row.beside != nil {
					other.has = row.beside[min(second, len(row.beside)-1)]
					beside.lookAtCrowd(now)
				}
				one.has = row.has[min(second, len(row.has)-1)]
				if stop = w.lookAtCrowd(now); stop.reason != ReasonNone {
					break
				}
				if w.lookAtCrowd(now.Add(crowdEvery/2)).reason != ReasonNone {
					t.Fatal("it was looked at too soon")
				}
			}
			if ended := stop.reason == ReasonProcesses; ended != row.ends || one.yielded > 0 != row.yields {
				t.Errorf("ended %v (%v), stood back %d times", ended, stop.err, one.yielded)
			}
		})
	}
}

// Where no control group gives each child its share, one that computes in hundreds of sessions is ended, and one that computes in as many threads
// stands back, while another one beside them has something at work (threats.md T373). Nothing else runs beside this test, which takes all processors.
func TestNoChildCrowdsOthersOut(t *testing.T) {
	many := strconv.Itoa(max(200, 2*crowdEach*runtime.NumCPU()))
	shell := func(script string) Spec {
		return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}}
	}
	for name, row := range map[string]struct {
		crowd Spec
		want  Reason
		says  string
	}{
		"sessions": {shell("for i in $(seq " + many + "); do setsid sh -c 'while :; do :; done' & done; wait"), ReasonProcesses, "sessions at work at a time"},
		"threads":  {self(t, "spin", many), ReasonNone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			beside, ended := shell("while [ ! -e enough ]; do :; done"), make(chan error)
			for _, s := range []*Spec{&row.crowd, &beside} {
				s.Timeout, s.Bounds = 3*time.Minute, Bounds{Processes: 512, noGroups: true}
			}
			go func() {
				_, err := Run(t.Context(), beside)
				ended <- err
			}()
			bounded(t, row.crowd, row.want, row.says)
			if err := os.WriteFile(filepath.Join(beside.Dir, "enough"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Errorf("the one beside it: %v", err)
			}
		})
	}
}

// spin computes in so many threads until they have to stand back.
func spin(threads int) {
	runtime.GOMAXPROCS(threads)
	for range threads {
		go func() {
			for n := 0; ; n++ {
			}
		}()
	}
	for {
		if attr, err := unix.SchedGetAttr(0, 0); err == nil && attr.Policy == unix.SCHED_IDLE {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
