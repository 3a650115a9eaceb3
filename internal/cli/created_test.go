package cli_test

import (
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/prloop/prloop/internal/testkit/forge/history"
)

// mostCreated is how many requests of a round create content on a pull request, beside one for each thread that is answered: a report, a
// review with comments on lines, and the report of a fix.
const mostCreated = 3

// cmdCreated checks that every round so far kept to mostCreated, that no round answered more threads than there are, and how many rounds
// posted: created ROUNDS
func cmdCreated(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1, "created ROUNDS")
	w := worldOf(ts)
	rounds := history.History{Log: w.forge.Log(), Login: "octocat"}.PerRound()
	if strconv.Itoa(len(rounds)) != args[0] {
		ts.Fatalf("%d rounds posted, want %s: %v", len(rounds), args[0], rounds)
	}
	for round, p := range rounds {
		if p.Created > mostCreated {
			ts.Fatalf("%s made %d requests that create content, allowed are %d beside answers", round, p.Created, mostCreated)
		}
		fmt.Fprintf(ts.Stdout(), "%s: %d and %d answers\n", round, p.Created, p.Answers)
	}
}
