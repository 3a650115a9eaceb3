package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
)

// A Round is the record of one round of a run.
type Round struct {
	Run string
	// Number is 1 to 3.
	Number  int
	Verdict review.Verdict
	// Receipt names the commits and who answered at what cost; the usage table is filled from it.
	Receipt review.Receipt
	// Findings are those that were counted, in the order of the report; Source.Name is who raised each.
	Findings []review.Finding
	// Saved is set by the store.
	Saved time.Time
}

// Where a kill may fall (threats.md K26).
var (
	beforeRound = failpoint.New("round: before save")
	afterRound  = failpoint.New("round: after save")
)

// SaveRound records a round whole or not at all. A round saved again replaces what was there: a resumed run may repeat the
// step that says so, and the number never skips or doubles (threats.md K26).
func (s *Store) SaveRound(ctx context.Context, r Round) error {
	op := fmt.Sprintf("save round %d of run %s", r.Number, r.Run)
	verdict, err := text(r.Verdict)
	if err != nil {
		return s.wrap(op, err)
	}
	receipt, err := text(r.Receipt)
	if err != nil {
		return s.wrap(op, err)
	}
	if err := beforeRound.Hit(); err != nil {
		return s.wrap(op, err)
	}
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM rounds WHERE run = $1 AND round = $2`, r.Run, r.Number); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO rounds (run, round, head, verdict, receipt, saved) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Run, r.Number, r.Receipt.HeadSHA, verdict, receipt, micros(s.now())); err != nil {
			return err
		}
		for i, f := range r.Findings {
			if err := saveFinding(ctx, tx, r, i, f); err != nil {
				return fmt.Errorf("finding %d: %w", i, err)
			}
		}
		for _, a := range r.Receipt.Agents {
			if err := saveUsage(ctx, tx, r, a); err != nil {
				return fmt.Errorf("usage of %s: %w", a.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.wrap(op, afterRound.Hit())
}

func saveFinding(ctx context.Context, tx *sql.Tx, r Round, ord int, f review.Finding) error {
	js, err := text(f)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO findings (run, round, ord, reviewer, priority, file, line, fingerprint, finding)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		r.Run, r.Number, ord, f.Source.Name, string(f.Priority), f.File, f.Line, f.Fingerprint, js)
	return err
}

func saveUsage(ctx context.Context, tx *sql.Tx, r Round, a review.AgentReceipt) error {
	u := a.Usage
	_, err := tx.ExecContext(ctx, `INSERT INTO usage (run, round, agent, role, llm_calls, tool_calls, input_tokens, cached_tokens, output_tokens, cost_usd, seconds)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		r.Run, r.Number, a.Name, string(a.Role), u.LLMCalls, u.ToolCalls, u.InputTokens, u.CachedTokens, u.OutputTokens, u.CostUSD, a.Seconds)
	return err
}

// Rounds gives the rounds of a run in order, with their findings.
func (s *Store) Rounds(ctx context.Context, run string) ([]Round, error) {
	out, err := s.rounds(ctx, run)
	return out, s.wrap("rounds of run "+run, err)
}

func (s *Store) rounds(ctx context.Context, run string) ([]Round, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT r.round, r.verdict, r.receipt, r.saved, f.finding
		FROM rounds r LEFT JOIN findings f ON f.run = r.run AND f.round = r.round WHERE r.run = $1 ORDER BY r.round, f.ord`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Round
	for rows.Next() {
		r := Round{Run: run}
		var verdict, receipt string
		var saved sql.NullInt64
		var finding sql.NullString
		if err := rows.Scan(&r.Number, &verdict, &receipt, &saved, &finding); err != nil {
			return nil, err
		}
		if len(out) == 0 || out[len(out)-1].Number != r.Number {
			if err := parse("verdict", verdict, &r.Verdict); err != nil {
				return nil, err
			}
			if err := parse("receipt", receipt, &r.Receipt); err != nil {
				return nil, err
			}
			r.Saved = moment(saved)
			out = append(out, r)
		}
		if finding.Valid {
			var f review.Finding
			if err := parse("finding", finding.String, &f); err != nil {
				return nil, err
			}
			last := &out[len(out)-1]
			last.Findings = append(last.Findings, f)
		}
	}
	return out, rows.Err()
}

// Spent is what agents spent, for budgets per pull request and per day.
type Spent struct {
	Runs     int
	LLMCalls int
	// CostUSD adds up the known costs; Unpriced is how many agents called a model whose cost is not known.
	CostUSD  float64
	Unpriced int
}

// Spent adds up the runs that began at since or later, on one pull request, or everywhere when repo is empty: of the run
// named what its saved rounds cost, and of all others. Both are of one moment.
func (s *Store) Spent(ctx context.Context, repo string, pr int, since time.Time, run string) (own, others Spent, err error) {
	const op = "sum up usage"
	rows, err := s.read.QueryContext(ctx, `SELECT CASE WHEN r.id = $4 THEN 1 ELSE 0 END AS mine, count(DISTINCT r.id), coalesce(sum(u.llm_calls), 0),
		coalesce(sum(u.cost_usd), 0), coalesce(sum(CASE WHEN u.llm_calls > 0 AND u.cost_usd IS NULL THEN 1 ELSE 0 END), 0)
		FROM runs r LEFT JOIN usage u ON u.run = r.id
		WHERE r.created >= $1 AND ($2 = '' OR (lower(r.repo) = $2 AND r.pr = $3)) GROUP BY mine`, micros(since), strings.ToLower(repo), pr, run)
	if err != nil {
		return own, others, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var mine bool
		var sum Spent
		if err := rows.Scan(&mine, &sum.Runs, &sum.LLMCalls, &sum.CostUSD, &sum.Unpriced); err != nil {
			return own, others, s.wrap(op, err)
		}
		if mine {
			own = sum
		} else {
			others = sum
		}
	}
	return own, others, s.wrap(op, rows.Err())
}
