package sanitize

import (
	"fmt"
	"strings"
)

// Cap is the most bytes one comment may have (threats.md T42). GitHub itself takes more.
const Cap = 60_000

// MaxParts is how many numbered comments one report may become (decision 13).
const MaxParts = 3

// reserve is kept free of a comment's cap for markers, but for the objections in them, and part numbers (threats.md T42).
const reserve = 1_024

// maxFooter is how large the end of a report may be to survive a report that is longer than all its parts.
const maxFooter = 12_000

// shorten cuts a body that is longer than all parts together in the middle: its last section, the receipt of a report,
// stays, folded or under a heading of its own. What the cut leaves open is closed.
func shorten(s string) string {
	if len(s) <= maxBody {
		return s
	}
	tail := ""
	end := s[len(s)-maxFooter:]
	at := strings.LastIndex(end, "\n<details>\n")
	if at < 0 || !strings.HasSuffix(end, "\n</details>") {
		at = strings.LastIndex(end, "\n#")
	}
	if at >= 0 {
		tail = end[at+1:]
	}
	head := cut(s, maxBody-len(tail)-64)
	fence, open := "", 0
	for line := range strings.SplitSeq(head, "\n") {
		_, text := splitContainer(line)
		if f := fenceRun(text); f != "" {
			fence = nextFence(fence, f, text)
		}
		switch {
		case fence == "" && text == "<details>":
			open++
		case fence == "" && text == "</details>":
			open--
		}
	}
	return head + "\n" + fence + "\n" + strings.Repeat("\n</details>\n", min(max(open, 0), 3)) + "\n" + tail
}

// parts cuts a body into at most most pieces between blocks. When that is not enough, what does not fit is left out,
// the report's last section stays if it is short, and TruncatedComment says so.
func (m mode) parts(whole string, most, room int) []string {
	blocks := parseBlocks(whole, m)
	var cuts [][]*block
	rest := blocks
	for len(rest) > 0 && len(cuts) < most {
		head, tail := fit(rest, room)
		if len(cuts) == most-1 && len(tail) > 0 {
			head, tail = fitFooter(rest, room)
		}
		if len(head) == 0 {
			break
		}
		cuts, rest = append(cuts, head), tail
	}
	out := make([]string, 0, len(cuts))
	for i, c := range cuts {
		s := renderBlocks(c)
		if i > 0 {
			s = fmt.Sprintf("*Part %d of %d*\n\n%s", i+1, len(cuts), s)
		}
		if i+1 < len(cuts) {
			s += fmt.Sprintf("\n\n*Continued in part %d of %d.* %s", i+2, len(cuts), TruncatedComment)
		}
		out = append(out, m.settled(s, Cap, m.writeBlocks))
	}
	if len(out) == 0 {
		out = []string{TruncatedComment}
	}
	return out
}

// fitFooter fills the last part: as much as goes in, TruncatedComment, then the report's last section.
func fitFooter(blocks []*block, room int) (head, tail []*block) {
	note := &block{kind: kindParagraph, inl: []inline{{kind: kindText, s: TruncatedComment}}}
	at := len(blocks) - 1
	for i := at; i > 0 && blocks[at].kind != kindDetails; i-- { // what closes a report folded is its last section
		if blocks[i].kind == kindHeading {
			at = i
			break
		}
	}
	footer := blocks[at:]
	if at == 0 || size(footer) > maxFooter || blocks[at].kind != kindHeading && blocks[at].kind != kindDetails {
		footer, at = nil, len(blocks)
	}
	head, _ = fit(blocks[:at], room-size(footer)-64)
	head = append(append(append([]*block{}, head...), note), footer...)
	return head, nil
}

func size(blocks []*block) int { return len(renderBlocks(blocks)) }

// fit takes as many blocks as go into room. A block that is larger than all of room is cut inside.
func fit(blocks []*block, room int) (head, tail []*block) {
	left := room
	n := fitting(len(blocks), room, func(i int) int {
		length := size(blocks[i:i+1]) + len("\n\n")
		if length <= left {
			left -= length
		}
		return length
	})
	head, tail = blocks[:n:n], blocks[n:]
	if len(tail) == 0 || left < 64 || n > 0 && size(tail[:1]) <= room {
		return head, tail
	}
	h, t := tail[0].split(left, 0)
	if h == nil {
		return head, tail
	}
	head = append(head, h)
	if t != nil {
		return head, append([]*block{t}, tail[1:]...)
	}
	return head, tail[1:]
}
