// Package failpoint names the places where the loop may be stopped by a test: killed, or told that something went wrong
// (threats.md "Fault matrix"). Nothing is armed in ordinary use, and then a point costs one atomic load.
//
// A point is a package-level variable next to the code it interrupts, hit where a kill is to be survived:
//
//	var afterIntent = failpoint.New("outbox: after intent")
//
//	if err := afterIntent.Hit(); err != nil {
//		return err
//	}
//
// A test enumerates Names, arms each and checks what is left afterwards, so a point that is never reached is found out.
// Which points stand for which kill point of threats.md "Fault matrix":
//
//	K03  lease: taken                      the lease is on disk, the run is not
//	K04  run: recorded                     the run's row is written
//	K05  git: fetching                     in the middle of a fetch
//	K06  workspace: made                   the export exists, nothing says so
//	K07  reviewers: asking                 some run
//	K08  reviewers: one answered           one answer is stored, others are not
//	K09  reviewers: all answered           answers parsed, not stored
//	K10  consensus: decided                the verdict is not stored
//	K11  outbox: before intent             nothing is on GitHub
//	K12  outbox: after intent, outbox: sending
//	K13  github: before comment            the call has not begun
//	K14  github: after comment             GitHub has answered, nobody has read it
//	K13  github: before review             likewise for a review with comments on lines
//	K14  github: after review
//	K13  github: before reply              likewise for an answer in a thread
//	K14  github: after reply
//	K15  outbox: before ack                read, not stored
//	K16  outbox: after ack
//	K17  report: between parts
//	K18  fixer: asked                      its clone is dirty
//	K19  fixer: answered                   its work is not taken out
//	K20  fix: rewritten                    the commits exist, nothing says so
//	K21  push: before                      intended, not sent
//	K22  push: after                       GitHub has it, nothing says so
//	K23  push: recorded
//	K24  verify: running
//	K25  the outbox's points again, for the fix report
//	K26  round: before save, round: after save
//	K27  run: before finish                the status is set, the run is open
//	K28  cleanup: half done
//	K29  drain: begun                      after SIGTERM
//	K30  outbox: absent                    recovery itself
//	K31  store: migrating
//	K32  github: before status             a status is pending, the next one has not begun
//	K33  github: after status              GitHub has answered, nobody has read it
//	K34  command: before its comment       the report is posted, the answer of a command is not
//	K35  command: between lines and summary
//	K70  scan: posted                      the comment of a scan stands
//	K71  scan: escalated                   its comment says that a full review follows, the status does not
//	K77  context: discovered               a finder has asked for files, nobody has read them
//	K78  blobs: uploaded                   the blob store has a file, nothing says so
//	K72  github: before editing a comment  the call has not begun
//	K73  github: after editing a comment   GitHub has answered, nobody has read it
//	K75  sticky: comment found             the comment that gets another report is chosen
//	K40  job: branch settled
//	K41  job: command asked                its clone is dirty
//	K42  job: command answered             its work is not taken out
//	K43  job: command done                 its commits are stored
//	K44  branch: before push               intended, not sent
//	K45  branch: after push                GitHub has it, nobody has read it
//	K46  job: pushed                       the push is recorded
//	K47  github: before pull request       the call has not begun
//	K48  github: after pull request        GitHub has answered, nobody has read it
//	K49  job: pull request there           recorded, the run is open
//	K50  asked: accepted                   the comment has its reaction, and no answer
//	K52  threads: answered               an answer stands in a thread, what follows on it is not done
//	K58  delivery: verified                the delivery is GitHub's, and not stored
//	K59  delivery: stored                  GitHub has no answer yet
//	K60  wanted: before it is settled      the run has ended, what was wanted is open
//	K61  reconcile: before it is noted     what no event told of is wanted, and not noted when it was asked for
//	K68  policy: saving                    a row and its history are written, not committed
package failpoint
