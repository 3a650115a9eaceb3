package tools

import "context"

type fetchArgs struct {
	URL string `json:"url"`
}

// fetch reads a page. Whoever reads it decides what may be read; here nothing is known of hosts but their description.
func (b *Box) fetch(ctx context.Context, a fetchArgs) (page, error) {
	if a.URL == "" {
		return nil, fail(BadArguments, "url is missing")
	}
	got, err := b.o.Fetch(ctx, a.URL)
	return page(got), err
}

type searchWebArgs struct {
	Query string `json:"query"`
}

// searchWeb asks a search provider. Whoever asks it decides what may be asked.
func (b *Box) searchWeb(ctx context.Context, a searchWebArgs) (page, error) {
	if a.Query == "" {
		return nil, fail(BadArguments, "query is missing")
	}
	got, err := b.o.Search(ctx, a.Query)
	return page(got), err
}
