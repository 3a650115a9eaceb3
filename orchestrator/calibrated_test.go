package orchestrator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// table is what is known of a verifier's model that is right in a tenth of what it gives 0.5, and of a reviewer's whose sure findings
// are worth nothing.
func table() *calibration.Table {
	var all []calibration.Observation
	for i := range 100 {
		all = append(all, calibration.Observation{Model: "boaster", Of: calibration.Probability, Stated: 0.5, Held: i < 10, From: calibration.FromRuns})
	}
	for range 1000 {
		all = append(all, calibration.Observation{Model: "sure", Of: calibration.Confidence, Stated: 0.9, From: calibration.FromEval})
	}
	t := calibration.Fit(all)
	return &t
}

// A table decides by what a model's word is worth, says so in the receipt, and is stored with the inputs that a replay judges. Where
// it does not know the model, or several answered, the word is taken as it is.
func TestCalibration(t *testing.T) {
	in := round()
	in.Reports[0] = says("alpha", found(review.P2, "Divides by zero when empty"))
	in = verified(in, chance("F1", 0.5))
	in.Request.Rule = RuleVerified
	plain := Judge(in)
	if plain.Result.NotTaken != 0 || strings.Contains(plain.Report, "Calibration") || plain.Result.Receipt.Calibration != "" {
		t.Fatalf("without a table: %d left out\n%s", plain.Result.NotTaken, plain.Report)
	}
	for _, row := range []struct {
		name     string
		models   []string
		notTaken int
		says     string
	}{
		{"a model it knows", []string{"boaster"}, 1, "probability of `boaster` (100 findings)"},
		{"one it does not know", []string{"other"}, 0, "none for the probability of `other`"},
		{"two models", []string{"boaster", "other"}, 0, "none for `verifier`, of which several models answered"},
	} {
		in := in
		verifier := *in.Verifier
		verifier.Answer.Receipt.Usage.Models = row.models
		in.Verifier, in.Request.Calibration = &verifier, table()
		got := Judge(in)
		if got.Result.NotTaken != row.notTaken || !strings.Contains(got.Report, "- Calibration: table `"+table().ID()+"`: "+row.says) {
			t.Errorf("%s: %d left out, want %d, and %q in\n%s", row.name, got.Result.NotTaken, row.notTaken, row.says, got.Report)
		}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var back Inputs
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if again := Judge(back); again.Report != got.Report {
			t.Errorf("%s: a replay gives another report\n%s", row.name, again.Report)
		}
	}
}

// Where no verifier gives a chance, a reviewer's confidence is worth what the table says of its model.
func TestCalibratedConfidence(t *testing.T) {
	in := round()
	f, sure := found(review.P2, "Divides by zero when empty"), 0.9
	f.Confidence = &sure
	for i, name := range []string{"alpha", "beta"} {
		in.Reports[i] = says(name, f)
		in.Reports[i].Answer.Receipt.Model = "sure"
	}
	open := func(in Inputs) bool {
		return decide(match(gather(in).assess())).open()[0]
	}
	if !open(in) {
		t.Fatal("what two raise does not stand in the open part")
	}
	in.Request.Calibration = table()
	if open(in) {
		t.Error("what is worth nothing stands in the open part")
	}
	if got := Judge(in).Result.Receipt.Calibration; !strings.Contains(got, "confidence of `sure` (1000 findings)") {
		t.Errorf("the receipt says %q", got)
	}
}
