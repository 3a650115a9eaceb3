package sandbox

import "testing"

// What lies in connections that nobody reads is bounded, also where nobody has accepted them; a child may leave some.
func TestTCPIsBounded(t *testing.T) {
	t.Parallel()
	for name, start := range starters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, row := range []struct{ megabytes, how, stay, rule string }{{"4", "accepted", "2s", ""}, {"64", "accepted", "1m", RuleMemory}, {"64", "waiting", "1m", RuleMemory}} {
				r := start(t, "unread", row.megabytes, row.how, row.stay)
				r.order.Policy.Loopback, r.order.Policy.Limits.TCPBytes = true, 16<<20
				out, errs, code := r.run()
				if rule, _ := Exceeded(code, []byte(errs)); rule != row.rule || rule == "" && (code != 0 || out != "done\n") {
					t.Errorf("%s MB, %s: status %d, rule %q, %q\n%s", row.megabytes, row.how, code, rule, out, errs)
				}
			}
		})
	}
}
