// Package proc starts every child process of prloop and takes it down again; it is the only importer of os/exec
// (design.md "Supervision"). A child costs at most its time and its bytes (threats.md T80-T84): deadlines, an idle
// watchdog, bounded streams, TERM then KILL for the whole tree, and nothing that survives the run or prloop itself.
//
// On Linux a child is started through a leash: a small process of the same binary that stands between prloop and the
// child. Killing a process group leaves what called setsid (security finding 4), and a death signal reaches the first
// child only; the leash adopts every descendant that loses its parent, so the tree stays a tree and can be walked. It
// holds one end of a socket: when prloop dies, however it dies, the leash sees end of file and kills all of it. A child
// that kills its parent kills the leash, and what it leaves behind falls to prloop, which adopts and ends it as well.
//
// Elsewhere a child has a session and process group of its own and is killed by group; what calls setsid there escapes.
// On Windows only the first process is ended. Both are lower tiers and no place for untrusted agents.
package proc
