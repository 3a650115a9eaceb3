package modes

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prloop/prloop/review"
)

// readsNothing reports whether a mode leaves its standard input alone.
func readsNothing(mode string) bool { return mode == "never-reads" || mode == "idle-child" }

func processModes() []Mode {
	mode := func(name, about string, run func(*agent) int) Mode { return Mode{name, "process", about, run} }
	return []Mode{
		mode("ok", "answers well", func(a *agent) int { return a.answer(a.found()) }),
		mode("ok-empty", "answers well and finds nothing", func(a *agent) int { return a.answer([]review.Finding{}) }),
		mode("ok-events", "reports progress and usage, then answers well", func(a *agent) int {
			a.event(`{"event":"progress","message":"reading the diff"}`)
			a.event(`{"event":"usage","usage":{"llmCalls":1,"inputTokens":1200,"outputTokens":80,"models":["fake-1"]}}`)
			a.event(`{"event":"log","level":"info","message":"done"}`)
			return a.answer(a.found())
		}),
		mode("slow", "answers well after -delay", func(a *agent) int {
			time.Sleep(a.delay)
			return a.answer(a.found())
		}),
		mode("hang-silent", "reads the task and never says anything", func(*agent) int { return hang() }),
		mode("hang-partial", "writes half an envelope, up to the priority of its finding, then nothing", func(a *agent) int {
			doc := a.envelope(a.found())
			end := bytes.Index(doc, []byte(`"category"`))
			if end < 0 {
				end = len(doc) / 2
			}
			a.out.Write(doc[:end])
			return hang()
		}),
		mode("hang-events", "reports progress for ever and never answers", func(a *agent) int {
			for {
				a.event(`{"event":"progress","message":"still at it"}`)
				time.Sleep(50 * time.Millisecond)
			}
		}),
		mode("drip", "writes its envelope one byte at a time, 100 ms apart", func(a *agent) int {
			for _, c := range a.envelope(a.found()) {
				a.out.Write([]byte{c})
				time.Sleep(100 * time.Millisecond)
			}
			return 0
		}),
		mode("ignore-term", "ignores TERM and hangs", func(a *agent) int {
			signal.Ignore(syscall.SIGTERM, os.Interrupt)
			a.event(`{"event":"progress","message":"not listening"}`)
			return hang()
		}),
		mode("exit-1", "ends with status 1 and a word on standard error", func(a *agent) int {
			fmt.Fprintln(a.err, "fakeagent: out of luck")
			return 1
		}),
		mode("exit-1-answer", "writes a valid envelope, then ends with status 1", func(a *agent) int {
			a.answer(a.found())
			return 1
		}),
		mode("exit-0-empty", "ends with status 0 and says nothing", func(*agent) int { return 0 }),
		mode("never-reads", "answers without reading its standard input", func(a *agent) int { return a.answer([]review.Finding{}) }),
		mode("repair-once", "answers with broken JSON, and well when asked again", func(a *agent) int {
			if a.task.Repair != nil {
				return a.answer(a.found())
			}
			fmt.Fprintln(a.out, `{"agent":"fakeagent","prNumber":`)
			return 0
		}),
		mode("panic", "ends by a Go panic", func(*agent) int { panic("fakeagent was asked to panic") }),
		mode("segv", "crashes by SIGSEGV as a Go program does: status 2 and a traceback", func(a *agent) int { return a.signalSelf("segv") }),
		mode("self-kill", "kills itself by SIGKILL", func(a *agent) int { return a.signalSelf("kill") }),
		mode("kill-parent", "kills its parent process, then hangs", func(a *agent) int { return a.killParent() }),
		mode("bomb", "starts -count children that start one each, and hangs with them", func(a *agent) int {
			for range a.count {
				a.spawn("bomb-part", false)
			}
			return hang()
		}),
		mode("bomb-part", "part of bomb: starts a child and hangs", func(a *agent) int {
			a.spawn("idle-child", false)
			return hang()
		}),
		mode("daemon", "answers well and leaves a daemon behind (setsid and double fork)", func(a *agent) int {
			a.spawn("daemon-middle", true)
			return a.answer(a.found())
		}),
		mode("daemon-hang", "leaves a daemon behind and hangs", func(a *agent) int {
			a.spawn("daemon-middle", true)
			return hang()
		}),
		mode("daemon-middle", "part of daemon: starts the daemon and ends", func(a *agent) int {
			a.spawn("idle-child", false)
			return 0
		}),
		mode("hold-stdout", "answers well and leaves a child that holds its streams open", func(a *agent) int {
			status := a.answer(a.found())
			a.spawn("idle-child", false)
			return status
		}),
		mode("idle-child", "part of others: ignores TERM and hangs in a session of its own", func(*agent) int {
			signal.Ignore(syscall.SIGTERM)
			return hang()
		}),
		mode("close-stdout-run-on", "answers well, closes its standard output and runs on", func(a *agent) int {
			a.answer(a.found())
			os.Stdout.Close()
			return hang()
		}),
	}
}

// spawn starts this program in another mode, in a session of its own, with our streams. It does so without os/exec, which
// belongs to internal/proc alone.
func (a *agent) spawn(mode string, wait bool) {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(a.err, "fakeagent:", err)
		return
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		fmt.Fprintln(a.err, "fakeagent:", err)
		return
	}
	defer null.Close()
	args := append([]string{self}, prefix()...)
	args = append(append(args, "-mode", mode), a.rest...)
	p, err := os.StartProcess(self, args, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{null, os.Stdout, os.Stderr}, Sys: ownSession()})
	if err != nil {
		fmt.Fprintln(a.err, "fakeagent:", err)
		return
	}
	if wait {
		p.Wait()
	}
}

// Name is the first argument by which a test binary that plays the agent tells that it is to play it.
const Name = "play-fakeagent"

// prefix keeps that argument for the children.
func prefix() []string {
	if len(os.Args) > 1 && os.Args[1] == Name {
		return []string{Name}
	}
	return nil
}
