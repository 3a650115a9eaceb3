package intake

import (
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// Hours are a part of every day in which no review begins that nobody asked for. The zero value is none.
type Hours struct {
	// From and To are minutes after midnight; a part that ends before it begins lasts over midnight.
	From, To int
	Zone     *time.Location
}

// ParseHours reads hours such as "22:00-06:00" or "22:00-06:00 Europe/Berlin"; without a zone they are in UTC.
func ParseHours(text string) (h Hours, err error) {
	if text == "" {
		return h, nil
	}
	span, zone, _ := strings.Cut(text, " ")
	from, to, ok := strings.Cut(span, "-")
	begin, e1 := time.Parse("15:04", from)
	end, e2 := time.Parse("15:04", to)
	if !ok || e1 != nil || e2 != nil || begin.Equal(end) {
		return h, fmt.Errorf("%q is no part of a day such as 22:00-06:00", span)
	}
	if h.Zone, err = time.LoadLocation(strings.TrimSpace(zone)); err != nil {
		return h, fmt.Errorf("the time zone %q is not known here: %w", zone, err)
	}
	h.From, h.To = begin.Hour()*60+begin.Minute(), end.Hour()*60+end.Minute()
	return h, nil
}

// Until says when the hours end that a time is in, which is after it; the zero time when it is in none. Hours begin and end once in a night, also in one in which
// the clock shows an hour twice (threats.md T468).
func (h Hours) Until(now time.Time) time.Time {
	if h.Zone == nil {
		return time.Time{}
	}
	now = now.In(h.Zone)
	at := func(day, minutes int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+day, minutes/60, minutes%60, 0, 0, h.Zone)
	}
	for day := -1; day <= 0; day++ {
		last := day
		if h.From > h.To {
			last++
		}
		if end := at(last, h.To); !now.Before(at(day, h.From)) && now.Before(end) {
			return end
		}
	}
	return time.Time{}
}

// Quiet says until when a look waits for the end of the quiet hours, and why; the zero time when it does not. What a person asked for never does.
func Quiet(priority uint, r Rules, now time.Time) (until time.Time, why string) {
	end := r.Quiet.Until(now)
	if priority == Command || end.IsZero() {
		return time.Time{}, ""
	}
	return end, "quiet hours: no review begins before " + end.Format("15:04 MST") + " unless somebody asks for it by comment"
}

// Bounds of how often a commit is looked at.
const (
	// often is how many runs about one commit begin at once within oftenTime; after that they are apart by oftenWait.
	often     = 12
	oftenTime = 3 * time.Hour
	oftenWait = 10 * time.Minute
)

// Often says until when a look waits because the commit was looked at often, and why; the zero time when it does not. Whoever may comment asks for a look by each
// answer in a thread (threats.md T380), and its author by a draft that is made ready (threats.md T414). What a person asked for, and what somebody else who may block
// said, waits for nothing. What is known from events alone waits: an event of a stranger during a look keeps it known (threats.md T549).
func Often(pr review.PullRequest, priority uint, k Known, now time.Time) (until time.Time, why string) {
	if priority <= Said || k.Urgent(pr) && !k.Told || len(k.Lately) < often || now.Sub(k.Lately[often-1]) >= oftenTime {
		return time.Time{}, ""
	}
	if until = k.Lately[0].Add(oftenWait); !until.After(now) {
		return time.Time{}, ""
	}
	return until, fmt.Sprintf("the commit %.7s was looked at %d times within three hours: what was said since is looked at together, at %s", pr.HeadSHA, often, until.UTC().Format("15:04 MST"))
}

// AuthorOf names whose pull request one is, for what each author may have. GitHub's logins know no case.
func AuthorOf(host string, p review.Person) string {
	name := host + "/" + strings.ToLower(p.Login)
	if p.Bot {
		name += "[bot]" // a person may have the same login
	}
	return name
}
