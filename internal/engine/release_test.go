//go:build unix

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// The lock of a run that ends while the database is away is given back once it is there again: the process lives on, and nobody else could go on with the run.
func TestLockIsGivenBackWhenItCanBe(t *testing.T) {
	t.Parallel()
	server, err := postgres.Start(t.Context())
	if errors.As(err, new(postgres.NotInstalledError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	e, err := Open(t.Context(), Options{Address: server.Database(t), Handler: func(context.Context, *Steps, []byte) ([]byte, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	d, ok := e.dialect.(*postgresServer)
	if !ok {
		t.Fatalf("it is a %T", e.dialect)
	}
	release, err := d.lock(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := release(true); err == nil {
		t.Error("given back to a database that is away")
	}
	if _, err := d.lock(t.Context(), "run"); !errors.Is(err, ErrBusy) {
		t.Errorf("taken before it is given back: %v", err)
	}
	if err := server.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the lock to be given back", func() bool {
		left, err := d.orphans(t.Context())
		return err == nil && slices.Contains(left, "run")
	})
	eventually.True(t, "the run to be anybody's", func() bool {
		again, err := d.lock(t.Context(), "run")
		return err == nil && again(false) == nil
	})
}
