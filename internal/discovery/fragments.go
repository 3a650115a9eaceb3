package discovery

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Read reads what a finder asked for, as far as the listings offered it, and says what it refused. Texts are masked.
func Read(ctx context.Context, src Source, o Options, listings []review.Listing, wanted []review.Wanted) (fragments []review.Fragment, refused []string, err error) {
	offered := map[string]bool{}
	for _, l := range listings {
		for _, name := range l.Files {
			offered[path.Join(spelling.Raw(l.Folder), spelling.Raw(name))] = true
		}
	}
	var names []string
	reasons := map[string]string{}
	for _, w := range wanted {
		name := spelling.Raw(w.File)
		switch {
		case slices.Contains(names, name):
		case !offered[name]:
			refused = append(refused, what(w)+" was not offered")
		case len(names) == o.Fragments:
			refused = append(refused, fmt.Sprintf("%s is more than %d files", what(w), o.Fragments))
		default:
			names, reasons[name] = append(names, name), reason(w.Reason)
		}
	}
	texts, err := src.ReadFiles(ctx, o.Commit, names, fileLimit)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		text, ok := texts[name]
		f := review.Fragment{File: spelling.Name(name), Reason: reasons[name]}
		switch {
		case !ok:
			refused = append(refused, f.File+" cannot be read, or is too large")
			continue
		case strings.ContainsRune(string(text), 0):
			refused = append(refused, f.File+" is no text")
			continue
		}
		f.Text = spelling.Text(string(text))
		keys := sanitize.KeyLines{}
		keys.LearnNamed(name, f.Text)
		f.Text = sanitize.Spelled(f.Text)
		if _, err := sanitize.MaskChange(ctx, o.Learned, []*string{&f.Text}, nil, map[*string]sanitize.KeyLines{&f.Text: keys}, []*string{&f.Reason}); err != nil {
			return nil, nil, err
		}
		if f.Text, f.Cut = begins(f.Text, perFragment*o.Chars); f.Text == "" { // cut last: what tells that a value is a secret may stand behind it (threats.md T793)
			refused = append(refused, f.File+" has no line that could be shown")
			continue
		}
		f.Lines = strings.Count(strings.TrimSuffix(f.Text, "\n"), "\n") + 1
		fragments = append(fragments, f)
	}
	return fragments, refused, nil
}

// begins is as many whole lines of a text as fit into so many characters.
func begins(text string, most int) (string, bool) {
	if utf8.RuneCountInString(text) <= most {
		return text, false
	}
	n, end := 0, 0
	for line := range strings.Lines(text) {
		if n += utf8.RuneCountInString(line); n > most {
			break
		}
		end += len(line)
	}
	return text[:end], true
}
