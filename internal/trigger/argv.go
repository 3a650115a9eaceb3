package trigger

import (
	"strings"

	"github.com/kballard/go-shellquote"
)

// Split gives the words of a command's arguments. Quotes keep words together and are not part of them; text whose quotes do not
// match is split at white space alone.
func Split(args string) []string {
	words, err := shellquote.Split(args)
	if err != nil {
		words = strings.Fields(args)
	}
	if words == nil {
		return []string{}
	}
	return words
}
