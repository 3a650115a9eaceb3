package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/subcommand"
)

// What another package says about its command is how it is parsed, helped with and run.
func TestOffered(t *testing.T) {
	var asked string
	echo := func() subcommand.Command {
		f := subcommand.Flags("echo")
		loud := f.BoolP("loud", "l", false, "louder")
		return subcommand.Command{
			Use: "echo WORD [MORE]", Short: "Say it", Flags: f, Values: []string{"hello"},
			Run: func(_ context.Context, p subcommand.Process, a []string) error {
				asked = fmt.Sprintf("%v %t %s %s", a, *loud, p.Getenv("A"), p.Dir)
				return nil
			},
		}
	}
	group := func() subcommand.Command {
		rest := subcommand.Command{Use: "rest CMD [ARGS...]", Rest: true, Run: func(_ context.Context, p subcommand.Process, a []string) error {
			asked = strings.Join(a, "|")
			return subcommand.Status(len(a))
		}}
		return subcommand.Command{Use: "say", Short: "Say things", Members: []subcommand.Command{echo(), rest}}
	}
	for _, c := range []struct {
		args, asked, err, out string
	}{
		{"say echo a", "[a] false 1 /here", "", ""},
		{"say echo a -l b", "[a b] true 1 /here", "", ""},
		{"say echo", "", "say echo needs WORD", ""},
		{"say echo a b c", "", `say echo: unexpected argument "c"`, ""},
		{"say echo --lout a", "", "unknown flag: --lout", ""},
		{"say rest x --loud -- y", "x|--loud|--|y", "exit", ""},
		{"say ecko", "", `unknown command "ecko" of say; did you mean "echo"?`, ""},
		{"say", "", "", "Say things"},
		{"__complete say echo h", "", "", "hello"},
	} {
		asked = ""
		var out bytes.Buffer
		p := Invocation{Name: "prloop", Stdout: &out, Stderr: &out, Env: []string{"A=1"}, Dir: "/here"}
		root := &cobra.Command{Use: "prloop", SilenceErrors: true, SilenceUsage: true}
		root.SetOut(&out)
		root.SetErr(&out)
		root.AddCommand(p.offered(group()))
		root.SetArgs(strings.Fields(c.args))
		err := root.Execute()
		if asked != c.asked || c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) || !strings.Contains(out.String(), c.out) {
			t.Errorf("%s: asked %q, %v, %q", c.args, asked, err, out.String())
		}
		if h, ok := err.(advice.Error); ok && h.Status != advice.Usage {
			t.Errorf("%s: status %d", c.args, h.Status)
		}
	}
}
