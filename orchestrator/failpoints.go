package orchestrator

import "github.com/prloop/prloop/internal/failpoint"

// Where a kill has to be survived (threats.md K07 to K10, K17 and K20 to K24).
var (
	asking      = failpoint.New("reviewers: asking")
	oneAnswered = failpoint.New("reviewers: one answered")
	allAnswered = failpoint.New("reviewers: all answered")
	decided     = failpoint.New("consensus: decided")
	betweenPart = failpoint.New("report: between parts")
	// betweenSettling is between an answer in a thread and what follows on it (threats.md K52).
	betweenSettling = failpoint.New("threads: answered")
	// beforeCommand is before the own comment of each command, betweenAnswers between its comments on lines and the one that sums up.
	beforeCommand  = failpoint.New("command: before its comment")
	betweenAnswers = failpoint.New("command: between lines and summary")
	// scanPosted is behind the comment of a quick scan, scanEscalated behind the words that a full review follows (threats.md K70, K71).
	scanPosted    = failpoint.New("scan: posted")
	scanEscalated = failpoint.New("scan: escalated")
	// stickyFound is between finding the comment that gets another report and giving it (threats.md K75).
	stickyFound = failpoint.New("sticky: comment found")
	// contextDiscovered is between the two questions to a finder (threats.md K77).
	contextDiscovered = failpoint.New("context: discovered")
	rewritten         = failpoint.New("fix: rewritten")
	beforePush        = failpoint.New("push: before")
	afterPush         = failpoint.New("push: after")
	pushRecord        = failpoint.New("push: recorded")
	verifying         = failpoint.New("verify: running")
)
