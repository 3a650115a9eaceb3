package modes

import (
	"bytes"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

func outputModes() []Mode {
	mode := func(name, about string, run func(*agent) int) Mode { return Mode{name, "output", about, run} }
	// edit answers with a valid envelope in which one thing was replaced.
	edit := func(name, about string, change func(doc string) string) Mode {
		return mode(name, about, func(a *agent) int {
			io.WriteString(a.out, change(string(a.envelope(a.found()))))
			return 0
		})
	}
	replace := func(name, about, old, new string) Mode {
		return edit(name, about, func(doc string) string { return strings.Replace(doc, old, new, 1) })
	}
	return []Mode{
		mode("flood-out", "writes to standard output without end", func(a *agent) int { return flood(a.out) }),
		mode("flood-err", "writes to standard error without end", func(a *agent) int { return flood(a.err) }),
		mode("flood-both", "writes to both streams without end", func(a *agent) int {
			go flood(a.err)
			return flood(a.out)
		}),
		mode("flood-stubborn", "writes to both streams without end, ignores TERM and a reader that has gone", func(a *agent) int {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
			go a.insist(a.err)
			return a.insist(a.out)
		}),
		mode("flood-json", "lists findings in an envelope without end", func(a *agent) int {
			f, err := schema.Encode(a.plain())
			if err != nil {
				return 2
			}
			fmt.Fprint(a.out, `{"agent":"x","prNumber":7,"findings":[`+"\n")
			return pour(a.out, bytes.Repeat(append(f, ",\n"...), 100))
		}),
		mode("flood-events", "reports progress without end and without a pause", func(a *agent) int {
			for {
				if _, err := io.WriteString(a.out, `{"event":"progress","message":"and on"}`+"\n"); err != nil {
					return 0
				}
			}
		}),
		mode("giant-line", "writes one line of 4 MB", func(a *agent) int {
			a.out.Write(bytes.Repeat([]byte("x"), 4<<20))
			return a.answer(a.found())
		}),
		edit("json-truncated", "writes half an envelope and ends well", func(doc string) string { return doc[:len(doc)-len(doc)/4] }),
		edit("json-fenced", "writes the envelope in a fence, with text around it (valid)", func(doc string) string {
			return "Here is my review.\n\n```json\n" + doc + "\n```\nThank you.\n"
		}),
		edit("json-marked", "writes the envelope between BEGIN_JSON and END_JSON (valid)", func(doc string) string {
			return "Info: model loaded\nBEGIN_JSON\n" + doc + "\nEND_JSON\n"
		}),
		edit("json-two", "writes two envelopes", func(doc string) string { return doc + "\n" + doc + "\n" }),
		edit("json-noise", "writes text around a bare envelope", func(doc string) string { return "Here you are:\n" + doc + "\nBye.\n" }),
		edit("fence-open", "opens a fence and does not close it", func(doc string) string { return "```json\n" + doc + "\n" }),
		edit("begin-open", "writes BEGIN_JSON without END_JSON", func(doc string) string { return "BEGIN_JSON\n" + doc + "\n" }),
		replace("dup-keys", "repeats a key", `{"agent":`, `{"prNumber":1,"agent":`),
		replace("case-keys", "writes a key in another case", `{"agent":`, `{"Agent":"x","agent":`),
		replace("unknown-fields", "adds a field nobody knows (valid)", `{"agent":`, `{"mood":"good","agent":`),
		replace("bad-types", "writes a number as text", `"prNumber":`, `"prNumber":"seven","was":`),
		replace("nan", "writes NaN", `"prNumber":`, `"prNumber":NaN,"was":`),
		replace("deep", "nests arrays 200,000 deep", `{"agent":`, `{"x":`+strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)+`,"agent":`),
		mode("million-findings", "lists a million findings", func(a *agent) int {
			fmt.Fprintf(a.out, "{\"agent\":\"x\",\"prNumber\":1,\"findings\":[\n{}")
			for range 1000 {
				fmt.Fprint(a.out, strings.Repeat(",{}", 1000), "\n")
			}
			fmt.Fprintln(a.out, "]}")
			return 0
		}),
		replace("bad-utf8", "writes bytes that are no UTF-8", `{"agent":"`, "{\"agent\":\"\xff\xfe"),
		replace("nul", "writes a NUL character", `{"agent":"`, `{"agent":"\u0000`),
		replace("surrogate", "writes half a surrogate pair", `{"agent":"`, `{"agent":"\ud800`),
		edit("utf8-bom", "starts with a byte order mark", func(doc string) string { return "\ufeff" + doc }),
		edit("utf16-bom", "writes UTF-16", func(doc string) string {
			out := []byte{0xff, 0xfe}
			for _, u := range utf16.Encode([]rune(doc)) {
				out = append(out, byte(u), byte(u>>8))
			}
			return string(out)
		}),
		mode("bad-events", "writes malformed events, then answers well", func(a *agent) int {
			a.event(`{"event":"progress","message":5}`)
			a.event(`{"event":"dance"}`)
			a.event(`{"event":"progress"`)
			return a.answer(a.found())
		}),
		mode("wrong-envelope", "answers with the envelope of another role", func(a *agent) int {
			if a.task.Role == review.RoleCommentsAnalyzer {
				a.task.Role = review.RoleReviewer
			} else {
				a.task.Role = review.RoleCommentsAnalyzer
			}
			return a.answer(a.found())
		}),
		mode("salvage", "answers with one valid and one broken finding", func(a *agent) int {
			doc := string(a.envelope([]review.Finding{a.plain(), a.plain()}))
			i := strings.LastIndex(doc, `"priority":"P2"`)
			if i >= 0 {
				doc = doc[:i] + `"priority":"high"` + doc[i+len(`"priority":"P2"`):]
			}
			fmt.Fprintln(a.out, doc)
			return 0
		}),
	}
}

// insist floods whatever becomes of it.
func (a *agent) insist(w io.Writer) int {
	for {
		flood(w)
		time.Sleep(time.Millisecond)
	}
}

var floodChunk = bytes.Repeat([]byte("flood flood flood flood flood!\n"), 2048)

func flood(w io.Writer) int { return pour(w, floodChunk) }

func pour(w io.Writer, chunk []byte) int {
	for {
		if _, err := w.Write(chunk); err != nil {
			return 0
		}
	}
}
