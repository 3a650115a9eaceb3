package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/review"
)

// makeReceipt is the proof of review.
func (b *bench) makeReceipt() review.Receipt {
	req, snap := b.in.Request, b.in.Snapshot
	r := review.Receipt{
		ReviewID: req.ReviewID, PromptVersion: req.PromptVersion,
		BaseSHA: snap.Range.Base, MergeBaseSHA: snap.Range.MergeBase, HeadSHA: snap.Range.Head,
		MinReviewers: req.minReviewers(), Complete: b.complete, Status: snap.Brief.Status,
		Warnings: snap.Brief.Warnings, Isolation: req.Isolation, Config: req.Config, Masked: snap.Masked, Files: len(snap.Brief.Files),
		LeftOut: []review.LeftOut{}, Agents: []review.AgentReceipt{},
	}
	if req.Secrets == ShowSecrets {
		r.Masked, r.Warnings = 0, append(slices.Clone(r.Warnings), "The operator lets models see the values in files that look like secrets.")
	}
	r.FilesGiven, r.HunksGiven = given(snap.Brief)
	r.LeftOut, r.FilesReviewed = append(r.LeftOut, b.read.leftOut...), len(b.read.reviewed)
	for _, f := range snap.Brief.Files {
		r.Hunks += f.Hunks
	}
	r.Static = true
	for _, h := range b.in.Heard {
		r.Agents = append(r.Agents, h.Answer.Receipt)
		if rec := h.Answer.Receipt; rec.Role == review.RoleReviewer && rec.Kind != review.KindStatic {
			r.Static = false
		}
	}
	if len(b.in.Heard) == 0 {
		r.Static = false
	}
	return r
}
