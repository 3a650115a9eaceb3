package objections

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// WithoutOwn leaves of our threads what people said in them, and marks them as ours: they are our findings, which are counted once,
// and nothing that somebody else has to settle (decision 51). One in which nobody answered is left out, and one that we called cured and somebody
// opened again, saying something, is theirs (threats.md T441). One that nobody who may closed over what one says there is open. What the author answers
// there is about our finding ("P1 is fixed") and blocks nothing. Reviews of ours say nothing either. What is lost counts in the thread in which it stands, which is
// ours no more; where that is settled, nothing is left of what stands for deleted comments.
func WithoutOwn(d review.Discussion, s conversation.State, people conversation.People, lost []string) review.Discussion {
	ours, over, objected := map[string]bool{}, map[string]bool{}, map[string]conversation.Reply{}
	for _, t := range s.Threads {
		first, cured := firstOpen(people, t)
		ours[t.Node], over[t.Node], objected[t.Node] = !cured, cured || ClosedOver(people, t), first
	}
	var list []review.Thread
	gone := Parse(lost)
	for _, t := range d.Threads {
		t.Own, t.Resolved = ours[t.ID], t.Resolved && !over[t.ID]
		first, left := objected[t.ID], slices.IndexFunc(t.Comments, func(c review.Comment) bool {
			return slices.ContainsFunc(gone, func(o Objection) bool { return o.is(c) })
		})
		switch {
		case left >= 0:
			t.Resolved, t.Lost, t.Cured, t.Comments = false, true, true, t.Comments[left:]
		case first.Body != "":
			t.Cured = true
			t.Comments = slices.DeleteFunc(slices.Clone(t.Comments), func(c review.Comment) bool {
				return c.CreatedAt.Before(first.Timestamp) || c.CreatedAt.Equal(first.Timestamp) && c.DatabaseID < first.ID // GitHub tells seconds
			})
		case !t.Own:
			t.Comments = slices.DeleteFunc(slices.Clone(t.Comments), func(c review.Comment) bool { return c.Deleted })
			if at, over := Overruled(people, t); over {
				t.Resolved, t.Overruled, t.Comments = false, true, t.Comments[at:]
			}
		}
		if strings.HasPrefix(t.ID, lostThread) && !t.Lost {
			continue
		}
		if t.Own || t.Cured || t.Overruled {
			t.Comments = slices.Clone(t.Comments)
			for i, c := range t.Comments {
				if people.Voice(c.Author.Login, c.Author.Bot).Author {
					t.Comments[i].Author.Association = ""
				}
			}
		}
		if !t.Own || len(t.Comments) > 0 {
			list = append(list, t)
		}
	}
	d.Threads = list
	d.Reviews = slices.DeleteFunc(slices.Clone(d.Reviews), func(r review.Review) bool {
		return r.State == "COMMENTED" && sanitize.HasMarker(r.Body)
	})
	return d
}

// firstOpen is the first of what people say in a thread of ours that counts, where somebody objects to its cure: an objection, or what is grave, which stands whatever they
// object later.
func firstOpen(people conversation.People, t conversation.Thread) (first conversation.Reply, cured bool) {
	against := people.Objections(t, GraveThread(t))
	if len(against) == 0 {
		return first, false
	}
	return slices.MinFunc(append(against, OpenGrave(people, t)...), func(a, b conversation.Reply) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ID, b.ID)) // GitHub tells seconds
	}), true
}
