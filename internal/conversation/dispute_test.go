package conversation_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// crowd are the people of the tables: ada opened the pull request, and may write where a row says so.
func crowd(adaWrites bool, reviewers ...string) conversation.People {
	p := conversation.People{Author: "ada", Own: "prloop", Permissions: map[string]string{"boss": "admin", "guest": "read", "prloop": "write"}, Reviewers: reviewers}
	if adaWrites {
		p.Permissions["ada"] = "write"
	}
	return p
}

func disagrees(login string) conversation.Reply {
	return conversation.Reply{Author: login, Body: "It cannot be empty."}
}

// What is said in a disputed thread.
func TestDecide(t *testing.T) {
	conceded := conversation.Judged{Ruling: review.RulingConceded, Proven: true}
	later := conversation.Judged{Ruling: review.RulingLater, Risk: review.RiskNone}
	maintained := conversation.Judged{Ruling: review.RulingMaintained}
	silent := conversation.Answer{}
	disputed := conversation.Answer{Status: conversation.Disputed}
	turns := conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseTurns}
	divided := conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseDivided}
	word := func(of string) conversation.Answer {
		return conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Word, Word: of}
	}
	for _, row := range []struct {
		name   string
		people conversation.People
		turns  int
		grave  bool
		by     string
		judged conversation.Judged
		want   conversation.Answer
	}{
		{"code shows that the author is right", crowd(false), 0, false, "ada", conceded, conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Conceded}},
		{"a judge is convinced in the second turn", crowd(true), 1, false, "ada", conceded, conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Conceded}},
		{"code shows that somebody else is right", crowd(false), 0, false, "boss", conceded, conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Conceded}},
		{"code shows it, and somebody else who may write argues too", crowd(false), 0, false, "ada boss", conceded, divided},
		{"it may wait, and they argue too", crowd(false), 0, false, "boss ada", later, divided},
		{"a guest argues too", crowd(false), 0, false, "ada guest", conceded, conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Conceded}},
		{"nothing shows it", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingConceded}, disputed},
		{"nothing shows it, twice, and people review", crowd(true, "boss"), 1, false, "ada", conversation.Judged{Ruling: review.RulingConceded}, turns},
		{"it may wait", crowd(true), 0, false, "ada", later, conversation.Answer{Status: conversation.Resolved, Ruling: conversation.Later}},
		{"waiting loses data", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingLater, Risk: review.RiskDataLoss}, disputed},
		{"waiting leaks", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingLater, Risk: review.RiskLeak}, disputed},
		{"waiting takes the service down", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingLater, Risk: review.RiskOutage}, disputed},
		{"nobody says what waiting risks", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingLater}, disputed},
		{"maintained", crowd(true), 0, false, "ada", maintained, disputed},
		{"maintained twice, and people review", crowd(true, "boss"), 1, false, "ada", maintained, turns},
		{"maintained twice, and nobody reviews: the developer's word stands", crowd(true), 1, false, "ada", maintained, word("ada")},
		{"that of an author who may not write does not", crowd(false), 1, false, "ada", maintained, turns},
		{"a reviewer insists: one click of theirs decides", crowd(true, "boss"), 1, false, "boss", maintained, turns},
		{"somebody else who may write has the last word: it may be for us", crowd(false), 1, false, "ada boss", maintained, turns},
		{"or for an author who may write", crowd(true), 1, false, "ada boss", maintained, turns},
		{"they spoke first", crowd(true), 1, false, "boss ada", maintained, turns},
		{"they speak alone", crowd(true), 1, false, "boss", maintained, turns},
		{"a guest and a stranger are nobody to decide with", crowd(true), 1, false, "guest eve ada", maintained, word("ada")},
		{"nobody disagrees", crowd(true), 0, false, "ada", conversation.Judged{Ruling: review.RulingNone}, silent},
		{"nobody answers for it", crowd(true), 0, false, "ada", conversation.Judged{}, silent},
		{"a word that is no ruling", crowd(true), 0, false, "ada", conversation.Judged{Ruling: "approved", Proven: true}, silent},
		{"a guest is not heard", crowd(true), 0, false, "guest", conceded, silent},
		{"nor is a stranger", crowd(true), 0, false, "eve", conceded, silent},
		{"nor an app", crowd(true), 0, false, "helper[bot]", conceded, silent},

		{"grave: code shows that the author is right", crowd(true), 0, true, "ada", conceded, conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseGrave}},
		{"grave: code shows that a reviewer is right", crowd(true), 0, true, "boss", conceded, conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseGrave}},
		{"grave: nothing shows it", crowd(true), 0, true, "ada", conversation.Judged{Ruling: review.RulingConceded}, disputed},
		{"grave: it may not wait", crowd(true), 0, true, "ada", later, disputed},
		{"grave: maintained", crowd(true), 0, true, "ada", maintained, disputed},
		{"grave: maintained twice, and nobody reviews", crowd(true), 1, true, "ada", maintained, turns},
		{"grave: maintained twice against a reviewer", crowd(true), 1, true, "boss", maintained, turns},
		{"grave: later, twice", crowd(true), 1, true, "ada", later, turns},
	} {
		thread := conversation.Thread{ID: "1", Status: conversation.Pending, Turns: row.turns}
		for _, login := range strings.Fields(row.by) {
			thread.DeveloperReplies = append(thread.DeveloperReplies, disagrees(login))
		}
		if row.turns > 0 {
			thread.Status = conversation.Disputed
		}
		got, ok := row.people.Decide(thread, row.grave, row.judged)
		if got != row.want || ok != (row.want != silent) {
			t.Errorf("%s: %+v, %v; want %+v", row.name, got, ok, row.want)
		}
	}
}

// An author who says nothing in the turn has not insisted, and an owner, member or collaborator may block also where nobody knows what they may do.
func TestTheWordIsTheAuthorsAlone(t *testing.T) {
	ada, eve := disagrees("ada"), disagrees("eve")
	eve.Association = "MEMBER"
	for _, thread := range []conversation.Thread{
		{Status: conversation.Disputed, Turns: 1, Answered: 1, DeveloperReplies: []conversation.Reply{ada, disagrees("boss")}},
		{Status: conversation.Disputed, Turns: 1, Answered: 1, DeveloperReplies: []conversation.Reply{eve, ada}},
	} {
		if got, _ := crowd(true).Decide(thread, false, conversation.Judged{Ruling: review.RulingMaintained}); got.Status != conversation.HandedOver {
			t.Errorf("%+v, where somebody else may decide: %+v", thread.DeveloperReplies, got)
		}
	}
}

// What somebody says against a cure stands over the author's closing the thread where their word does not settle it, over an app's that is not prloop (threats.md T518), and
// over nobody else's (threats.md T479).
func TestObjection(t *testing.T) {
	for _, row := range []struct {
		closedBy, own              string
		writes, light, heavy, bots bool
	}{
		{closedBy: "ada", light: true, heavy: true},
		{closedBy: "ada", writes: true, heavy: true},
		{closedBy: "boss"},
		{closedBy: "prloop"},
		{closedBy: "", light: true, heavy: true},
		{closedBy: "helper[bot]", bots: true, light: true, heavy: true},
		{closedBy: "", own: "prloop[bot]"},
	} {
		thread := conversation.Thread{Status: conversation.Resolved, Closed: true, ClosedBy: row.closedBy, ClosedByBot: row.bots, DeveloperReplies: []conversation.Reply{disagrees("boss")}}
		for grave, want := range map[bool]bool{false: row.light, true: row.heavy} {
			p := crowd(row.writes)
			p.Own = cmp.Or(row.own, p.Own)
			if _, got := p.Objection(thread, grave); got != want {
				t.Errorf("closed by %q, grave %t: %t, want %t", row.closedBy, grave, got, want)
			}
		}
	}
}

// In an app's pull request anybody may be behind it: over what is said against the cure of something grave only they close the thread who said it, and we who told the
// cure (threats.md T543).
func TestObjectionInAnAppsPullRequest(t *testing.T) {
	boss, helper := disagrees("boss"), disagrees("helper")
	for _, row := range []struct {
		closedBy     string
		light, heavy bool
		said         []conversation.Reply
	}{
		{closedBy: "helper", heavy: true, said: []conversation.Reply{boss}},
		{closedBy: "boss", said: []conversation.Reply{boss}},
		{closedBy: "helper", heavy: true, said: []conversation.Reply{helper, boss}},
		{closedBy: "prloop", said: []conversation.Reply{boss}},
	} {
		p := crowd(false)
		p.Author, p.ByApp, p.Permissions["helper"] = "renovate[bot]", true, "write"
		thread := conversation.Thread{Status: conversation.Resolved, Closed: true, ClosedBy: row.closedBy, DeveloperReplies: row.said}
		for grave, want := range map[bool]bool{false: row.light, true: row.heavy} {
			if _, got := p.Objection(thread, grave); got != want {
				t.Errorf("closed by %q, grave %t: %t, want %t", row.closedBy, grave, got, want)
			}
		}
	}
}

// Who objects and then closes the thread has settled that, also as the account that we post as, which settles nothing of others (threats.md T544).
func TestWhoObjectsSettlesIt(t *testing.T) {
	own := disagrees("prloop")
	own.After = true
	for _, row := range []struct {
		said conversation.Reply
		want bool
	}{{own, false}, {conversation.Reply{Author: "boss", Body: "No.", After: true}, true}} {
		thread := conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "prloop", DeveloperReplies: []conversation.Reply{row.said}}
		if _, got := crowd(false).Objection(thread, true); got != row.want {
			t.Errorf("said by %q and closed by prloop: %t, want %t", row.said.Author, got, row.want)
		}
	}
}

// What was edited after we settled a thread is said then (threats.md T498); in a dispute it is no further turn.
func TestEditedReplies(t *testing.T) {
	answered := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	edited := func(at time.Time, status conversation.Status) conversation.Thread {
		r := disagrees("boss")
		r.Edited = at
		return conversation.Thread{Status: status, Answered: 1, AnsweredAt: answered, DeveloperReplies: []conversation.Reply{r}}
	}
	for at, want := range map[time.Time]bool{{}: false, answered.Add(-time.Second): false, answered: true, answered.Add(time.Hour): true} {
		if _, got := crowd(false).Objection(edited(at, conversation.Resolved), true); got != want {
			t.Errorf("edited at %v: %t, want %t", at, got, want)
		}
	}
	if said := crowd(false).Open(edited(answered.Add(time.Hour), conversation.Disputed)); len(said) > 0 {
		t.Errorf("an edit opens the dispute again: %v", said)
	}
}

// When a finding with a thread does not count any more.
func TestSettled(t *testing.T) {
	for _, row := range []struct {
		name         string
		thread       conversation.Thread
		light, grave bool
	}{
		{"an open thread", conversation.Thread{Status: conversation.Pending}, false, false},
		{"handed over and open", conversation.Thread{Status: conversation.HandedOver}, false, false},
		{"its author, who may write, resolved it", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "ada"}, true, false},
		{"a reviewer resolved it", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "Boss"}, true, true},
		{"a reviewer resolved what was handed over", conversation.Thread{Status: conversation.HandedOver, Closed: true, ClosedBy: "boss"}, true, true},
		{"a guest resolved it", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "guest"}, false, false},
		{"an app resolved it", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "boss", ClosedByBot: true}, false, false},
		{"nobody knows who resolved it", conversation.Thread{Status: conversation.Pending, Closed: true}, false, false},
		{"our account resolved it", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "prloop"}, true, false},
		{"our account resolved it, and an answer of ours there was changed", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "prloop", Unsure: true}, false, false},
		{"a reviewer resolved it, and an answer of ours there was changed", conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: "boss", Unsure: true}, true, true},
		{"we conceded", conversation.Thread{Status: conversation.Resolved, Ruling: conversation.Conceded, Closed: true, ClosedBy: "prloop"}, true, false},
		{"we conceded, and a reviewer resolved it", conversation.Thread{Status: conversation.Resolved, Ruling: conversation.Conceded, Closed: true, ClosedBy: "boss"}, true, false},
		{"we conceded, and somebody opened it again", conversation.Thread{Status: conversation.Resolved, Ruling: conversation.Conceded}, false, false},
		{"we conceded, somebody opened it again, and a guest resolved it", conversation.Thread{Status: conversation.Resolved, Ruling: conversation.Conceded, Closed: true, ClosedBy: "guest"}, false, false},
		{"we conceded, and an app resolved it, which GitHub does not name", conversation.Thread{Status: conversation.Resolved, Ruling: conversation.Later, Closed: true}, true, false},
		{"its problem was gone", conversation.Thread{Status: conversation.Resolved, Closed: true, ClosedBy: "boss"}, false, false},
	} {
		p := crowd(true)
		if _, _, ok := p.Settled(row.thread, false); ok != row.light {
			t.Errorf("%s: a P2 is settled: %v", row.name, ok)
		}
		if _, _, ok := p.Settled(row.thread, true); ok != row.grave {
			t.Errorf("%s: a P1 is settled: %v", row.name, ok)
		}
	}
}

// A void resolution settles nothing where it would, and nothing that people said; where we may not open the thread again, it settles what nobody raises any more (threats.md T606).
func TestAVoidResolution(t *testing.T) {
	said := disagrees("boss")
	said.Commit = "guarded"
	thread := conversation.Thread{ID: "1", Head: "raised", Status: conversation.HandedOver, Maintained: "raised", Closed: true, ClosedBy: "boss", DeveloperReplies: []conversation.Reply{said}}
	for _, row := range []struct {
		name                   string
		void, back, shut       bool
		settled, weighs, later bool
	}{
		{"it is not void", false, false, false, true, false, false},
		{"it is", true, false, false, false, false, false},
		{"it is, and the code is as it was", true, true, false, false, true, true},
		{"it is so, and we may not open the thread again", true, true, true, false, false, false},
	} {
		p := crowd(true)
		if row.void {
			p.Voided = []string{"1"}
		}
		if row.back {
			p.Returned = p.Voided
		}
		thread.Unresolvable = row.shut
		if _, _, ok := p.Settled(thread, true); ok != row.settled {
			t.Errorf("%s: settled: %v", row.name, ok)
		}
		if got := p.Weighs(thread, true); got != row.weighs {
			t.Errorf("%s: weighs: %v", row.name, got)
		}
		if got := len(p.Later(thread)) > 0; got != row.later {
			t.Errorf("%s: said later: %v", row.name, got)
		}
	}
}

// A ruling in a thread that stays open because we may not resolve it settles what is not grave until somebody objects, who is not the author (threats.md T458).
func TestRulingsStandInThreadsThatStayOpen(t *testing.T) {
	boss := func(said string) []conversation.Reply {
		return []conversation.Reply{disagrees("ada"), {Author: "boss", Body: said}}
	}
	of := func(ruling conversation.Ruling, replies ...conversation.Reply) conversation.Thread {
		return conversation.Thread{Status: conversation.Resolved, Ruling: ruling, Unresolvable: true, Answered: 1, DeveloperReplies: replies}
	}
	resolvable, gone := of(conversation.Conceded, disagrees("ada")), of("", disagrees("ada"))
	resolvable.Unresolvable = false
	for _, row := range []struct {
		name    string
		thread  conversation.Thread
		settled bool
		live    bool
		open    int
	}{
		{"conceded", of(conversation.Conceded, disagrees("ada")), true, false, 0},
		{"later", of(conversation.Later, disagrees("ada")), true, false, 0},
		{"a word", of(conversation.Word, disagrees("boss")), true, false, 0},
		{"one that we may resolve: somebody opened it again", resolvable, false, true, 0},
		{"its problem is gone, which is no ruling", gone, false, false, 0},
		{"thanks", of(conversation.Conceded, boss("Thanks!")...), true, false, 0},
		{"the author goes on", of(conversation.Conceded, disagrees("ada"), disagrees("ada")), true, false, 0},
		{"a guest objects", of(conversation.Conceded, disagrees("ada"), disagrees("guest")), true, false, 0},
		{"an app objects", of(conversation.Conceded, disagrees("ada"), disagrees("helper[bot]")), true, false, 0},
		{"a maintainer objects", of(conversation.Conceded, boss("It can be empty.")...), false, true, 1},
		{"a maintainer objects to a word", of(conversation.Word, boss("It can be empty.")...), false, true, 1},
		{"a member objects whose permission nobody knows", of(conversation.Conceded, disagrees("ada"), conversation.Reply{Author: "eve", Association: "MEMBER", Body: "No."}), false, true, 0},
	} {
		p := crowd(true)
		if _, _, ok := p.Settled(row.thread, false); ok != row.settled {
			t.Errorf("%s: a P2 is settled: %v", row.name, ok)
		}
		if _, _, ok := p.Settled(row.thread, true); ok {
			t.Errorf("%s: a P1 is settled", row.name)
		}
		if live, open := p.Live(row.thread), len(p.Open(row.thread)); live != row.live || open != row.open {
			t.Errorf("%s: live %v with %d replies to judge; want %v with %d", row.name, live, open, row.live, row.open)
		}
	}
}

// Who opened a pull request as an app is not known, and may be whoever resolves its threads. For what is not grave that is no matter.
func TestNobodySettlesGraveFindingsOfAnApp(t *testing.T) {
	p := crowd(true)
	p.Author, p.ByApp = "renovate[bot]", true
	for _, by := range []string{"ada", "boss"} {
		thread := conversation.Thread{Status: conversation.Pending, Closed: true, ClosedBy: by}
		if _, _, ok := p.Settled(thread, true); ok {
			t.Errorf("%s settles a P1", by)
		}
		if _, _, ok := p.Settled(thread, false); !ok {
			t.Errorf("%s settles no P2", by)
		}
	}
}

// What we maintain counts until somebody resolves it who settles what is grave: not the author, not our account, whose act it may be, and nobody in an app's pull request
// (threats.md T600).
func TestWhoResolvesWhatWeMaintain(t *testing.T) {
	p := crowd(true)
	for by, settles := range map[string]bool{"": false, p.Author: false, p.Own: false, "boss": true, "stranger": false} {
		thread := conversation.Thread{Status: conversation.Disputed, Closed: by != "", ClosedBy: by}
		for _, byApp := range []bool{false, true} {
			p.ByApp = byApp
			if p.Weighs(thread, true) == (settles && !byApp) {
				t.Errorf("%q resolves it, by an app: %v: settles %v", by, byApp, !settles)
			}
		}
	}
}

// What people said of a grave finding at a later head is taken back by their own approval after it, and by nobody else's (threats.md T599).
func TestWhoApprovesTakesBackWhatTheySaid(t *testing.T) {
	said := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	later, earlier := said.Add(time.Hour), said.Add(-time.Hour)
	for what, c := range map[string]struct {
		approved map[string]time.Time
		edited   time.Time
		counts   bool
	}{
		"nobody approved": {nil, time.Time{}, true}, "they did since": {map[string]time.Time{"boss": later}, time.Time{}, false},
		"they did before": {map[string]time.Time{"boss": earlier}, time.Time{}, true}, "they edited it since": {map[string]time.Time{"boss": later}, later.Add(time.Hour), true},
		"somebody else did": {map[string]time.Time{"carol": later}, time.Time{}, true},
	} {
		p := crowd(true)
		p.Approved = c.approved
		r := conversation.Reply{ID: 1, Author: "Boss", Body: "This is not fixed.", Association: "MEMBER", Timestamp: said, Edited: c.edited, Commit: "later"}
		thread := conversation.Thread{Status: conversation.Pending, Head: "first", DeveloperReplies: []conversation.Reply{r}}
		if got := p.Weighs(thread, false); got != c.counts {
			t.Errorf("%s: counts %v", what, got)
		}
		if !p.Weighs(thread, true) {
			t.Errorf("%s: settles what we maintain", what)
		}
		thread.DeveloperReplies[0].After = true
		if _, got := p.Objection(thread, true); got != c.counts || p.Contradicts(thread, "head") != c.counts {
			t.Errorf("%s: objects to a cure %v", what, got)
		}
		p.Outdated = map[string][]string{"boss": {thread.ID}}
		if _, got := p.Objection(thread, true); !got || !p.Weighs(thread, false) || !p.Contradicts(thread, "head") || p.Lapsed(thread, thread.DeveloperReplies[0]) == c.counts {
			t.Errorf("%s: an approval of other code takes it back", what)
		}
		p.Own, p.Outdated = "boss", nil
		if !p.Weighs(thread, false) {
			t.Errorf("%s: an approval of our own account takes it back", what)
		}
	}
}

// Nobody, and who is gone, may nothing and is not our account, whatever is known of people.
func TestNobodyIsNobody(t *testing.T) {
	for _, people := range []conversation.People{{}, {Own: "prloop"}, {Author: "ada"}, crowd(true)} {
		for _, login := range []string{"", "ghost"} {
			if v := people.Voice(login, false); v.Author || v.Write || v.Own || v.Heard() || v.Decides() {
				t.Errorf("%q among %+v is %+v", login, people, v)
			}
		}
	}
}

// Whose permission is asked for: everybody whose words a judge may be told of, or whose word matters where a cure of ours is void, and whoever resolved a thread, but not we.
func TestLogins(t *testing.T) {
	s := conversation.State{Threads: []conversation.Thread{
		{Status: conversation.Disputed, Answered: 2, DeveloperReplies: []conversation.Reply{disagrees("eve"), disagrees("ada"), disagrees("boss"), disagrees("helper[bot]")}},
		{Status: conversation.Disputed, Answered: 1, DeveloperReplies: []conversation.Reply{disagrees("mallory")}},
		{Status: conversation.Pending, Closed: true, ClosedBy: "guest"},
		{Status: conversation.Resolved, Ruling: conversation.Later, Closed: true, ClosedBy: "carol"},
		{Status: conversation.Resolved, Ruling: conversation.Later, Closed: true, ClosedBy: "Prloop"},
		{Status: conversation.Resolved, Closed: true, ClosedBy: "dave"},
		{Status: conversation.Resolved, Closed: true, ClosedBy: "dan", DeveloperReplies: []conversation.Reply{disagrees("olga")}},
		{Status: conversation.Resolved, Closed: true, ClosedBy: "prloop", DeveloperReplies: []conversation.Reply{disagrees("otto")}},
	}}
	if got, want := s.Logins("prloop"), []string{"eve", "ada", "boss", "guest", "carol", "dave", "dan", "olga", "otto"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// The law of threats.md T170: whatever a judge says, and however often, a grave finding is settled only where a person who may write and is
// not the author resolved its thread. And prloop never answers twice without an answer in between.
func TestNoJudgeSettlesAGraveFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"ada", "boss", "guest", "eve", "prloop", "helper[bot]", ""}
		p := crowd(rapid.Bool().Draw(t, "writes"))
		if rapid.Bool().Draw(t, "reviewed") {
			p.Reviewers = []string{"boss"}
		}
		thread := conversation.Thread{ID: "1", Status: conversation.Pending}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				thread.DeveloperReplies = append(thread.DeveloperReplies, disagrees(rapid.SampledFrom(names).Draw(t, "who")))
			case 1:
				thread.Closed, thread.ClosedBy = true, rapid.SampledFrom(names).Draw(t, "closes")
				thread.ClosedByBot = rapid.Bool().Draw(t, "bot")
			case 2:
				thread.Closed, thread.ClosedBy = false, ""
			default:
				before := len(p.Open(thread))
				a, ok := p.Decide(thread, true, conversation.Judged{
					Ruling: rapid.SampledFrom([]review.Ruling{"", "conceded", "later", "maintained", "none", "resolved"}).Draw(t, "ruling"),
					Risk:   rapid.SampledFrom([]review.Risk{"", "none", "leak"}).Draw(t, "risk"), Proven: rapid.Bool().Draw(t, "proven"),
				})
				if !ok {
					continue
				}
				if before == 0 {
					t.Fatal("it answers where nobody said anything")
				}
				if a.Status == conversation.Resolved {
					t.Fatalf("a judge settles a grave finding: %+v", a)
				}
				if thread.Turns >= conversation.MostTurns && a.Status != conversation.HandedOver {
					t.Fatalf("it argues in circles: %+v", a)
				}
				thread.Status, thread.Answered = a.Status, len(thread.DeveloperReplies)
				if a.Status == conversation.Disputed {
					thread.Turns++
				}
				if len(p.Open(thread)) != 0 {
					t.Fatal("it would answer again")
				}
			}
			if _, _, ok := p.Settled(thread, true); ok && !(thread.Closed && !thread.ClosedByBot && slices.Contains([]string{"boss"}, thread.ClosedBy)) {
				t.Fatalf("a grave finding is settled: %+v", thread)
			}
		}
	})
}
