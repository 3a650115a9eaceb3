// Package store keeps prloop's own record: runs, rounds, findings, usage and the outbox of effects. It is the only user of
// database/sql.
//
// What one kind of database does in its own way stands behind a dialect; what every kind has to do stands in storetest.
//
// The tables stand in the same database as the engine's: one database to back up, to move and to check, and a later step
// can write its record and the engine's in one transaction. Only runs, never rows, are shared by id. The names do not
// collide, and on PostgreSQL the engine has a schema of its own. The SQL keeps to what both databases understand.
//
// The outbox is what makes an effect on GitHub happen exactly once (threats.md "Outbox"):
//
//	          Intent            Sending               Ack
//	(none) ─────────▶ intent ───────────▶ sent ──────────────▶ acked
//	                                       │ ▲                   ▲
//	                                Absent ▼ │ Sending, same     │ Ack: found after all
//	                                      absent ────────────────┘
//
// A row in state intent has surely not been sent. One in state sent may have been: after a crash, it is looked for on GitHub
// before anything else.
//
// One run at a time works on a pull request: it holds a lease (Take), and Sending refuses whoever lost it. Leases go by the database's
// clock; this machine's says when something was noted down.
//
// Each change is on disk when its method returns.
package store
