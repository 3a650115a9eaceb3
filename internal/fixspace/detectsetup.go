package fixspace

import "fmt"

// Setup is a setup command that a repository does not configure and its lock files suggest.
type Setup struct {
	Detected
	// Lend is the tool whose module cache of the machine does as well, with this command or without; empty when none does.
	Lend string
}

// DetectSetup proposes setup commands for a repository by the lock files at its root, as Detect does verify commands.
func DetectSetup(files func(name string) ([]byte, error)) ([]Setup, error) {
	r := reader{files: files, failed: new(error)}
	yarn := "yarn install --frozen-lockfile --ignore-scripts"
	if r.has(".yarnrc.yml") {
		yarn = "yarn install --immutable"
	}
	var found []Setup
	for _, s := range []struct{ lock, command, lend string }{
		{"package-lock.json", "npm ci --ignore-scripts", LendNPM},
		{"pnpm-lock.yaml", "pnpm install --frozen-lockfile --ignore-scripts", ""},
		{"yarn.lock", yarn, ""},
		{"go.sum", "go mod download", LendGo},
		{"Cargo.lock", "cargo fetch --locked", LendCargo},
		{"uv.lock", "uv sync --frozen", ""},
	} {
		if r.has(s.lock) {
			found = append(found, Setup{Detected{s.command, s.lock}, s.lend})
		}
	}
	if *r.failed != nil {
		return nil, fmt.Errorf("detect setup commands: %w", *r.failed)
	}
	return found, nil
}
