package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/tools"
	"github.com/prloop/prloop/review"
)

// A child's tool asks its gateway for a page, and tells a model why there is none.
func TestFetchTool(t *testing.T) {
	g, err := gateway.Start(t.Context(), gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "none", BaseURL: "http://127.0.0.1:1"}},
		Fetch: func(_ context.Context, url string, _ func(string)) (any, error) {
			if url != "https://docs.example.com/a" {
				return nil, errors.New("the operator does not allow the host")
			}
			return map[string]string{"text": "words"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p := Agent{Socket: g.Socket(), Token: g.Issue("one", review.Limits{})}
	g.Permit("one")
	b, err := openTools(review.Task{}, p)(review.Workspace{Tree: t.TempDir(), FetchHosts: []string{"docs.example.com"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	specs := b.Specs()
	if last := specs[len(specs)-1]; last.Name != "web_fetch" || !strings.Contains(last.Description, "docs.example.com") {
		t.Errorf("the last tool is %+v", last)
	}
	if got, err := b.Call(t.Context(), "web_fetch", []byte(`{"url":"https://docs.example.com/a"}`)); err != nil || got != `{"text":"words"}` {
		t.Errorf("%s %v", got, err)
	}
	var why *tools.Error
	if got, err := b.Call(t.Context(), "web_fetch", []byte(`{"url":"https://evil.example/"}`)); !errors.As(err, &why) || !strings.Contains(why.Message, "does not allow") {
		t.Errorf("%s %v", got, err)
	}
	for range 5 {
		_, err = b.Call(t.Context(), "web_fetch", []byte(`{"url":"https://docs.example.com/a"}`))
	}
	if !errors.As(err, &why) || why.Code != tools.Limit {
		t.Errorf("beyond the bound: %v", err)
	}
	none, err := openTools(review.Task{}, p)(review.Workspace{Tree: t.TempDir()}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if got, err := none.Call(t.Context(), "web_fetch", []byte(`{"url":"https://docs.example.com/a"}`)); err == nil {
		t.Errorf("without hosts there is the tool: %s", got)
	}
}
