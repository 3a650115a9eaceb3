package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/operator"
)

// A cache is where the tool's variable says, else where the tool keeps it, and is one only if it looks like one.
func TestCaches(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"go/pkg/mod/cache", "elsewhere/cache", "first/pkg/mod/cache", ".cargo/registry", ".npm/_logs", "npm/_cacache"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "[]"},
		{map[string]string{"HOME": home}, "[{go HOME/go/pkg/mod} {cargo HOME/.cargo}]"},
		{map[string]string{"HOME": home, "GOPATH": home + "/first:" + home, "NPM_CONFIG_CACHE": home + "/npm", "CARGO_HOME": home}, "[{go HOME/first/pkg/mod} {npm HOME/npm}]"},
		{map[string]string{"GOMODCACHE": home + "/elsewhere", "CARGO_HOME": ".cargo"}, "[{go HOME/elsewhere}]"},
	} {
		words := operator.Words{Get: func(name string) string { return c.env[name] }}
		if got := strings.ReplaceAll(fmt.Sprint(words.Caches()), home, "HOME"); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}
