// Package engine makes a run durable. It is the only importer of DBOS Transact, which keeps what every step of
// a run answered in a database, so that a run that was killed goes on where it stood and pays for no answer twice.
//
// A run is one workflow, known by its id:
//
//	          Run                     every step stored
//	(none) ───────▶ pending, live ───────────────────────▶ done | failed
//	                  │        ▲                            (for ever; Run and Resume give the stored result)
//	   killed, Ctrl-C,│        │ Run, Resume
//	   Halt, no disk  ▼        │
//	                pending, not live
//
// What DBOS alone would do and we do not want, and how it is avoided:
//
//   - Starting DBOS resumes every pending workflow of the same executor id, whoever is running it. Here every started run
//     has an executor id nobody had before, so a start resumes nothing (libraries 1, trap 2).
//   - Resuming puts a workflow into a queue that every process with the same code listens to. Here each run has a queue of
//     its own, and only the process that holds the run's lock listens to it.
//   - Cancelling a workflow through its API ends it for good and leaves the running step alone (trap 4). Here each live run
//     has a DBOS context of its own, and interrupting the run is shutting that context down: the contexts of its steps
//     are cancelled at once, nothing is recorded for them, and the workflow stays pending.
//
// Beside runs there are queues of tasks, for a process that serves (queue.go). A task has a key and nothing else; DBOS orders tasks by priority, bounds how many are
// done at a time, and keeps one of a key. What is to be done about a key is found out when its turn comes, so a task that was interrupted is dropped
// and not resumed: whoever wanted it adds it again, and the run it was at work on is resumed as every other.
//
// What one kind of database does in its own way stands behind a dialect. On SQLite the lock of a run is an advisory file lock, which
// the kernel gives back when the process dies, however it dies; it holds on one machine. On PostgreSQL it is a row that names a process,
// and a process that was silent for too long writes nothing any more (decision 65).
package engine
