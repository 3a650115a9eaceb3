package acp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

func TestDesk(t *testing.T) {
	t.Run("a short path", func(t *testing.T) { testDesk(t, t.TempDir()) })
	t.Run("a path no socket can have", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only Linux names a socket by its open folder")
		}
		dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		testDesk(t, dir)
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind %v", left)
		}
	})
}

func testDesk(t *testing.T, dir string) {
	t.Helper()
	d, err := openDesk(t.Context(), dir, func(doc []byte) error {
		if string(doc) != `{"a":1}` {
			return errors.New("a is not 1")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, row := range []struct{ name, token, doc, want string }{
		{"whoever does not know the token is not heard", "other", `{"a":1}`, "hand the result over"},
		{"a refusal reaches the model", d.token, `{"a":2}`, "a is not 1"},
		{"a valid document is taken", d.token, `{"a":1}`, ""},
		{"a later invalid one does not replace it", d.token, `{"a":3}`, "a is not 1"},
	} {
		err := submit(t.Context(), d.path(), row.token, json.RawMessage(row.doc))
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if valid, refused, calls, _ := d.standing(); string(valid) != `{"a":1}` || string(refused) != `{"a":3}` || calls != 3 {
		t.Errorf("%s %s %d", valid, refused, calls)
	}
	for range maxSubmits {
		_ = d.take([]byte(`{"a":1}`))
	}
	if err := d.take([]byte(`{"a":1}`)); err == nil {
		t.Error("results without end are taken")
	}
}

func TestLastObject(t *testing.T) {
	fine := func(doc []byte) error {
		if !strings.Contains(string(doc), "good") {
			return errors.New("not good")
		}
		return nil
	}
	for _, row := range []struct{ name, text, want, err string }{
		{"prose and code around it", `if (a) { b } says {"findings":["good"]} and {"other":1}`, `{"findings":["good"]}`, ""},
		{"braces in strings", `{"findings":["good } {"]}`, `{"findings":["good } {"]}`, ""},
		{"a sketch before it may be what was meant (threats.md T789)", `{"findings":[]} {"findings":["good"]}`, "", "may hold another"},
		{"so may one that is cut off", `{"findings":["good",1 {"findings":["good"]}`, "", "may hold another"},
		{"and one before many braces", "{\"findings\":[\"good\",1]}" + strings.Repeat(`{"a": b}`, 100) + `{"findings":["good"]}`, "", "may hold another"},
		{"the same twice is one answer", `{"findings":["good"]} {"findings":["good"]}`, `{"findings":["good"]}`, ""},
		{"two different answers are none (threats.md T85)", `{"findings":["good",1]} {"findings":["good",2]}`, "", "may hold another"},
		{"an object that is cut off", `{"findings":["good"`, "", "no JSON object"},
		{"no object at all", `fine`, "", "no JSON object"},
		{"thousands of openings cost little", strings.Repeat(`{"a":`, 100_000), "", "too long"},
	} {
		got, err := lastObject([]byte(row.text), review.RoleReviewer, fine)
		if string(got) != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %s, %v", row.name, got, err)
		}
	}
}
