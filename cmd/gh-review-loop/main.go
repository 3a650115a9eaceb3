// Command gh-review-loop is prloop under the name gh looks for: `gh review-loop 123` is `prloop run 123`.
package main

import (
	"os"

	"github.com/prloop/prloop/internal/cli"
)

func main() { os.Exit(cli.Program("gh review-loop")) }
