package running

import (
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

// tell counts a review that is done and says it, with what is left.
func (r *run) tell(w row, v results.Review, took time.Duration, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.set.have[w.key()] = v
	r.done++
	r.spent += w.set.cost(v)
	left := total - r.done
	line := fmt.Sprintf("[%d/%d] %s: %s, %s answered, %d set aside, %d count, %d prominent; %s", r.done, total, w, v.Outcome, plural(len(v.Stages.Answered), "finding", "findings"),
		len(v.Stages.SetAside), len(v.Stages.Counted), len(v.Stages.Prominent), took.Round(time.Second/10))
	if r.Replay == "" {
		line += ", " + Dollars(spent(v))
	}
	if v.Result.Status != review.StatusOK {
		line += "; " + v.Reason
	}
	for _, a := range v.Agents {
		if why := a.Whole(); why != "" {
			line += fmt.Sprintf("; %s: %s", a.Name, why)
		}
	}
	if left > 0 {
		line += fmt.Sprintf("; left: about %s", (time.Since(r.begun) * time.Duration(left) / time.Duration(r.done)).Round(time.Second))
		if r.Replay == "" && spent(v) != nil {
			line += fmt.Sprintf(", $%.2f", r.spent/float64(r.done)*float64(left))
		}
	}
	r.Say(line)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// summaries say what stands in each set.
func (r *run) summaries() []Summary {
	var out []Summary
	for _, s := range r.sets {
		sum := Summary{Agent: s.Name, Dir: s.dir, Done: len(s.have), Planned: s.planned, CostUSD: new(float64)}
		for _, v := range s.have {
			if v.Result.Status == review.StatusError {
				sum.Failed++
			}
			n := float64(len(s.have))
			if v.Stages != nil {
				sum.Answered += float64(len(v.Stages.Answered)) / n
				sum.SetAside += float64(len(v.Stages.SetAside)) / n
				sum.Counted += float64(len(v.Stages.Counted)) / n
				sum.Prominent += float64(len(v.Stages.Prominent)) / n
			}
			if usd := spent(v); usd == nil || sum.CostUSD == nil {
				sum.CostUSD = nil
			} else {
				*sum.CostUSD += *usd
			}
			sum.Seconds += v.Result.Stats.Seconds
		}
		out = append(out, sum)
	}
	return out
}
