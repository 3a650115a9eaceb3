// Package postgres connects to a PostgreSQL that processes on several machines share, and keeps those that live apart from those that
// do not.
//
// Every process that has the database open is a row of prloop.processes, from Join to Leave. It says with a heartbeat that it lives;
// one whose heartbeat has run out by the database's clock may be buried: its row is deleted, for good. Two things follow:
//
//   - What it had, runs and their locks, is free (Lock, Orphans).
//   - It writes nothing any more, should it only have been stopped for a while. Each of its connections names it, and a trigger on every
//     table asks in the same transaction whether its row is there. Burying waits for transactions that have asked already.
//
// So no clock of any machine, and no care of the process that was stopped, is needed to be safe; the heartbeat only says when others
// may begin. The tables of this package stand in the schema prloop, with those of the store; DBOS has a schema of its own.
package postgres
