package conversation

import (
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// Ruling is why a thread is settled although its finding was not fixed (decision 56). It stands in the block of our answer.
type Ruling string

// The rulings.
const (
	// Conceded: code shows that the finding does not hold.
	Conceded Ruling = "conceded"
	// Later: it holds, and may wait for another pull request.
	Later Ruling = "later"
	// Word: the word of the author stands, who may write, and whom nobody else is there to decide with.
	Word Ruling = "word"
)

func (r Ruling) valid() bool { return r == Conceded || r == Later || r == Word }

// MostTurns is how often we answer that we maintain a finding. After the next disagreement it is people's.
const MostTurns = 1

// Voice is somebody who said something in a thread, or resolved it.
type Voice struct {
	Login string
	// Author is true of the author of the pull request, Write of who may write to the repository, Bot of apps, Own of the account that we post
	// as, in whose name prloop resolves threads too. What that account says without our seal is a person's, who runs prloop as themselves.
	Author, Write, Bot, Own bool
}

// Heard reports whether what somebody says against a finding is judged.
func (v Voice) Heard() bool { return v.Login != "" && !v.Bot && (v.Author || v.Write) }

// Decides reports whether somebody settles any finding by resolving its thread: who may write to the repository, is not the author of the pull
// request, and is certainly not prloop, whose answer somebody may have deleted.
func (v Voice) Decides() bool { return v.Login != "" && !v.Bot && !v.Own && v.Write && !v.Author }

// People are those of a pull request, as GitHub knew them when it was asked.
type People struct {
	// Author is who opened it; Permissions are what others may do with the repository, in GitHub's words, by login in lower case.
	Author string `json:"author"`
	// ByApp is true when an app opened it: who is behind that, GitHub does not say.
	ByApp bool `json:"by_app,omitempty"`
	// Own is the account that we post as.
	Own         string            `json:"own,omitempty"`
	Permissions map[string]string `json:"permissions,omitempty"`
	// Reviewers are people other than the author who review it or were asked to, and who settle something by their word; teams that were asked to stand as org/team.
	Reviewers []string `json:"reviewers,omitempty"`
	// Approved is when people approved it whose approval stands and says no more than thanks, by login in lower case.
	Approved map[string]time.Time `json:"approved,omitempty"`
	// Outdated are threads about something grave, by id, of which such an approval says nothing any more: the code near them is not as it was at the commit that it was given on.
	Outdated map[string][]string `json:"outdated,omitempty"`
	// Voided are threads about something grave, by id, that somebody resolved nobody knows for which code. Returned are those of them whose code is again as it was when they were opened.
	Voided   []string `json:"-"`
	Returned []string `json:"-"`
}

// Void reports whether the resolution of a thread counts as not given: nobody can tell for which code it was, and the quoted code stands as it did.
func (p People) Void(t Thread) bool { return t.Closed && slices.Contains(p.Voided, t.ID) }

// Reopens reports whether we open a thread again whose resolution is void. Where we may not, its finding gets another thread when it is raised again, and nothing else
// counts: nobody could settle that here.
func (p People) Reopens(t Thread) bool { return p.Void(t) && !t.Unresolvable }

// Returns reports whether such a thread counts also where nobody raises its finding: its code is as it was.
func (p People) Returns(t Thread) bool { return p.Reopens(t) && slices.Contains(p.Returned, t.ID) }

// Voice is somebody as the rules see them. Who is not known may nothing.
func (p People) Voice(login string, bot bool) Voice {
	name := strings.ToLower(login)
	return Voice{
		Login: login, Bot: bot || name == "" || name == "ghost" || strings.HasSuffix(name, "[bot]"),
		Author: name != "" && name == strings.ToLower(p.Author), Write: review.MayWrite(p.Permissions[name]), Own: name != "" && name == strings.ToLower(p.Own),
	}
}

// Logins are those whose permission decides something in these threads: whoever said something in one that has no answer of ours yet, and
// whoever resolved one; own is the account that we resolve them as, where an answer of ours says so, and empty where that is the author's, who may have done it by hand.
func (s State) Logins(own string) (out []string) {
	seen := map[string]bool{}
	add := func(login string, bot bool) {
		if name := strings.ToLower(login); !bot && name != "" && name != "ghost" && !strings.HasSuffix(name, "[bot]") && !seen[name] {
			seen[name] = true
			out = append(out, login)
		}
	}
	for _, t := range s.Threads {
		switch {
		case t.gone(): // that may turn out to be void
			if t.Closed && !strings.EqualFold(t.ClosedBy, own) {
				add(t.ClosedBy, t.ClosedByBot)
			}
			for _, r := range t.DeveloperReplies {
				add(r.Author, r.Bot)
			}
		case t.Closed && t.Status == Resolved && strings.EqualFold(t.ClosedBy, own):
		case t.Closed:
			add(t.ClosedBy, t.ClosedByBot)
			for _, r := range t.contested() {
				add(r.Author, r.Bot)
			}
		case len(t.unanswered()) > 0, len(t.contested()) > 0: // the judge is told all of it
			for _, r := range t.DeveloperReplies {
				add(r.Author, r.Bot)
			}
		}
	}
	return out
}

// unanswered are the replies since our last answer, in a thread in which we answer.
func (t Thread) unanswered() []Reply {
	if t.Closed || t.Status == HandedOver || !t.Live() {
		return nil
	}
	return t.since()
}

// since are the replies since our last answer. What was edited after we had settled the thread was said then; in a dispute it is no further turn.
func (t Thread) since() (out []Reply) {
	for i, r := range t.DeveloperReplies {
		if edited := !r.Edited.IsZero() && !r.Edited.Before(t.AnsweredAt); i >= t.Answered || edited && (t.Cured || t.Status == Resolved) {
			out = append(out, r)
		}
	}
	return out
}

// objections are what was said since we said that the problem of a thread is gone, and, where we have not said that, of code that had changed since the
// thread was opened. What a ruling of ours answers is none.
func (t Thread) objections() []Reply {
	return t.against(func(r Reply) bool { return r.After })
}

// contested are the replies that may be objections, before anybody knows what the code was like at the heads they were said at.
func (t Thread) contested() []Reply {
	return t.against(func(r Reply) bool { return r.Commit != "" && r.Commit != t.Head })
}

// against are the replies since we said that the problem of a thread is gone, and where we have not said that, those of a kind that no ruling of ours answers.
func (t Thread) against(of func(Reply) bool) (out []Reply) {
	if t.gone() {
		return t.since()
	}
	for i, r := range t.DeveloperReplies {
		if of(r) && (t.Ruling == "" || i >= t.Answered) {
			out = append(out, r)
		}
	}
	return out
}

// Objection is what somebody else than the author has said, in a thread that is open, of a cure that we told, or may come to: since we said that the problem is
// gone, or at a head where the code of the thread had changed. It counts from somebody who may write, or belongs here by what GitHub says, which may
// block (decision 9). GitHub does not tell whether the thread ever was closed, which it was not where prloop may not
// resolve threads: whatever is more than thanks may be an objection. A thread is open for it that nobody closed whose word settles it (reconciles), nor they who object. Who approves
// the pull request later takes back what they said, but for what they say as P0 or P1.
func (p People) Objection(t Thread, grave bool) (Reply, bool) {
	return p.objects(p.Objections(t, grave))
}

// Objections are all of these.
func (p People) Objections(t Thread, grave bool) []Reply {
	if t.Closed && p.reconciles(t, grave) {
		return nil
	}
	return slices.DeleteFunc(t.objections(), func(r Reply) bool {
		return !p.MayObject(r) || p.approvedSince(t, r) || t.Closed && !t.ClosedByBot && strings.EqualFold(r.Author, t.ClosedBy)
	})
}

// reconciles reports whether a closed thread was closed in a way that settles what somebody says against a cure: by a person other than the author, who then may
// write, by the author who may write where it is not grave, or by us when we said that the problem is gone. An app is nobody, unless we may be that app. In an app's
// pull request nobody is proven to be another than who is behind it, and where it is grave only we are left.
func (p People) reconciles(t Thread, grave bool) bool {
	by := p.Voice(t.ClosedBy, t.ClosedByBot)
	switch {
	case by.Bot:
		return t.gone() && p.Voice(p.Own, false).Bot
	case by.Author, by.Own && !t.gone(): // somebody may have deleted our answer
		return by.Write && !grave
	case p.ByApp && grave:
		return by.Own
	}
	return true
}

// MayObject reports whether a reply may be an objection to a cure: more than thanks, from somebody else than the author who may block. What somebody else has edited
// are not their words: nobody knows what they said.
func (p People) MayObject(r Reply) bool {
	return p.mayBlock(r) && (r.EditedBy != "" || !OnlyThanks(r.Body))
}

// mayBlock reports whether a reply is from somebody else than the author who may block.
func (p People) mayBlock(r Reply) bool {
	v := p.Voice(r.Author, r.Bot)
	return !v.Bot && !v.Author && (v.Write || review.MayBlock(r.Association))
}

// objects gives the first of some replies to an answer of ours that may object to it.
func (p People) objects(to []Reply) (Reply, bool) {
	if at := slices.IndexFunc(to, p.MayObject); at >= 0 {
		return to[at], true
	}
	return Reply{}, false
}

// Contradicts reports whether somebody says more than thanks, at a head, in a thread that may be cured there, who may object and has not approved the pull request since.
func (p People) Contradicts(t Thread, head string) bool {
	_, objected := p.objects(slices.DeleteFunc(slices.Clone(t.DeveloperReplies), func(r Reply) bool { return !r.After && r.Commit != head || p.approvedSince(t, r) }))
	return objected
}

// Later is what people who may object have said in a thread about something grave at later heads than that at which it was opened, unless somebody whose word settles it
// has resolved the thread, or they themselves approved the pull request since.
func (p People) Later(t Thread) []Reply {
	closed := t.Closed && !p.Returns(t)
	if closed && p.reconciles(t, true) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.DeveloperReplies), func(r Reply) bool {
		return r.Commit == "" || r.Commit == t.Head || !p.MayObject(r) || p.approvedSince(t, r) || closed && !t.ClosedByBot && strings.EqualFold(r.Author, t.ClosedBy)
	})
}

// approvedSince reports whether who wrote a reply in a thread approved the pull request after it, and after whoever edited it last, with the code near that as it is. Approvals of
// our own account may be ours.
func (p People) approvedSince(t Thread, r Reply) bool {
	name := strings.ToLower(r.Author)
	at := p.Approved[name]
	return at.After(r.Timestamp) && at.After(r.Edited) && !slices.Contains(p.Outdated[name], t.ID) && !p.Voice(r.Author, r.Bot).Own
}

// Lapsed reports whether a reply counts only because who wrote it approved other code since.
func (p People) Lapsed(t Thread, r Reply) bool {
	counts := !p.approvedSince(t, r)
	p.Outdated = nil
	return counts && p.approvedSince(t, r)
}

// Weighs reports whether a thread about something grave, whose code still stands, counts although nobody raises its finding again: it is maintained, or left to people, and
// nobody has resolved it whose word settles it (Settled), or people said something later.
func (p People) Weighs(t Thread, maintained bool) bool {
	resolved := t.Closed && p.Voice(t.ClosedBy, t.ClosedByBot).Decides() && !p.ByApp && !p.Returns(t)
	return maintained && !resolved || len(p.Later(t)) > 0
}

// stands reports whether a ruling of ours settles a thread that is open because we may not resolve it. GitHub does not tell whether somebody opened it again,
// so they have to say why: until somebody objects the thread is as a closed one. The author, whom the ruling favours, is not asked back.
func (p People) stands(t Thread) bool {
	if t.Closed || !t.Unresolvable || t.Ruling == "" {
		return false
	}
	_, objected := p.objects(t.since())
	return !objected
}

// Live reports whether a thread still says something that prloop stands by, as Thread.Live, and no ruling of ours settles it although it is open.
func (p People) Live(t Thread) bool { return t.Live() && !p.stands(t) }

// Open are the replies in a thread that are to be judged: those since our last answer, if somebody gave one who is heard. Nobody is
// asked about what a bot or a stranger says.
func (p People) Open(t Thread) (out []Reply) {
	if p.stands(t) {
		return nil
	}
	for _, r := range t.unanswered() {
		if p.Voice(r.Author, r.Bot).Heard() {
			out = append(out, r)
		}
	}
	return out
}

// Settled reports whether a finding with a thread does not count any more, and by whose word: a thread that we settled by a ruling, which
// is closed or stays open because we may not resolve it, or one that a person resolved. grave is true of a P0, a P1 and a security finding:
// for these nothing counts but a person who decides, and no ruling of ours; and in an app's pull request nobody is proven to be another than who opened it. What somebody opened again, nobody who may
// not write resolves again. The finding that comes back after its problem was gone is another one. What is void settles nothing.
func (p People) Settled(t Thread, grave bool) (by, why string, ok bool) {
	v := p.Voice(t.ClosedBy, t.ClosedByBot)
	switch {
	case !t.Closed && !p.stands(t), t.Status == Resolved && t.Ruling == "", p.Void(t):
		return "", "", false
	case t.Ruling == "" && (v.Decides() && !p.ByApp || !grave && v.Write && !v.Bot && !p.Untold(t)):
		return v.Login, "resolved the thread", true
	case !grave && t.Ruling != "" && (v.Own || v.Bot || v.Write): // GitHub does not name an app that resolved it, and nobody did where it is open
		return t.Word, string(t.Ruling) + ": " + t.Reason, true
	}
	return "", "", false
}

// Untold reports whether nobody can tell if we resolved a thread, or a person who runs prloop as themselves did.
func (p People) Untold(t Thread) bool {
	return t.Closed && t.Unsure && p.Voice(t.ClosedBy, t.ClosedByBot).Own
}

// Judged is what a judge says of a dispute, and what the machine found out about that.
type Judged struct {
	Ruling review.Ruling
	Risk   review.Risk
	// Proven is true when the code that the judge shows stands in the repository and says more than the finding quotes.
	Proven bool
}

// Answer is what we say in a disputed thread.
type Answer struct {
	Status Status
	// Ruling and Word are set where it is resolved. Because is why it is escalated.
	Ruling  Ruling
	Word    string
	Because Because
}

// Because is why a dispute is a person's.
type Because string

// The reasons.
const (
	// BecauseGrave: a judge agrees with what was said against a finding that nobody's model takes out.
	BecauseGrave Because = "grave"
	// BecauseTurns: both sides have said what they have to say.
	BecauseTurns Because = "turns"
	// BecauseDivided: a judge would settle it, and people do not agree.
	BecauseDivided Because = "divided"
	// BecauseSaid: a person says something grave in the thread, which is theirs whatever becomes of ours.
	BecauseSaid Because = "said"
	// BecauseVoid: nobody can tell for which code somebody resolved the thread, or we said that its problem is gone, and the code is as it was.
	BecauseVoid Because = "void"
)

// Decide gives our answer in a dispute; ok is false when there is nothing to say. grave is as in Settled. It is a law that no ruling of a
// judge alone settles a grave finding, and that none settles one over what somebody objects: that is people's.
func (p People) Decide(t Thread, grave bool, j Judged) (a Answer, ok bool) {
	a, ok = p.decide(t, grave, j)
	if _, objected := p.objects(t.objections()); a.Status == Resolved && (objected || p.divided(t)) {
		return Answer{Status: HandedOver, Because: BecauseDivided}, true
	}
	return a, ok
}

// decide is Decide before anybody asks who objects.
func (p People) decide(t Thread, grave bool, j Judged) (a Answer, ok bool) {
	said := p.Open(t)
	if len(said) == 0 {
		return Answer{}, false
	}
	switch j.Ruling {
	case review.RulingConceded:
		switch {
		case !j.Proven: // nothing shows it
		case grave:
			return Answer{Status: HandedOver, Because: BecauseGrave}, true
		default:
			return Answer{Status: Resolved, Ruling: Conceded}, true
		}
	case review.RulingLater:
		if !grave && j.Risk == review.RiskNone {
			return Answer{Status: Resolved, Ruling: Later}, true
		}
	case review.RulingMaintained:
	default: // nobody disagrees, or nobody can tell
		return Answer{}, false
	}
	if t.Turns < MostTurns {
		return Answer{Status: Disputed}, true
	}
	if v := p.Voice(p.Author, false); !grave && p.alone(t) && v.Write && slices.ContainsFunc(said, func(r Reply) bool { return p.Voice(r.Author, r.Bot).Author }) {
		return Answer{Status: Resolved, Ruling: Word, Word: v.Login}, true
	}
	return Answer{Status: HandedOver, Because: BecauseTurns}, true
}

// divided reports whether the author of a pull request argues in a thread in which somebody else who may write has said more than thanks. No model says for whom they
// speak.
func (p People) divided(t Thread) bool {
	return slices.ContainsFunc(p.Open(t), func(r Reply) bool { return p.Voice(r.Author, r.Bot).Author }) &&
		slices.ContainsFunc(t.DeveloperReplies, func(r Reply) bool { return p.MayObject(r) && p.Voice(r.Author, r.Bot).Write })
}

// alone reports whether the author of a pull request has nobody to settle a dispute with: nobody reviews it, and nobody else who may block says anything in the thread.
// Whether they speak for the author or for us is for nobody to guess: one click of theirs tells.
func (p People) alone(t Thread) bool {
	return len(p.Reviewers) == 0 && !slices.ContainsFunc(t.DeveloperReplies, p.mayBlock)
}
