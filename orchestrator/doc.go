// Package orchestrator is the loop: snapshot, reviewers and comments analyzer in parallel, evidence, verdict, report,
// publication (design.md "Pipeline", spec.md L1). It decides nothing about the outside world: what it needs from
// git, GitHub, agents and storage it declares as small interfaces, and internal/cli hands them over.
//
// Everything that touches the world happens inside a named step, whose result is stored before the loop goes on; all
// between the steps is a pure function of their results. A run killed anywhere therefore continues where it was, and
// the same answers give the same report (design.md "Durable state").
package orchestrator
