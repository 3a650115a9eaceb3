package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// The table of calibration stands beside the operator's file, and no repository names one: it would weigh its own findings.
func TestCalibrationFile(t *testing.T) {
	dir := t.TempDir()
	for written, want := range map[string]string{"table.json": filepath.Join(dir, "table.json"), filepath.Join(dir, "x", "t.json"): filepath.Join(dir, "x", "t.json")} {
		s, err := Resolve(Input{Operator: &File{Name: filepath.Join(dir, "config.yml"), Data: []byte("calibration: " + written + "\n")}})
		if err != nil || s.Calibration != want {
			t.Errorf("%s is %q, %v; want %s", written, s.Calibration, err, want)
		}
	}
	_, err := Resolve(Input{Repository: &File{Name: ".reviewerc", Data: []byte("calibration: table.json\n")}})
	if err == nil || !strings.Contains(err.Error(), "calibration") {
		t.Errorf("a repository names its own table: %v", err)
	}
}
