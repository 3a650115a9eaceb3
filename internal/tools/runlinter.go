package tools

import "context"

// lintArgs are those of run_linter.
type lintArgs struct {
	Files []string `json:"files"`
}

// Remarks is what run_linter answers.
type Remarks struct {
	Remarks []Remark
	// Missing is how many more there are.
	Missing int
}

const remarkLimit = 60

func (b *Box) lint(ctx context.Context, a lintArgs) (Remarks, error) {
	if len(a.Files) == 0 || len(a.Files) > 20 {
		return Remarks{}, fail(BadArguments, "name 1 to 20 files")
	}
	var names []string
	for _, f := range a.Files {
		name, err := b.check(f)
		if err != nil {
			return Remarks{}, err
		}
		if _, err := b.text(name); err != nil {
			return Remarks{}, err
		}
		names = append(names, name)
	}
	all, err := b.o.Lint(ctx, names)
	if err != nil {
		return Remarks{}, fail(Unavailable, "no linter gave an answer")
	}
	var out Remarks
	for _, r := range all {
		if name, err := b.check(r.File); err != nil || name == "." {
			continue
		}
		if len(out.Remarks) == remarkLimit {
			out.Missing++
			continue
		}
		r.File, r.Message = b.label(r.File), short(b.safe(r.Message))
		out.Remarks = append(out.Remarks, r)
	}
	return out, nil
}
