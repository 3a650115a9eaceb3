package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every variable the program reads stands in its help. Left out are those it hands to its own children.
func TestHelpNamesEveryVariable(t *testing.T) {
	name := regexp.MustCompile(`"((?:PRLOOP|GH|OPENAI|OTEL_EXPORTER_OTLP_ENDPOINT|NO_COLOR|COLUMNS)[A-Z_]*)"`)
	inner := regexp.MustCompile(`^PRLOOP_(GATEWAY|SUBMIT|MODEL_TOKEN|CHECKOUT)|^GH_CONFIG_DIR$`)
	seen := 0
	for _, dir := range []string{".", "../app", "../config", "../github", "../sandbox", "../progress", "../operator"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range name.FindAllStringSubmatch(string(source), -1) {
				if seen++; !inner.MatchString(m[1]) && !regexp.MustCompile(`(?m)^  .*\b`+m[1]+`\b`).MatchString(environment) {
					t.Errorf("%s: prloop help environment does not name %s", file, m[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d variables were found", seen)
	}
}
