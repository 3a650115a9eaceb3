package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the variables of sign-in lack is said in words that fit both commands which show pages.
func TestSignInSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("shared\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		env     map[string]string
		address string
		want    string // of the error; empty for none
	}{
		{nil, "", ""},
		{nil, "https://prloop.example/", ""},
		{map[string]string{envID: "id", envSecret: file}, "https://prloop.example", ""},
		{map[string]string{envID: "id", envSecret: file}, "", "--address, or --dashboard-url of prloop serve"},
		{map[string]string{envID: "id"}, "https://prloop.example", envID + " and " + envSecret + " belong together"},
		{map[string]string{envID: "id", envSecret: file + "2"}, "https://prloop.example", envSecret + ": open"},
		{map[string]string{envID: "id", envSecret: os.DevNull}, "https://prloop.example", "is empty"},
		{nil, "https://user@prloop.example", "is no address"},
		{nil, "https://prloop.example/pages", "is no address"},
		{nil, "javascript:alert(1)", "is no address"},
	} {
		got, err := SignIn(func(name string) string { return row.env[name] }, row.address)
		switch {
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%v at %q: %v; want %q", row.env, row.address, err, row.want)
		case row.want == "" && err != nil:
			t.Errorf("%v at %q: %v", row.env, row.address, err)
		case row.want == "" && row.env != nil && (got.GitHub.Callback != "https://prloop.example/sign-in/callback" || got.GitHub.Secret != "shared"):
			t.Errorf("%+v", got.GitHub)
		}
	}
}
