// Package github is prloop's one door to GitHub: it alone holds the credential (design.md "Who holds what"). It reads
// through go-gh's clients, as gh itself would be configured to, and writes by running the real gh.
//
// Reads are retried, within bounds, and never before the time GitHub asks for (threats.md P13). A write is made once: a
// second try after a lost answer posts twice, so what became of it is found out by reading (threats.md "Outbox"). What leaves
// here is a sanitize.Text and nothing else.
package github
