package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/review"
)

// Where a kill may fall (threats.md K58 to K60).
var (
	deliveryVerified = failpoint.New("delivery: verified")
	deliveryStored   = failpoint.New("delivery: stored")
	wantedSettling   = failpoint.New("wanted: before it is settled")
)

// A Delivery is what GitHub told once.
type Delivery struct {
	// GUID is its own: a delivery that comes again has the same.
	GUID, Event, Action string
	// Why says why nothing is wanted; empty when something is.
	Why string
	// Received is set by the store.
	Received time.Time
}

// A Want asks for a look at a pull request, or at a comment on it.
type Want struct {
	// Subject names it.
	Subject string
	// Repo is host/owner/name, Comment 0 for the pull request itself.
	Repo    string
	PR      int
	Comment int64
	// Key is the repository at GitHub, whatever it is called now; empty where nobody told.
	Key review.RepoKey
	// Priority orders what waits, the lowest first.
	Priority uint
	// Anew is true when a commit that was reviewed is looked at again.
	Anew bool
	// Said is who said something a verdict may rest on: one login, or intake.Member. What is wanted has all whom no look heard, apart by blanks, and
	// intake.Member for more than are kept.
	Said string
	// Patient is true when what waits is not to begin sooner because of it.
	Patient bool
	// Settle is how long nothing more is to be asked of it before it is looked at; it waits no longer than four times that.
	Settle time.Duration
}

// saidMost is about how many bytes of logins are kept.
const saidMost = 1000

// Wanted is what is, or was, wanted.
type Wanted struct {
	Want
	// Asked counts how often it was, Handled how far that was seen to: something is wanted while it is less.
	Asked, Handled int64
	// Begun is true when a task is at work that began after it was asked for last.
	Begun bool
	// Since is when it was asked for first, Due when it may begin. Updated is when it was seen to last.
	Since, Due, Updated time.Time
	// Tries is how often it failed.
	Tries int
	Settled
}

// Open reports whether it is still to be seen to.
func (w Wanted) Open() bool { return w.Asked > w.Handled }

// Settled is what became of something wanted.
type Settled struct {
	// Outcome is a word for it, Why says it in a sentence.
	Outcome, Why string
	// Run is the run that was done, Seen says how the pull request was then.
	Run, Seen string
	// Unheard is true when nobody could look: what was said, and whether a commit is looked at again, stays for the next look.
	Unheard bool
}

// Deliver records a delivery and what is wanted because of it, in one write. first is false for one that was recorded before: then nothing is
// changed.
func (s *Store) Deliver(ctx context.Context, d Delivery, wants ...Want) (first bool, err error) {
	op := "record the delivery " + d.GUID
	if err := deliveryVerified.Hit(); err != nil {
		return false, s.wrap(op, err)
	}
	subject := ""
	if len(wants) > 0 {
		subject = wants[0].Subject
	}
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO deliveries (guid, event, action, subject, why, received) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (guid) DO NOTHING`,
			d.GUID, d.Event, d.Action, subject, d.Why, micros(s.now()))
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if first = n == 1; err != nil || !first {
			return err
		}
		for _, w := range wants {
			if err := s.want(ctx, tx, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && first {
		err = s.wrap(op, deliveryStored.Hit())
	}
	return first, err
}

// Want asks for a look.
func (s *Store) Want(ctx context.Context, w Want) error {
	return s.tx(ctx, "ask for "+w.Subject, func(tx *sql.Tx) error { return s.want(ctx, tx, w) })
}

// settleMost is how many times its own length a settle time is put off at most.
const settleMost = 4

func (s *Store) want(ctx context.Context, tx *sql.Tx, w Want) error {
	clock, renewed, patient := s.dialect.clock(), 0, 0
	if w.Anew {
		renewed = 1
	}
	if w.Patient {
		patient = 1
	}
	settle, kept, said := w.Settle.Microseconds(), ofThis("said"), ""
	if w.Said != "" {
		said = " " + w.Said + " "
	}
	// What was asked before and is open keeps its priority if that is better, and its beginning.
	_, err := tx.ExecContext(ctx, `INSERT INTO wanted (subject, repo, pr, comment, priority, renewed, asked, queued, handled, since, due, tries, outcome, why, run, seen, updated, repo_key, said)
		VALUES ($1, $2, $3, $4, $5, $6, 1, 0, 0, `+clock+`, `+clock+` + $7, 0, '', '', '', '', `+clock+`, $9, $10)
		ON CONFLICT (subject) DO UPDATE SET asked = wanted.asked + 1, tries = 0,
			repo_key = CASE WHEN excluded.repo_key = '' THEN wanted.repo_key ELSE excluded.repo_key END,
			outcome = `+ofThis("outcome")+`, why = `+ofThis("why")+`, run = `+ofThis("run")+`, seen = `+ofThis("seen")+`,
			said = CASE WHEN excluded.said = '' OR replace(`+kept+`, excluded.said, '') <> `+kept+` THEN `+kept+`
				WHEN length(`+kept+`) > $11 THEN $12 ELSE `+kept+` || excluded.said END,
			priority = CASE WHEN wanted.asked > wanted.handled AND wanted.priority < excluded.priority THEN wanted.priority ELSE excluded.priority END,
			renewed = CASE WHEN excluded.renewed = 1 THEN wanted.asked + 1 ELSE wanted.renewed END,
			since = CASE WHEN wanted.asked > wanted.handled THEN wanted.since ELSE excluded.since END,
			due = CASE WHEN $13 = 1 AND wanted.asked > wanted.handled AND (wanted.outcome = 'waits' AND wanted.due > excluded.due OR wanted.queued > wanted.handled AND wanted.due < wanted.since) THEN wanted.due
				WHEN wanted.asked > wanted.handled AND wanted.since + $8 < excluded.due AND excluded.due > wanted.due THEN
				CASE WHEN wanted.since + $8 > wanted.due THEN wanted.since + $8 ELSE wanted.due END ELSE excluded.due END`,
		w.Subject, w.Repo, w.PR, w.Comment, w.Priority, renewed, settle, settleMost*settle, string(w.Key), said, saidMost, " "+intake.Member+" ", patient)
	return err
}

// ofThis is a column as it was, or empty where it tells of another repository that had the name.
func ofThis(column string) string {
	return `CASE WHEN excluded.repo_key <> '' AND wanted.repo_key <> '' AND wanted.repo_key <> excluded.repo_key THEN '' ELSE wanted.` + column + ` END`
}

// Due gives what may begin and is not in the queue, the most urgent first.
func (s *Store) Due(ctx context.Context, limit int) ([]Wanted, error) {
	return s.wanted(ctx, "read what is wanted", s.due(), limit)
}

// due is what may begin. What was written at a time that has not come yet is due: the clock was set back since, by hours perhaps, and so long
// nothing was to wait.
func (s *Store) due() string {
	clock := s.dialect.clock()
	return `asked > queued AND (due <= ` + clock + ` OR updated > ` + clock + `) ORDER BY priority, since LIMIT $1`
}

// stillOpen is what is not seen to yet, and stillFirst its order.
const (
	stillOpen  = `asked > handled`
	stillFirst = ` ORDER BY priority, since LIMIT $1`
)

// Waiting gives what is not seen to yet, the oldest first. keys are as in Filter.
func (s *Store) Waiting(ctx context.Context, keys []review.RepoKey, limit int) ([]Wanted, error) {
	return s.wantedBy(ctx, "read what is wanted", keys, limit, stillOpen, stillFirst)
}

// SeenTo gives what was seen to last, the newest first. keys are as in Filter.
func (s *Store) SeenTo(ctx context.Context, keys []review.RepoKey, limit int) ([]Wanted, error) {
	return s.wantedBy(ctx, "read what was wanted", keys, limit, `handled > 0 AND asked = handled`, ` ORDER BY updated DESC LIMIT $1`)
}

// wantedBy gives the first of what is wanted in an order whose limit is the first place, of all repositories or of some.
func (s *Store) wantedBy(ctx context.Context, op string, keys []review.RepoKey, limit int, where, order string) ([]Wanted, error) {
	args := []any{limit}
	if keys != nil {
		var in string
		in, args = among(keys, args)
		where += ` AND repo_key IN ` + in
	}
	return s.wanted(ctx, op, where+order, args...)
}

// Wanted finds what is wanted of a subject; ErrNotFound when nothing ever was.
func (s *Store) Wanted(ctx context.Context, subject string) (Wanted, error) {
	all, err := s.wanted(ctx, "read what is wanted of "+subject, `subject = $1`, subject)
	if err == nil && len(all) == 0 {
		return Wanted{}, s.wrap("read what is wanted of "+subject, ErrNotFound)
	}
	if err != nil {
		return Wanted{}, err
	}
	return all[0], nil
}

// WantedOf gives what is, or was, wanted of the pull requests of a repository: host/owner/name, in any case.
func (s *Store) WantedOf(ctx context.Context, repo string) ([]Wanted, error) {
	return s.wanted(ctx, "read what is wanted of "+repo, `lower(repo) = $1 ORDER BY pr, comment`, strings.ToLower(repo))
}

// WantedRepositories names the repositories something was ever wanted of: host/owner/name.
func (s *Store) WantedRepositories(ctx context.Context) ([]string, error) {
	return s.names(ctx, "read which repositories are known", `SELECT DISTINCT repo FROM wanted ORDER BY repo`)
}

func (s *Store) names(ctx context.Context, op, query string) (names []string, err error) {
	rows, err := s.read.QueryContext(ctx, query)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.wrap(op, err)
		}
		names = append(names, name)
	}
	return names, s.wrap(op, rows.Err())
}

func (s *Store) wanted(ctx context.Context, op, where string, args ...any) ([]Wanted, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT subject, repo, pr, comment, priority, renewed > handled, asked, handled, queued = asked AND asked > handled, since, due, updated, tries, outcome, why, run, seen, repo_key, said
		FROM wanted WHERE `+where, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Wanted
	for rows.Next() {
		var w Wanted
		var since, due, updated sql.NullInt64
		if err := rows.Scan(&w.Subject, &w.Repo, &w.PR, &w.Comment, &w.Priority, &w.Anew, &w.Asked, &w.Handled, &w.Begun, &since, &due, &updated, &w.Tries,
			&w.Outcome, &w.Why, &w.Run, &w.Seen, &w.Key, &w.Said); err != nil {
			return nil, s.wrap(op, err)
		}
		w.Since, w.Due, w.Updated = moment(since), moment(due), moment(updated)
		out = append(out, w)
	}
	return out, s.wrap(op, rows.Err())
}

// inQueue is how far a subject is queued that stands in the queue: whatever is asked for until a task begins is part of it.
const inQueue = "9223372036854775807"

// Queued notes that a subject stands in the queue. It is not due until a task begins with it, is dropped, or finds another at work on it.
func (s *Store) Queued(ctx context.Context, subject string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET queued = `+inQueue+` WHERE subject = $1`, subject)
	return s.wrap("note that "+subject+" is queued", err)
}

// Begin notes that a task begins with a subject, and gives what is wanted of it; ErrNotFound when nothing ever was. What is asked for from then
// on is due again. Until somebody who is not patient asks, it stays due from before it was asked for, so that Postpone can tell.
func (s *Store) Begin(ctx context.Context, subject string) (Wanted, error) {
	if _, err := s.write.ExecContext(ctx, `UPDATE wanted SET queued = asked, due = since - 1 WHERE subject = $1`, subject); err != nil {
		return Wanted{}, s.wrap("begin with "+subject, err)
	}
	return s.Wanted(ctx, subject)
}

// Aside notes that a subject could not be queued since a task is at work on it, and puts it off for a while.
func (s *Store) Aside(ctx context.Context, subject string, wait time.Duration) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET queued = handled, due = `+s.dialect.clock()+` + $2 WHERE subject = $1 AND queued = `+inQueue, subject, wait.Microseconds())
	return s.wrap("put "+subject+" aside", err)
}

// InQueue names the subjects that are noted as having a task: it waits in the queue, or has begun.
func (s *Store) InQueue(ctx context.Context) ([]string, error) {
	return s.names(ctx, "read what stands in the queue", `SELECT subject FROM wanted WHERE asked > handled AND queued > handled`)
}

// Requeue forgets that a subject has a task: it was dropped.
func (s *Store) Requeue(ctx context.Context, subject string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET queued = handled WHERE subject = $1 AND queued > handled`, subject)
	return s.wrap("put "+subject+" back", err)
}

// Settle records what became of something that was asked for so often. What was asked for since stays open.
func (s *Store) Settle(ctx context.Context, subject string, asked int64, r Settled) error {
	op := "settle " + subject
	if err := wantedSettling.Hit(); err != nil {
		return s.wrap(op, err)
	}
	clock, unheard := s.dialect.clock(), 0
	if r.Unheard {
		unheard = 1
	}
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET handled = $2, queued = $2, tries = 0,
		said = CASE WHEN $7 = 1 OR asked > $2 THEN said ELSE '' END,
		renewed = CASE WHEN $7 = 1 AND renewed > handled AND renewed <= $2 THEN $2 + 1 ELSE renewed END,
		since = CASE WHEN asked > $2 THEN `+clock+` ELSE since END,
		outcome = $3, why = $4, run = $5, seen = $6, updated = `+clock+` WHERE subject = $1 AND handled < $2`,
		subject, asked, r.Outcome, r.Why, r.Run, r.Seen, unheard)
	return s.wrap(op, err)
}

// Waits is the outcome of what is put off and did not fail.
const Waits = "waits"

// Postpone puts something off, but not what was asked for since it began, unless that is patient. It counts as a failed try unless it waits.
func (s *Store) Postpone(ctx context.Context, subject string, wait time.Duration, r Settled) error {
	clock := s.dialect.clock()
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET queued = handled, tries = CASE WHEN $3 = 'waits' THEN tries ELSE tries + 1 END,
		due = CASE WHEN asked > queued AND queued > handled AND due >= since AND due < `+clock+` + $2 THEN due ELSE `+clock+` + $2 END,
		outcome = $3, why = $4, run = $5, seen = $6, updated = `+clock+` WHERE subject = $1`,
		subject, wait.Microseconds(), r.Outcome, r.Why, r.Run, r.Seen)
	return s.wrap("postpone "+subject, err)
}

// Hasten lets what waits of a pull request begin at once, unless it failed.
func (s *Store) Hasten(ctx context.Context, repo string, pr int) error {
	clock := s.dialect.clock()
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET due = `+clock+` WHERE lower(repo) = $1 AND pr = $2 AND asked > queued AND tries = 0 AND outcome = 'waits' AND due > `+clock, strings.ToLower(repo), pr)
	return s.wrap("hasten what waits of "+repo, err)
}

// HastenAll lets all that waits begin at once, unless it failed.
func (s *Store) HastenAll(ctx context.Context) error {
	clock := s.dialect.clock()
	_, err := s.write.ExecContext(ctx, `UPDATE wanted SET due = `+clock+` WHERE asked > queued AND tries = 0 AND outcome = 'waits' AND due > `+clock)
	return s.wrap("hasten what waits", err)
}

// Deliveries gives the newest deliveries.
func (s *Store) Deliveries(ctx context.Context, limit int) ([]Delivery, error) {
	const op = "read deliveries"
	rows, err := s.read.QueryContext(ctx, `SELECT guid, event, action, why, received FROM deliveries ORDER BY received DESC LIMIT $1`, limit)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Delivery
	for rows.Next() {
		var d Delivery
		var received sql.NullInt64
		if err := rows.Scan(&d.GUID, &d.Event, &d.Action, &d.Why, &received); err != nil {
			return nil, s.wrap(op, err)
		}
		d.Received = moment(received)
		out = append(out, d)
	}
	return out, s.wrap(op, rows.Err())
}

// ForgetDeliveries forgets deliveries that are older than an age. One that GitHub sends again after that counts as new, which does no harm.
func (s *Store) ForgetDeliveries(ctx context.Context, age time.Duration) (int64, error) {
	res, err := s.write.ExecContext(ctx, `DELETE FROM deliveries WHERE received < $1`, micros(s.now().Add(-age)))
	if err != nil {
		return 0, s.wrap("forget deliveries", err)
	}
	n, err := res.RowsAffected()
	return n, s.wrap("forget deliveries", err)
}

// ForgetComments forgets what became of comments that were seen to longer ago than an age: anybody may write any number (threats.md T532). One that is told of again after
// that is looked at again, and was answered.
func (s *Store) ForgetComments(ctx context.Context, age time.Duration) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM wanted WHERE comment <> 0 AND asked = handled AND updated < `+s.dialect.clock()+` - $1`, age.Microseconds())
	return s.wrap("forget what became of comments", err)
}

// Subject names what is wanted: a look at a pull request, or at a comment on it. GitHub's names know no case, and neither do subjects.
func Subject(repo string, pr int, comment int64) string {
	repo = strings.ToLower(repo)
	if comment == 0 {
		return fmt.Sprintf("%s#%d", repo, pr)
	}
	return fmt.Sprintf("%s#%d/%d", repo, pr, comment)
}
