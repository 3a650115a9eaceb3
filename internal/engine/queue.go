package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/prloop/prloop/internal/wallclock"
)

// taskKind is the name that tasks are registered by.
const taskKind = "task"

// A Queue says how the tasks of one name are done.
type Queue struct {
	// Name tells queues apart.
	Name string
	// Workers is how many of its tasks one process does at a time.
	Workers int
	// Poll is how often a process looks for tasks; 0 is ten times a second.
	Poll time.Duration
	// Work does the task with a key. ctx ends when the process stops; what Work answers then is not recorded.
	Work func(ctx context.Context, key string) error
}

// A Task waits for its turn in a queue. It carries nothing but its key: what is to be done is found out when its turn comes.
type Task struct {
	Queue, Key string
	// Priority orders the tasks of a queue, the lowest first; 0 counts as 1.
	Priority uint
	// Delay is how long it does not begin, at least.
	Delay time.Duration
}

// TaskState is what a task is at.
type TaskState string

// The states.
const (
	TaskDelayed TaskState = "delayed"
	TaskWaiting TaskState = "waiting"
	TaskWorking TaskState = "working"
)

// Pending is a task that is not done.
type Pending struct {
	Task
	State TaskState
	// Added is when it was added, Executor the process that does it; empty while none does.
	Added    time.Time
	Executor string
}

// queuePoll is how often a process looks for tasks, unless a queue says otherwise.
const queuePoll = 100 * time.Millisecond

// Add puts a task into its queue. Of tasks with the same key in a queue there is one that waits or is done: added is false when it is there.
// The process that adds need not be one that does tasks.
func (e *Engine) Add(ctx context.Context, t Task) (added bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	opts := []dbos.EnqueueOption{dbos.WithEnqueueDeduplicationID(t.Key), dbos.WithEnqueuePriority(max(t.Priority, 1))}
	if t.Delay > 0 {
		opts = append(opts, dbos.WithEnqueueDelay(t.Delay))
	}
	_, err = dbos.Enqueue[string](e.client, queueName(t.Queue), taskKind, t.Queue+separator+t.Key, opts...)
	if errors.Is(err, dbos.ErrQueueDeduplicated) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("add %q to the queue %s: %w", t.Key, t.Queue, cause(err))
	}
	return true, nil
}

// Tasks lists what is in some queues and not done, the oldest first.
func (e *Engine) Tasks(ctx context.Context, queues ...string) ([]Pending, error) {
	rows, err := e.tasks(ctx, queues, dbos.WithFilterStatus(unfinished...))
	if err != nil {
		return nil, fmt.Errorf("list the tasks of queues: %w", err)
	}
	out := make([]Pending, len(rows))
	for i, w := range rows {
		p := Pending{Task: Task{Queue: w.QueueName[len(queuePrefix):], Key: w.DeduplicationID, Priority: uint(w.Priority)}, Added: w.CreatedAt, State: TaskWaiting} //nolint:gosec // it is what Add gave
		switch w.Status {
		case dbos.WorkflowStatusDelayed:
			p.State = TaskDelayed
		case dbos.WorkflowStatusPending:
			p.State, p.Executor = TaskWorking, w.ExecutorID
		}
		out[i] = p
	}
	return out, nil
}

func (e *Engine) tasks(ctx context.Context, queues []string, opts ...dbos.ListWorkflowsOption) ([]dbos.WorkflowStatus, error) {
	names := make([]string, len(queues))
	for i, q := range queues {
		names[i] = queueName(q)
	}
	return e.query(ctx, append(opts, dbos.WithFilterName(taskKind), dbos.WithFilterQueueName(names...), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))...)
}

// queuePrefix sets the names of queues apart from those of runs; separator stands between a queue's name and a key in what a task is stored as.
const (
	queuePrefix = "tasks-"
	separator   = "\x00"
)

func queueName(name string) string { return queuePrefix + name }

// Workers do the tasks of queues in this process.
type Workers struct {
	engine  *Engine
	c       dbos.Context
	queues  map[string]Queue
	ctx     context.Context
	cancel  context.CancelCauseFunc
	release func()
	once    sync.Once

	mu sync.Mutex
	// working are the ids of the tasks this process is at work on; idle is since when others stand as its own.
	working map[string]bool
	idle    map[string]time.Time
}

// ErrServed: another process does the tasks of this database, which only one may do.
var ErrServed = errors.New("another process serves this database")

// servingLock is the name of the lock that the serving process has, in the place of a run's id.
const servingLock = "serving"

// Serve makes this process do tasks, until Close. What a process that died was at work on is dropped from its queue, and so is what a prloop of
// another version added: whoever knows what is wanted adds it again. Where all processes share the machine, a second one that would serve the
// same database gets ErrServed.
func (e *Engine) Serve(ctx context.Context, queues ...Queue) (*Workers, error) {
	release := func(bool) {}
	if _, several := e.dialect.(shared); !several {
		var err error
		release, err = e.lock(ctx, servingLock)
		if errors.Is(err, ErrBusy) {
			err = ErrServed
		}
		if err != nil {
			return nil, fmt.Errorf("serve %s: %w", e.dialect, err)
		}
	}
	w := &Workers{engine: e, release: func() { release(false) }, queues: map[string]Queue{}, working: map[string]bool{}, idle: map[string]time.Time{}}
	w.ctx, w.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, q := range queues {
		w.queues[q.Name] = q
	}
	if err := w.start(ctx); err != nil {
		w.Close()
		return nil, fmt.Errorf("serve %s: %w", e.dialect, err)
	}
	return w, nil
}

// start begins to do tasks.
func (w *Workers) start(ctx context.Context) (err error) {
	dead, err := w.engine.dead(ctx)
	if err != nil {
		return err
	}
	if _, err := w.drop(ctx, w.names(), func(t dbos.WorkflowStatus) bool {
		return t.Status == dbos.WorkflowStatusPending && dead(t.ExecutorID) || t.Status != dbos.WorkflowStatusPending && t.ApplicationVersion != Version
	}, unfinished...); err != nil {
		return err
	}
	if w.c, err = w.engine.newContext(ctx, bridge{log: w.engine.log}, true); err != nil {
		return err
	}
	dbos.RegisterWorkflow(w.c, w.task, dbos.WithWorkflowName(taskKind))
	var names []string
	for name, q := range w.queues {
		names = append(names, queueName(name))
		if _, err := dbos.RegisterQueue(w.c, queueName(name), dbos.WithWorkerConcurrency(max(q.Workers, 1)), dbos.WithPriorityEnabled(),
			dbos.WithQueueBasePollingInterval(cmp.Or(q.Poll, queuePoll)), dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate)); err != nil {
			return err
		}
	}
	dbos.ListenQueues(w.c, names...)
	return dbos.Launch(w.c)
}

// dead tells the executors of processes that are no more. Where only one process may serve, that is all others: this one has the lock.
func (e *Engine) dead(ctx context.Context) (func(executor string) bool, error) {
	d, several := e.dialect.(shared)
	if !several {
		return func(string) bool { return true }, nil
	}
	living, err := d.living(ctx)
	return func(executor string) bool {
		process, _, _ := strings.Cut(executor, executorSeparator)
		return !slices.Contains(living, process)
	}, err
}

// Reap drops what processes were at work on that are no more, also in queues that this process does no tasks of, and gives the keys: whoever knows
// what is wanted adds them again. Where all processes share the machine there is nothing to reap: Serve drops what was left.
func (w *Workers) Reap(ctx context.Context, queues ...string) ([]string, error) {
	if _, several := w.engine.dialect.(shared); !several {
		return nil, nil
	}
	dead, err := w.engine.dead(ctx)
	if err == nil {
		var keys []string
		keys, err = w.drop(ctx, queues, func(t dbos.WorkflowStatus) bool { return dead(t.ExecutorID) }, dbos.WorkflowStatusPending)
		if err == nil {
			return keys, nil
		}
	}
	return nil, fmt.Errorf("take over what dead processes were at work on: %w", err)
}

// stale is for how long a task stands as one of this process, which is not at work on it, before it is dropped. Until then it may be about to begin, or
// its end to be recorded.
const stale = 5 * time.Second

// Stale drops what stands as this process's work and is not, and gives the keys: the database took that it began, but not that it is over, or its word
// for it was lost (threats.md T687). Whoever knows what is wanted adds it again.
func (w *Workers) Stale(ctx context.Context) ([]string, error) {
	w.mu.Lock()
	maps.DeleteFunc(w.idle, func(_ string, since time.Time) bool { return time.Since(since) > time.Hour }) // it is over, or begins anew
	w.mu.Unlock()
	keys, err := w.drop(ctx, w.names(), func(t dbos.WorkflowStatus) bool { return t.ExecutorID == w.c.GetExecutorID() && w.stale(t.ID) }, dbos.WorkflowStatusPending)
	if err != nil {
		return nil, fmt.Errorf("drop what this process is not at work on any more: %w", err)
	}
	return keys, nil
}

func (w *Workers) stale(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.working[id] {
		return false
	}
	since, ok := w.idle[id]
	if !ok {
		w.idle[id] = time.Now()
	}
	return ok && time.Since(since) >= stale
}

// begin notes that this process is at work on a task until the function is called; ok is false for one that was dropped, or is about to be.
func (w *Workers) begin(id string) (end func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if since, idle := w.idle[id]; idle && time.Since(since) >= stale {
		return nil, false
	}
	delete(w.idle, id)
	w.working[id] = true
	return func() { w.mu.Lock(); delete(w.working, id); w.mu.Unlock() }, true
}

// Close interrupts the tasks this process is at work on, waits for them, drops them, and gives their keys.
func (w *Workers) Close() (dropped []string) {
	w.once.Do(func() {
		w.cancel(ErrClosed)
		defer w.release()
		if w.c == nil {
			return
		}
		if err := dbos.Shutdown(w.c, w.engine.opts.Grace); err != nil {
			w.engine.log.Warn("tasks did not stop in time", "err", err)
			return
		}
		var err error
		if dropped, err = w.drop(context.Background(), w.names(), func(t dbos.WorkflowStatus) bool { return t.ExecutorID == w.c.GetExecutorID() }, unfinished...); err != nil {
			w.engine.log.Debug("tasks that were interrupted are still listed", "err", err)
		}
	})
	return dropped
}

// unfinished are the states of tasks that are not done.
var unfinished = []dbos.WorkflowStatusType{dbos.WorkflowStatusDelayed, dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusPending}

// names are the queues of which this process does tasks.
func (w *Workers) names() []string { return slices.Collect(maps.Keys(w.queues)) }

// drop takes tasks in some states out of queues as if they had never been added, and gives their keys.
func (w *Workers) drop(ctx context.Context, queues []string, which func(dbos.WorkflowStatus) bool, states ...dbos.WorkflowStatusType) (keys []string, err error) {
	rows, err := w.engine.tasks(ctx, queues, dbos.WithFilterStatus(states...))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, t := range rows {
		if which(t) {
			ids, keys = append(ids, t.ID), append(keys, t.DeduplicationID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return keys, dbos.DeleteWorkflows(w.engine.client, ids)
}

// task is what DBOS runs for a task.
func (w *Workers) task(c dbos.Context, input string) (string, error) {
	queue, key, _ := strings.Cut(input, separator)
	id, err := c.GetWorkflowID()
	if err != nil {
		return "", err
	}
	end, ok := w.begin(id)
	if !ok {
		return "", errors.New("it was dropped before it began")
	}
	defer end()
	err = w.do(queue, key)
	if w.ctx.Err() != nil {
		<-c.Done() // what is answered during an interruption is not recorded
		return "", c.Err()
	}
	if err != nil {
		w.engine.log.Warn("a task failed", "queue", queue, "task", key, "err", err)
	}
	return "", err
}

// do does a task; a panic is an error of the task.
func (w *Workers) do(queue, key string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.engine.log.Error("task panicked", "queue", queue, "task", key, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	q, ok := w.queues[queue]
	if !ok {
		return fmt.Errorf("there is no queue %q", queue)
	}
	return q.Work(w.ctx, key)
}

// tasksKept is how long the engine keeps that a task was done.
const tasksKept = 10 * time.Minute

// ForgetTasks forgets tasks that were done some time ago.
func (e *Engine) ForgetTasks(ctx context.Context) error {
	for {
		old, err := e.query(ctx, dbos.WithFilterName(taskKind), dbos.WithFilterStatus(dbos.WorkflowStatusSuccess, dbos.WorkflowStatusError, dbos.WorkflowStatusCancelled),
			dbos.WithFilterCompletedBefore(wallclock.Now().Add(-tasksKept)), dbos.WithFilterLimit(500), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
		if err != nil || len(old) == 0 {
			return err
		}
		ids := make([]string, len(old))
		for i, w := range old {
			ids[i] = w.ID
		}
		if err := dbos.DeleteWorkflows(e.client, ids); err != nil {
			return err
		}
	}
}
