package intake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/drafts"
	"github.com/prloop/prloop/review"
)

// Rules are the operator's on which pull requests are reviewed without anybody asking.
type Rules struct {
	// Drafts and Forks let those be reviewed, NoBots leaves out the pull requests of bots.
	Drafts, Forks, NoBots bool
	// Labels are the labels one of which a pull request must have; none for all.
	Labels []string
	// Quiet are hours in which nothing begins. PerAuthor is how many reviews of one author's pull requests begin in a day; 0 is any number.
	Quiet     Hours
	PerAuthor int
}

// Known is what earlier runs leave of a pull request.
type Known struct {
	// Head is the commit that was reviewed last, Run the run that did, Standing what was read of the reviews of people, as the function of that name tells it, by the
	// newest run about the commit that is the head now. Judged is true when there is one, also where another commit was reviewed since.
	Head, Run, Standing string
	Judged              bool
	// Silent is true when the status of that commit is another's word now.
	Silent bool
	// Anew is true when that does not count: what a verdict rests on may have changed since.
	Anew bool
	// Heard tells what people who may block had said in threads when that run read them; empty where none did.
	Heard string
	// Said is true when somebody who may block said something since that run.
	Said bool
	// Relabelled is true when labels that the verdict rests on were set or taken off since that run read them.
	Relabelled bool
	// Told is true when only events tell that.
	Told bool
	// Overtaken is the newest run about the commit that is the head now that ended because the pull request was not open any more, or had another head.
	Overtaken string
	// Unjudged is true when such a run is newer than all that judged the commit.
	Unjudged bool
	// Stopped says who asked for a stop about the commit that is the head now, since the last run began. Nothing is fixed then. StoppedAt is how often the
	// pull request had been asked for.
	Stopped   string
	StoppedAt int64
	// Lately is when reviews began of the commit that is the head now, the newest first.
	Lately []time.Time
}

// Seen is how a pull request was when it was looked at last. Its text is what is stored of it.
type Seen struct {
	// State is what Decide looks at.
	State string
	// Updated is when GitHub says that anything of it changed last.
	Updated time.Time
}

// SeenAs reads the text of a Seen; the zero value when it is none.
func SeenAs(text string) (s Seen) {
	parts := strings.Split(text, "\n")
	if len(parts) == 2 {
		s.State = parts[0]
		s.Updated, _ = time.Parse(time.RFC3339Nano, parts[1]) // without it, it is looked at again
	}
	return s
}

func (s Seen) String() string {
	return s.State + "\n" + s.Updated.UTC().Format(time.RFC3339Nano)
}

// Still reports whether a pull request, as a list of GitHub's tells of it, is as it was seen.
func (s Seen) Still(listed review.PullRequest) bool {
	return s.State == state(listed) && !listed.UpdatedAt.After(s.Updated)
}

// Open reports whether the pull request was open.
func (s Seen) Open() bool { return strings.HasPrefix(s.State, open+" ") }

// Head is the commit that was the head; empty where nobody looked.
func (s Seen) Head() string {
	_, rest, _ := strings.Cut(s.State, " ")
	head, _, _ := strings.Cut(rest, " ")
	return head
}

// Retargeted reports whether a pull request has another base branch than the one it was seen with, and the same head.
func (s Seen) Retargeted(pr review.PullRequest) bool {
	return s.Head() == pr.HeadSHA && s.State[strings.LastIndex(s.State, " ")+1:] != pr.BaseRef
}

// Gone is how a pull request is that GitHub does not show any more: as one that was closed, for it may come back.
func (s Seen) Gone() Seen {
	if rest, was := strings.CutPrefix(s.State, open+" "); was {
		s.State = "CLOSED " + rest
	}
	return Seen{State: s.State}
}

// See is how a pull request is now.
func See(pr review.PullRequest) Seen {
	return Seen{State: state(pr), Updated: pr.UpdatedAt}
}

// Standing tells the reviews of people that stand now from those that stood before.
func Standing(pr review.PullRequest) string {
	if pr.Standing == "" {
		return ""
	}
	return digest(pr.Standing)
}

func digest(said string) string {
	sum := sha256.Sum256([]byte(said))
	return hex.EncodeToString(sum[:8])
}

// NoLabels is what LabelsRead says where none of the labels was ever set.
const NoLabels = "none"

// LabelsRead tells which of some labels stand on a pull request, and by which events, from what stands later: who set one again may not be who set it before.
func LabelsRead(pr review.PullRequest, labels []string) string {
	said := ""
	for _, l := range labels {
		stands := slices.ContainsFunc(pr.Labels, func(s string) bool { return strings.EqualFold(s, l) })
		if event := cmp.Or(pr.Labelled[strings.ToLower(l)], pr.Labelled[""]); stands || event != "" {
			said += fmt.Sprintf("%q %v %s ", l, stands, event)
		}
	}
	if said == "" {
		return NoLabels
	}
	return digest(said)
}

// state tells how a pull request is from how it was: what Decide looks at, in one line.
func state(pr review.PullRequest) string {
	labels := slices.Sorted(slices.Values(pr.Labels))
	return fmt.Sprintf("%s %s %v %q %s", pr.State, pr.HeadSHA, pr.Draft, labels, pr.BaseRef)
}

// Merged, Closed and open are GitHub's words for the states of a pull request.
const (
	Merged = "MERGED"
	Closed = "CLOSED"
	open   = "OPEN"
)

// Contested reports whether people who may block have another word on the commit that is the head now than when it was reviewed: the verdict rests on theirs. Whose word its status is makes no
// difference (threats.md T495).
func (k Known) Contested(pr review.PullRequest) bool {
	return k.About(pr) && (k.Standing != Standing(pr) || k.Said)
}

// Urgent reports whether the review of what people contest waits for nothing. Where one was overtaken it does: an author closes and opens their pull request as often as
// they like (threats.md T547), and the run that was overtaken has left no success.
func (k Known) Urgent(pr review.PullRequest) bool { return k.Contested(pr) && !k.Unjudged }

// About reports whether a run judged the commit that is the head now, be it that another one was reviewed since (threats.md T531).
func (k Known) About(pr review.PullRequest) bool { return k.Judged || k.Head == pr.HeadSHA }

// Decide says why a pull request, as it is now, is not reviewed; empty when it is. What was reviewed is looked at again when it is contested, also where it was reviewed
// because somebody asked (threats.md T487), and where somebody asked for a stop since (threats.md T486). So it is where labels that it rests on
// were set or taken off (threats.md T860).
func Decide(pr review.PullRequest, r Rules, k Known) (why string) {
	labelled := func(l string) bool { return slices.Contains(pr.Labels, l) }
	switch {
	case pr.State != open:
		return "the pull request is " + strings.ToLower(pr.State)
	case k.Contested(pr), k.Relabelled:
		return ""
	case k.Stopped != "":
		return k.Stopped + ": it is reviewed when it has another commit, or when somebody asks for it"
	case drafts.Why(pr.Draft, r.Drafts, false) != "":
		return drafts.Why(pr.Draft, r.Drafts, false)
	case pr.CrossRepository && !r.Forks:
		return "the pull request is a fork's: it is reviewed when somebody who may write asks for it by comment"
	case pr.Author.Bot && r.NoBots:
		return "the pull request is a bot's"
	case len(r.Labels) > 0 && !slices.ContainsFunc(r.Labels, labelled):
		return fmt.Sprintf("the pull request has none of the labels %s", strings.Join(r.Labels, ", "))
	case k.Head == pr.HeadSHA && !k.Anew && !k.Silent:
		return fmt.Sprintf("the commit %.7s was reviewed: run %s", pr.HeadSHA, k.Run)
	}
	return ""
}
