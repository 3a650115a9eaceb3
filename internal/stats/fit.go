package stats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/weight/calibration"
)

// Fitting is how a table of calibration is made beside what runs say.
type Fitting struct {
	// Out is the file it is written to; empty for none.
	Out string
	// Results are result sets, Cases the folder of their cases, By the measure by which a finding of theirs is right.
	Results []string
	Cases   string
	By      string
}

// Check refuses what does not fit together. asked is true when a table is asked for, fields when rows are.
func (f Fitting) Check(asked, fields bool) error {
	judge, recorded := strings.CutPrefix(f.By, scoring.Judge)
	switch {
	case !asked && (f.Out != "" || len(f.Results) > 0 || f.Cases != ""):
		return advice.Misuse("prloop stats --calibration", "--out, --results and --cases need --calibration")
	case asked && fields:
		return advice.Misuse("--out FILE writes the table as JSON", "--json prints statistics, and --calibration prints none")
	case (len(f.Results) > 0) != (f.Cases != ""):
		return advice.Misuse("--results DIR --cases DIR", "--results and --cases need each other")
	case !slices.Contains([]string{scoring.Place, scoring.Content, scoring.Words}, f.By) && (!recorded || judge == ""):
		return advice.Misuse("--by content", "%q is no measure", f.By)
	}
	return nil
}

// Run fits the table to what runs and result sets say, prints it, and writes it. Names are of dir.
func (f Fitting) Run(w io.Writer, dir string, known []calibration.Observation) error {
	path := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	for _, set := range f.Results {
		got, err := Evaluate(path(f.Cases), path(set), f.By)
		if errors.Is(err, cases.ErrBad) || errors.Is(err, results.ErrBad) || errors.Is(err, scoring.ErrOtherData) || errors.Is(err, scoring.ErrInterrupted) ||
			errors.Is(err, scoring.ErrNoVerdict) || errors.Is(err, scoring.ErrUnplaced) {
			return advice.Misuse("prloop eval score tells whether a result set can be used; docs/eval.md says what it holds", "%w", err)
		}
		if err != nil {
			return err
		}
		known = append(known, got.Observations...)
		if got.Unattributed > 0 {
			fmt.Fprintf(w, "%s: %s left out: several models made their reviews\n", filepath.Base(set), count(got.Unattributed, "finding is", "findings are"))
		}
	}
	t := calibration.Fit(known)
	WriteCurves(w, t)
	if f.Out == "" {
		return nil
	}
	data, err := t.Encode()
	if err != nil {
		return err
	}
	if err := replace(path(f.Out), data); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	_, err = fmt.Fprintf(w, "\ntable %s: %s\n", t.ID(), path(f.Out))
	return err
}

// replace writes a file whole: a run that reads it meanwhile reads the old one.
func replace(name string, data []byte) error {
	part, err := os.CreateTemp(filepath.Dir(name), ".calibration-*")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
