package postgres

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	status := m.Run()
	Stop()
	os.Exit(status)
}

// What was acknowledged is there after the server was killed, and a database of one test has nothing of another's.
func TestServer(t *testing.T) {
	one, two := New(t), New(t)
	if one == two {
		t.Fatalf("both are %s", one)
	}
	SQL(t, one, "CREATE TABLE a (n int); INSERT INTO a VALUES (7)")
	if got := SQL(t, two, "SELECT to_regclass('a') IS NULL"); got != "t" {
		t.Errorf("another database has the table: %s", got)
	}
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := SQL(t, one, "SELECT n FROM a"); got != "7" {
		t.Errorf("after a kill: %s", got)
	}
}

// The server ends with its files.
func TestStop(t *testing.T) {
	New(t)
	s, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.root); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", s.root, err)
	}
}
