package review

// Priority is how urgent a finding is, as spec.md A1 writes it.
type Priority string

// The four priorities.
const (
	P0 Priority = "P0" // blocking
	P1 Priority = "P1" // critical
	P2 Priority = "P2" // important
	P3 Priority = "P3" // suggestion
)

// Level is one row of the severity table: the four scales the specs use, side by side.
type Level struct {
	Priority Priority
	// Label is the word that follows the priority.
	Label string
	// MinScore and MaxScore bound the 1-10 rubric.
	MinScore, MaxScore int
	// Severity is the word of the scale from critical to low.
	Severity string
	// Meaning is one line for people.
	Meaning string
}

// Levels returns the one severity table, most urgent first.
func Levels() [4]Level {
	return [4]Level{
		{P0, "blocking", 9, 10, "critical", "exploit, data loss, certain failure"},
		{P1, "critical", 7, 8, "high", "fails under real conditions, violates a written rule"},
		{P2, "important", 5, 6, "medium", "brittle, slow, incomplete"},
		{P3, "suggestion", 1, 4, "low", "readability, nits"},
	}
}

// Valid reports whether p is one of the four.
func (p Priority) Valid() bool { return p.Rank() < 4 }

// Rank orders priorities: 0 is the most urgent, 4 is not a priority at all.
func (p Priority) Rank() int {
	for i, l := range Levels() {
		if l.Priority == p {
			return i
		}
	}
	return 4
}

// Severe reports whether p is P0 or P1, which nothing but an answer to them makes go away (decision 32). What is no priority at all
// is severe: nobody said that it is not.
func (p Priority) Severe() bool { return p != P2 && p != P3 }

// Level returns p's row of the severity table; an unknown priority gives the least urgent row.
func (p Priority) Level() Level { return Levels()[min(p.Rank(), 3)] }

// PriorityOfScore maps the 1-10 rubric to a priority; scores outside it are clamped.
func PriorityOfScore(score int) Priority {
	for _, l := range Levels() {
		if score >= l.MinScore {
			return l.Priority
		}
	}
	return P3
}
