package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/review"
)

// makeReceipt is the proof of review.
func (g gathered) makeReceipt() review.Receipt {
	req, snap := g.in.Request, g.in.Snapshot
	r := review.Receipt{
		ReviewID: req.ReviewID, PromptVersion: req.PromptVersion,
		BaseSHA: snap.Range.Base, MergeBaseSHA: snap.Range.MergeBase, HeadSHA: snap.Range.Head,
		MinReviewers: req.minReviewers(), Complete: g.complete, Status: snap.Brief.Status,
		Warnings: snap.Brief.Warnings, Isolation: req.Isolation, Config: req.Config, Calibration: g.calibrationWords(), Masked: snap.Masked, Files: len(snap.Brief.Files),
		LeftOut: []review.LeftOut{}, Agents: []review.AgentReceipt{}, ReviewsRead: intake.Standing(snap.PR), ThreadsRead: snap.Voiced, LabelsRead: snap.LabelsRead, Objected: g.in.objected(nil),
	}
	if req.Secrets == ShowSecrets {
		r.Masked, r.Warnings = 0, append(slices.Clone(r.Warnings), "The operator lets models see the values in files that look like secrets.")
	}
	r.FilesGiven, r.HunksGiven = snap.Brief.Given()
	r.LeftOut, r.FilesReviewed = req.Context.counted(g.read.LeftOut), len(g.read.Reviewed)
	for _, f := range snap.Brief.Files {
		r.Hunks += f.Hunks
	}
	r.Static = true
	for _, h := range g.in.Reports {
		r.Agents = append(r.Agents, h.Answer.Receipt)
		if rec := h.Answer.Receipt; (rec.Role == review.RoleReviewer || rec.Role == review.RoleCommand) && rec.Kind != review.KindStatic {
			r.Static = false
		}
	}
	if s := g.in.Scan; s != nil {
		r.Agents = append(r.Agents, s.Answer.Receipt)
	}
	if f := g.in.Found; f != nil {
		for _, h := range f.Reports {
			r.Agents = append(r.Agents, h.Answer.Receipt)
		}
		r.Found = &f.Receipt
	}
	if v := g.in.Verifier; v != nil {
		r.Agents = append(r.Agents, v.Answer.Receipt)
	}
	for _, h := range g.in.Disputes {
		r.Agents = append(r.Agents, h.Answer.Receipt)
	}
	if len(g.in.Reports) == 0 {
		r.Static = false
	}
	return r
}
