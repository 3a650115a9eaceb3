package store

import "context"

// Spending is what the calls of a run to models came to, with what is held for calls that were on their way.
type Spending struct {
	LLMCalls, ToolCalls, Tokens int
	CostUSD                     float64
}

// SaveSpending keeps what a run spent so far, over all of its processes.
func (s *Store) SaveSpending(ctx context.Context, run string, sum Spending) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO spending (run, llm_calls, tool_calls, tokens, cost_usd) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run) DO UPDATE SET llm_calls = $2, tool_calls = $3, tokens = $4, cost_usd = $5`,
		run, sum.LLMCalls, sum.ToolCalls, sum.Tokens, sum.CostUSD)
	return s.wrap("keep what run "+run+" spent", err)
}

// Spending is what was kept last of a run; zero when nothing was.
func (s *Store) Spending(ctx context.Context, run string) (Spending, error) {
	var sum Spending
	err := s.read.QueryRowContext(ctx, `SELECT llm_calls, tool_calls, tokens, cost_usd FROM spending WHERE run = $1`, run).
		Scan(&sum.LLMCalls, &sum.ToolCalls, &sum.Tokens, &sum.CostUSD)
	if missing(err) {
		return Spending{}, nil
	}
	return sum, s.wrap("look up what run "+run+" spent", err)
}
