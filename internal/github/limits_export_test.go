package github

import "time"

// forget drops all times; a new process knows none.
func (l *limits) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.of = time.Time{}, nil
}
