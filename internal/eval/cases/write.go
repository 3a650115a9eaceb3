package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write adds a case to a folder of cases. archive and diffText are empty for a case without code.
func Write(dir string, c Case, archive, diffText []byte) error {
	if !ValidID(c.ID) {
		return fmt.Errorf("write case: %q is no id", c.ID)
	}
	files := map[string]any{"golden.json": orEmpty(c.Golden), "negatives.json": orEmpty(c.Negatives)}
	if archive != nil {
		var t Tree
		if c.BaseTree != nil {
			t = *c.BaseTree
		}
		t.Archive, t.SHA256 = "base.tar.gz", sum(archive)
		c.BaseTree = &t
	}
	files["case.json"] = c
	dir = filepath.Join(dir, c.ID)
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("write case: %s is there already", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("write case: %w", err)
	}
	if archive != nil {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "base.tar.gz"), archive, 0o666), os.WriteFile(filepath.Join(dir, "pr.diff"), diffText, 0o666)); err != nil {
			return fmt.Errorf("write case: %w", err)
		}
	}
	for name, v := range files {
		if err := writeJSON(filepath.Join(dir, name), v); err != nil {
			return fmt.Errorf("write case: %w", err)
		}
	}
	return nil
}

func orEmpty(list []Expected) []Expected {
	if list == nil {
		return []Expected{}
	}
	return list
}

// writeJSON keeps <, > and & as they are: the texts are for people too.
func writeJSON(file string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}
