package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// objected are the objections that are open, as a marker keeps them. Where nothing is left of what was remembered, that is said. proven are the threads of which a judge shows the cure.
func (s Snapshot) objected(proven ...string) []string {
	if s.Conversation == nil {
		return s.Remembered
	}
	names := objections.Open(s.persons(), s.Conversation.Threads, s.Unchanged, s.Lost, proven...)
	if len(names) == 0 && len(s.Remembered) > 0 {
		return []string{sanitize.None}
	}
	return names
}

// objected are those of the snapshot with what is maintained, and what is cured, in this round.
func (in Inputs) objected(cured []cure) []string {
	s, ruled := in.Snapshot, in.rulings()
	if s.Conversation != nil && len(ruled) > 0 {
		now := *s.Conversation
		now.Threads = slices.Clone(now.Threads)
		for i := range now.Threads {
			if st := ruled[i].Status; st == conversation.Disputed || st == conversation.HandedOver {
				now.Threads[i].Maintained = s.Range.Head
			}
		}
		s.Conversation = &now
	}
	var proven []string
	for _, c := range cured {
		if c.fact != nil {
			proven = append(proven, s.Conversation.Threads[c.thread].ID)
		}
	}
	return s.objected(proven...)
}

// remember adds to what is remembered what our newest report keeps that keeps any.
func remember(known []string, comments []review.Comment, ours func(review.Comment) bool) []string {
	var newest []string
	var at time.Time
	for _, c := range comments {
		m, _ := sanitize.ParseMarker(c.Body)
		if written := writtenAt(c, m); len(m.Objected) > 0 && !written.Before(at) && ours(c) {
			newest, at = m.Objected, written
		}
	}
	return objections.Merge(known, newest)
}

// recordedObjections are those that were open in the newest run on record that read threads: somebody may have deleted its report, and one that was overtaken posted none.
func (l *Loop) recordedObjections(ctx context.Context, req Request) ([]string, error) {
	if l.Stored == nil {
		return nil, nil
	}
	for s, err := range l.Stored(ctx, req) {
		if r := s.Result.Receipt; err != nil || r.ThreadsRead != "" || len(r.Objected) > 0 {
			return slices.DeleteFunc(slices.Clone(r.Objected), func(name string) bool { return name == sanitize.None }), err
		}
	}
	return nil, nil
}

// deleted reports whether a finding is of an objection that was deleted, which no fixer can do anything about.
func (s Snapshot) deleted(f review.Finding) bool {
	return slices.ContainsFunc(s.Discussion.Threads, func(t review.Thread) bool {
		return f.ID == "thread-"+t.ID && slices.ContainsFunc(t.Comments, func(c review.Comment) bool { return c.Deleted && f.Source.Timestamp.Equal(c.CreatedAt) })
	})
}
