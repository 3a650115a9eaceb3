package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/prloop/prloop/review"
)

// Resume goes on with a result set that was interrupted, or begins it where there is none. It gives the reviews that are complete.
// One of other pins than m is ErrOtherPins; half reviews are removed, and named in dropped. retry drops those that failed too.
func Resume(dir string, m Manifest, retry bool) (w *Writer, have []Review, dropped []string, err error) {
	m.Format = Format
	if _, err := os.Stat(filepath.Join(dir, ManifestName)); errors.Is(err, fs.ErrNotExist) {
		w, err := Create(dir, m)
		return w, nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrBad, err)
	}
	w = &Writer{root: root, hashes: map[string]string{}}
	if have, dropped, err = w.resume(m, retry); err != nil {
		root.Close()
		return nil, nil, nil, fmt.Errorf("%w: %s: %w", ErrBad, dir, err)
	}
	return w, have, dropped, nil
}

func (w *Writer) resume(m Manifest, retry bool) (have []Review, dropped []string, err error) {
	data, err := readFile(w.root.FS(), ManifestName)
	if err != nil {
		return nil, nil, err
	}
	var old Manifest
	if err := decode(data, &old); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	var sealed seal
	if text, err := readFile(w.root.FS(), sealName); err == nil {
		if err := decode(text, &sealed); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", sealName, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if want := sealed.Files[ManifestName]; want != "" && want != sum(data) {
		return nil, nil, fmt.Errorf("%s is not the one that was sealed", ManifestName)
	}
	if err := old.samePins(m); err != nil {
		return nil, nil, err
	}
	w.hashes[ManifestName] = sum(data)
	have, dropped, err = w.take(m, sealed, retry)
	if err == nil && len(dropped) > 0 {
		err = w.remove(sealName)
	}
	return have, dropped, err
}

// remove removes a file that may not be there.
func (w *Writer) remove(name string) error {
	if err := w.root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// take reads the complete reviews of an interrupted set and removes the others.
func (w *Writer) take(m Manifest, sealed seal, retry bool) (have []Review, dropped []string, err error) {
	left, err := fs.Glob(w.root.FS(), folder+"/*.tmp")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range left {
		if err := w.root.Remove(name); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range m.Cases {
		for n := range m.Repeats {
			name := fileName(c.ID, n+1)
			data, err := readFile(w.root.FS(), name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var r Review
			if err == nil {
				err = decode(data, &r)
			}
			if err == nil {
				err = w.complete(r, c.ID, n+1, m.Replayed != "")
			}
			if want := sealed.Files[name]; err == nil && want != "" && want != sum(data) {
				err = errors.New("it is not the one that was sealed")
			}
			if err == nil && retry && r.Result.Status == review.StatusError {
				err = errors.New("it failed")
			}
			if err == nil {
				w.hashes[name] = sum(data)
				have = append(have, r)
				continue
			}
			dropped = append(dropped, fmt.Sprintf("%s/%d: %v", c.ID, n+1, err))
			for _, name := range []string{name, CassetteName(c.ID, n+1)} { // its answers made it what it is
				if err := w.remove(name); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return have, dropped, nil
}

// complete reports what a review lacks.
func (w *Writer) complete(r Review, id string, n int, replayed bool) error {
	if r.Case != id || r.Repeat != n {
		return fmt.Errorf("it is of %s/%d", r.Case, r.Repeat)
	}
	if r.Cassette != "" && !replayed {
		data, err := readFile(w.root.FS(), CassetteName(id, n))
		if err != nil {
			return fmt.Errorf("its recording cannot be read: %w", err)
		}
		if sum(data) != r.Cassette {
			return fmt.Errorf("%s is not the one it was recorded with", CassetteName(id, n))
		}
	}
	return r.check()
}

// ErrOtherPins: a result set was begun with other data, settings, prompts, models or by another program.
var ErrOtherPins = errors.New("it was begun otherwise")

// samePins names the first pin that differs.
func (m Manifest) samePins(n Manifest) error {
	for _, p := range []struct {
		name     string
		old, now any
	}{
		{"format", m.Format, n.Format}, {"name", m.Name, n.Name}, {"repeats", m.Repeats, n.Repeats}, {"cases", m.Cases, n.Cases}, {"agents", m.Agents, n.Agents},
		{"models", m.Models, n.Models}, {"prompts", m.Prompts, n.Prompts}, {"settings", m.Settings, n.Settings}, {"seed", m.Seed, n.Seed},
		{"program", m.Program, n.Program}, {"replayed set", m.Replayed, n.Replayed},
	} {
		if !reflect.DeepEqual(p.old, p.now) {
			return fmt.Errorf("%w: its %s was %v and is %v now", ErrOtherPins, p.name, p.old, p.now)
		}
	}
	return nil
}
