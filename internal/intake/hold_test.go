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
	for _, priority := range []uint{intake.First, intake.Again, intake.Found} {
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

// An author is one whatever the case of the login, and no app of the same name.
func TestAuthorOf(t *testing.T) {
	mona := intake.AuthorOf("github.com", review.Person{Login: "Mona"})
	if mona != intake.AuthorOf("github.com", review.Person{Login: "mona"}) || mona == intake.AuthorOf("github.com", review.Person{Login: "mona", Bot: true}) ||
		mona == intake.AuthorOf("github.example", review.Person{Login: "mona"}) {
		t.Errorf("%q", mona)
	}
}
