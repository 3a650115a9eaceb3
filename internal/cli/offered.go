package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/agentcli"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/appcli"
	"github.com/prloop/prloop/internal/democli"
	"github.com/prloop/prloop/internal/doctor"
	"github.com/prloop/prloop/internal/evalcli"
	"github.com/prloop/prloop/internal/plumbing"
	"github.com/prloop/prloop/internal/policycli"
	"github.com/prloop/prloop/internal/servecli"
	"github.com/prloop/prloop/internal/starter"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
)

// offer hangs the commands that other packages have below the root. A package with commands has its line here.
func (p *Invocation) offer(root *cobra.Command) {
	addGroup(root, setUp, p.offered(starter.Command()), p.offered(doctor.Command(p.host())), p.offered(policycli.Commands(p.host())), p.offered(appcli.Commands()), p.offered(democli.Command(runInside)))
	addGroup(root, building, p.offered(evalcli.Commands(p.openToEval)), p.offered(agentcli.Commands()), p.offered(plumbing.Schema()),
		p.offered(plumbing.Consensus()), p.offered(plumbing.Sanitize()))
	addGroup(root, serving, p.offered(servecli.Serve(p.host())), p.offered(servecli.Worker(p.host())), p.offered(servecli.Broker(p.host())), p.offered(servecli.Front(p.host())), p.offered(servecli.Dashboard(p.host())))
	for _, c := range servecli.Operate(p.host()) {
		addGroup(root, serving, p.offered(c))
	}
	root.AddCommand(p.offered(plumbing.Version()))
}

// offered is a command of another package as the root takes it.
func (p *Invocation) offered(e subcommand.Command) *cobra.Command {
	c := &cobra.Command{Use: e.Use, Short: e.Short, Long: e.Long, Example: e.Example, Hidden: e.Hidden, ValidArgs: e.Values}
	var members []*cobra.Command
	for _, m := range e.Members {
		members = append(members, p.offered(m))
	}
	if e.Run == nil {
		return group(c, members...)
	}
	c.AddCommand(members...)
	if e.Flags != nil {
		c.Flags().AddFlagSet(e.Flags)
	}
	c.Flags().SetInterspersed(!e.Rest)
	for flag, values := range e.Choices {
		completes(c, flag, values...)
	}
	c.Args = args(asUsed)
	c.RunE = func(c *cobra.Command, a []string) error { return e.Run(c.Context(), p.process(), a) }
	return c
}

// asUsed wants as many arguments as the usage line has.
func asUsed(c *cobra.Command, a []string) error {
	if need, most := arguments(c); len(a) < len(need) || len(a) > most {
		return errors.New("wrong number of arguments")
	}
	return nil
}

// process is what commands of other packages know of this process.
func (p *Invocation) process() subcommand.Process {
	return subcommand.Process{
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Env: p.Env, Dir: p.Dir, Version: Version,
		Terminal: p.terminal(p.Stdout), Color: p.color(), Width: p.width(),
	}
}

// host is what commands that work with runs get.
func (p *Invocation) host() host.Host {
	return host.Host{
		Operator: p.operator(), StateFolder: p.stateFolder, Open: p.open, OpenToRun: p.openToRun, Log: p.logger,
		Order: func() (app.Order, error) { return p.order(runOptions{}) },
	}
}

// runInside runs the program in this process, with no input.
func runInside(p subcommand.Process, env []string, dir string, args ...string) int {
	return Main(Invocation{Name: "prloop", Args: args, Stdin: strings.NewReader(""), Stdout: p.Stdout, Stderr: p.Stderr, Env: env, Dir: dir})
}
