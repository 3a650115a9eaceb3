package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/tools"
)

// acpToolbox hands the tools that read a tree to an ACP agent.
type acpToolbox struct{ *tools.Box }

// Specs are the tools' own, in the words of package acp.
func (t acpToolbox) Specs() []acp.ToolSpec {
	var all []acp.ToolSpec
	for _, s := range t.Box.Specs() {
		all = append(all, acp.ToolSpec(s))
	}
	return all
}

// mcpCommand is the server of the tools an ACP agent reads with and answers through; the agent starts it.
func mcpCommand(p *Proc) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the tools of an ACP agent", Hidden: true, Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return acp.ServeMCP(c.Context(), os.Stdin, os.Stdout, p.env, func(tree string) (acp.Toolbox, error) {
				b, err := tools.Open(readOnly(tree))
				return acpToolbox{b}, err
			})
		},
	}
}
