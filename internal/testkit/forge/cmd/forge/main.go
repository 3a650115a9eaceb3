// Command forge serves a GitHub stand-in by hand: it opens a pull request from each case folder named, prints the
// environment that points gh and prloop at it, and serves until interrupted.
//
//	go run ./internal/testkit/forge/cmd/forge --writers octocat,contributor CASE…   # then paste the exports into another terminal
//
// The token belongs to octocat, and the pull requests to contributor: without --writers nobody may push.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/contract"
)

func main() {
	host := flag.String("host", "github.com", "the host to be")
	writers := flag.String("writers", "", "`LOGINS` that may write to the repositories, separated by commas")
	flag.Parse()
	if err := run(*host, strings.FieldsFunc(*writers, func(r rune) bool { return r == ',' }), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "forge:", err)
		os.Exit(1)
	}
}

func run(host string, writers, cases []string) error {
	checker, err := contract.New()
	if err != nil {
		return err
	}
	f, err := forge.Start(forge.Options{Contract: checker})
	if err != nil {
		return err
	}
	defer f.Close()
	for _, dir := range cases {
		p, err := f.OpenCase(dir)
		if err != nil {
			return err
		}
		c, err := forge.ReadCase(dir)
		if err != nil {
			return err
		}
		owner, name, _ := strings.Cut(c.Repo, "/")
		repo, err := f.AddRepo(owner, name)
		if err != nil {
			return err
		}
		for _, login := range writers {
			repo.SetPermission(login, forge.Write)
		}
		fmt.Printf("# %s#%d\n", c.Repo, p.Number)
	}
	for _, e := range f.Env(host) {
		name, value, _ := strings.Cut(e, "=")
		if name != "PATH" && name != "HOME" && !strings.HasPrefix(name, "XDG_") {
			fmt.Printf("export %s='%s'\n", name, value)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	for _, v := range f.Violations() {
		fmt.Fprintln(os.Stderr, "contract broken:", v)
	}
	return nil
}
