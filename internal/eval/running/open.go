package running

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
)

// selected are the cases that are to be reviewed.
func selected(o Options) ([]cases.Case, error) {
	known, err := cases.Read(o.Cases)
	if err != nil {
		return nil, err
	}
	var out []cases.Case
	for _, c := range known.Cases {
		if len(o.Only) == 0 || slices.Contains(o.Only, c.ID) {
			if c.Code == nil {
				return nil, fmt.Errorf("%w: %s: %w", cases.ErrBad, c.ID, cases.ErrNoCode)
			}
			out = append(out, c)
		}
	}
	for _, id := range o.Only {
		if !slices.ContainsFunc(out, func(c cases.Case) bool { return c.ID == id }) {
			return nil, fmt.Errorf("%w: %s", ErrUnknownCase, id)
		}
	}
	return out, nil
}

// open settles an agent and opens its result set.
func (r *run) open(a Agent, all []cases.Case) (*set, error) {
	s := &set{Agent: a, dir: filepath.Join(r.Out, a.Name), have: map[string]results.Review{}, planned: len(all) * r.Repeat}
	var err error
	if s.Settled, err = r.reviewer.Settle(a, r.Replay != ""); err != nil {
		return nil, err
	}
	m := results.Manifest{
		Name: a.Name, Agents: s.Reviewers, Models: s.Models, Prompts: s.Prompts, Settings: s.Settings, Program: s.Program, Repeats: r.Repeat,
	}
	for _, c := range all {
		m.Cases = append(m.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
	}
	if r.Replay != "" {
		s.replay = filepath.Join(r.Replay, a.Name)
		if m.Replayed, s.hashes, err = recorded(s.replay, m); err != nil {
			return nil, err
		}
	}
	var have []results.Review
	var dropped []string
	if s.writer, have, dropped, err = results.Resume(s.dir, m, r.Retry); err != nil {
		return nil, err
	}
	for _, name := range dropped {
		r.Say(fmt.Sprintf("%s %s: dropped, and done again", a.Name, name))
	}
	for _, v := range have {
		s.have[fmt.Sprintf("%s/%d", v.Case, v.Repeat)] = v
		r.earlier += s.cost(v)
	}
	if r.Replay == "" {
		err = os.MkdirAll(filepath.Join(s.dir, filepath.Dir(results.CassetteName("a", 1))), 0o777)
	}
	return s, err
}

// recorded checks that a set can be replayed for what m plans. It gives the SHA-256 of its manifest, and those of its recordings by
// review.
func recorded(dir string, m results.Manifest) (manifest string, hashes map[string]string, err error) {
	from, err := results.Open(dir)
	if err != nil {
		return "", nil, err
	}
	inputs := map[string]string{}
	for _, c := range from.Manifest.Cases {
		inputs[c.ID] = c.Input
	}
	for _, c := range m.Cases {
		switch input, there := inputs[c.ID]; {
		case !there:
			return "", nil, fmt.Errorf("%w: %s is not in %s", ErrNoRecording, c.ID, dir)
		case input != c.Input:
			return "", nil, fmt.Errorf("%w: %s was recorded with other data in %s", ErrNoRecording, c.ID, dir)
		}
	}
	hashes = map[string]string{}
	for _, v := range from.Reviews {
		hashes[fmt.Sprintf("%s/%d", v.Case, v.Repeat)] = v.Cassette
	}
	manifest, err = sumOf(filepath.Join(dir, results.ManifestName))
	return manifest, hashes, err
}

// missing are the reviews that are to be made: repeat by repeat and case by case all agents, so that what an interruption leaves can be
// compared.
func (r *run) missing(all []cases.Case) []row {
	var rows []row
	for n := range r.Repeat {
		for _, c := range all {
			for _, s := range r.sets {
				w := row{s, c, n + 1}
				if _, there := s.have[w.key()]; !there {
					rows = append(rows, w)
				}
			}
		}
	}
	return rows
}

// recordings names every recording that is missing or is another one, before anything is replayed.
func (r *run) recordings(rows []row) error {
	if r.Replay == "" {
		return nil
	}
	var faults []error
	for _, w := range rows {
		want, there := w.set.hashes[w.key()]
		if there && want == "" { // no model was asked
			continue
		}
		if !there {
			faults = append(faults, fmt.Errorf("%w: %s", ErrNoRecording, w))
			continue
		}
		got, err := sumOf(w.recording())
		if err != nil || got != want {
			faults = append(faults, fmt.Errorf("%w: %s: %s is not the file it was recorded in", ErrNoRecording, w, w.recording()))
		}
	}
	return errors.Join(faults...)
}

// recording is the file of the conversations of a review: the one that is replayed, or else the one that is written.
func (w row) recording() string {
	return filepath.Join(cmp.Or(w.set.replay, w.set.dir), filepath.FromSlash(results.CassetteName(w.c.ID, w.repeat)))
}

// earlier is the recording whose answers are used first: what an interrupted review left, or else that of another result set.
func (w row) earlier(reuse string) string {
	if _, err := os.Stat(w.recording()); err == nil || reuse == "" {
		return w.recording()
	}
	return filepath.Join(reuse, filepath.FromSlash(results.CassetteName(w.c.ID, w.repeat)))
}

func sumOf(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:]), nil
}
