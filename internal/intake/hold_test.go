package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/review"
)

// Quiet hours end when they say, over midnight, in their zone, and on the days on which its clocks are set.
func TestHours(t *testing.T) {
	for _, row := range []struct{ hours, now, until string }{
		{"", "2026-11-23T23:00:00Z", ""},
		{"22:00-06:00", "2026-11-23T21:59:59Z", ""},
		{"22:00-06:00", "2026-11-23T22:00:00Z", "2026-11-24T06:00:00Z"},
		{"22:00-06:00", "2026-11-24T05:59:59Z", "2026-11-24T06:00:00Z"},
		{"22:00-06:00", "2026-11-24T06:00:00Z", ""},
		{"12:00-13:30", "2026-11-24T13:29:00Z", "2026-11-24T13:30:00Z"},
		{"12:00-13:30", "2026-11-24T13:30:00Z", ""},
		{"00:00-23:59", "2026-11-30T23:58:00Z", "2026-11-30T23:59:00Z"},
		{"22:00-06:00", "2026-12-31T23:00:00Z", "2027-01-01T06:00:00Z"},
		{"22:00-06:00 Europe/Berlin", "2026-11-23T20:59:00Z", ""},
		{"22:00-06:00 Europe/Berlin", "2026-11-23T21:00:00Z", "2026-11-24T05:00:00Z"},
		{"22:00-06:00 Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T04:00:00Z"}, // the night has an hour less
		{"22:00-06:00 Europe/Berlin", "2026-10-24T21:00:00Z", "2026-10-25T05:00:00Z"}, // and one more
	} {
		h, err := intake.ParseHours(row.hours)
		if err != nil {
			t.Errorf("%q: %v", row.hours, err)
			continue
		}
		now, _ := time.Parse(time.RFC3339, row.now)
		until := ""
		if end := h.Until(now); !end.IsZero() {
			until = end.UTC().Format(time.RFC3339)
		}
		if until != row.until {
			t.Errorf("%q at %s: until %q, want %q", row.hours, row.now, until, row.until)
		}
	}
	// Hours that end in the hour that comes twice, or in the one that does not come.
	for hours, night := range map[string]string{
		"22:00-01:45 America/New_York": "2026-11-01T00:00:00Z", "22:00-02:45 Europe/Berlin": "2026-10-24T18:00:00Z", "01:15-01:45 America/New_York": "2026-11-01T00:00:00Z",
		"22:00-02:30 Europe/Berlin": "2026-03-28T18:00:00Z", "02:15-05:00 Europe/Berlin": "2026-03-28T18:00:00Z",
	} {
		h, err := intake.ParseHours(hours)
		if err != nil {
			t.Fatal(err)
		}
		now, _ := time.Parse(time.RFC3339, night)
		ends := map[time.Time]bool{}
		for range 12 * 60 {
			if end := h.Until(now); !end.IsZero() {
				ends[end] = true
				if !end.After(now) {
					t.Fatalf("%q at %s: until %s", hours, now, end)
				}
			}
			now = now.Add(time.Minute)
		}
		if len(ends) != 1 {
			t.Errorf("%q end at %v in one night", hours, ends)
		}
	}
	for _, bad := range []string{"22", "22:00", "22:00-22:00", "25:00-06:00", "22:00-06:00 Nowhere/City", "-", "22:00-06:00-07:00"} {
		if h, err := intake.ParseHours(bad); err == nil {
			t.Errorf("%q is %+v", bad, h)
		}
	}
}

func TestQuiet(t *testing.T) {
	hours, err := intake.ParseHours("22:00-06:00")
	if err != nil {
		t.Fatal(err)
	}
	night := time.Date(2026, 11, 23, 23, 0, 0, 0, time.UTC)
	for _, priority := range []uint{intake.Said, intake.First, intake.Again, intake.Found} {
		if until, why := intake.Quiet(priority, intake.Rules{Quiet: hours}, night); !until.Equal(night.Add(7*time.Hour)) || !strings.Contains(why, "06:00 UTC") {
			t.Errorf("%d: %v, %q", priority, until, why)
		}
	}
	if until, why := intake.Quiet(intake.Command, intake.Rules{Quiet: hours}, night); !until.IsZero() || why != "" {
		t.Errorf("what somebody asked for waits: %v, %q", until, why)
	}
	if _, why := intake.Quiet(intake.First, intake.Rules{}, night); why != "" {
		t.Errorf("without quiet hours: %q", why)
	}
}

// A commit that was looked at often waits, unless somebody asks for it, or somebody who may block said something (threats.md T380).
func TestOften(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	ago := func(minutes ...time.Duration) (times []time.Time) {
		for _, m := range minutes {
			times = append(times, now.Add(-m*time.Minute))
		}
		return times
	}
	often := ago(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 179)
	pr := review.PullRequest{HeadSHA: "abcdef0123", Standing: "1 APPROVED "}
	known := intake.Known{Head: pr.HeadSHA, Standing: intake.Standing(pr)}
	for _, row := range []struct {
		name     string
		lately   []time.Time
		priority uint
		change   func(*intake.Known)
		waits    bool
	}{
		{"often", often, intake.Again, func(*intake.Known) {}, true},
		{"that no event told of", often, intake.Found, func(*intake.Known) {}, true},
		{"for another branch before", often, intake.Again, func(k *intake.Known) { k.Head, k.Standing = "", "" }, true},
		{"somebody asks", often, intake.Command, func(*intake.Known) {}, false},
		{"a member says something", often, intake.Said, func(*intake.Known) {}, false},
		{"a draft is made ready again", often, intake.First, func(*intake.Known) {}, true},
		{"a draft is made ready", nil, intake.First, func(*intake.Known) {}, false},
		{"a member's review", often, intake.Again, func(k *intake.Known) { k.Standing = "" }, false},
		{"contested by what GitHub has in threads", often, intake.Again, func(k *intake.Known) { k.Said = true }, false},
		{"contested by events alone", often, intake.Again, func(k *intake.Known) { k.Said, k.Told = true, true }, true},
		{"contested by a member's event", often, intake.Said, func(k *intake.Known) { k.Said, k.Told = true, true }, false},
		{"contested, and a review of that was overtaken", often, intake.Again, func(k *intake.Known) { k.Standing, k.Unjudged = "", true }, true},
		{"not so often", often[1:], intake.Again, func(*intake.Known) {}, false},
		{"over a longer time", append(often[:11:11], ago(180)...), intake.Again, func(*intake.Known) {}, false},
		{"not for ten minutes", append(ago(10, 10, 10, 10, 10, 10), often[6:]...), intake.Again, func(*intake.Known) {}, false},
	} {
		k := known
		row.change(&k)
		k.Lately = row.lately
		until, why := intake.Often(pr, row.priority, k, now)
		if (why != "") != row.waits || row.waits && (!until.Equal(now.Add(6*time.Minute)) || !strings.Contains(why, "abcdef0 was looked at 12 times within three hours")) {
			t.Errorf("%s: until %v, %q", row.name, until, why)
		}
	}
}

// An author is one whatever the case of the login, and no app of the same name.
func TestAuthorOf(t *testing.T) {
	mona := intake.AuthorOf("github.com", review.Person{Login: "Mona"})
	if mona != intake.AuthorOf("github.com", review.Person{Login: "mona"}) || mona == intake.AuthorOf("github.com", review.Person{Login: "mona", Bot: true}) ||
		mona == intake.AuthorOf("github.example", review.Person{Login: "mona"}) {
		t.Errorf("%q", mona)
	}
}
