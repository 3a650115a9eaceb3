package deploy

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// analyze runs systemd-analyze on a unit whose program is one of this machine.
func analyze(t *testing.T, unit string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: it is in the package systemd")
	}
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), unit)
	text = bytes.ReplaceAll(text, []byte("/usr/bin/prloop"), []byte("/bin/true"))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, append(args, file)...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze %s %s: %v\n%s", strings.Join(args, " "), unit, err, out)
	}
	return string(out)
}

// units start prloop; agents are those below which agents run.
var (
	units  = append(agents, "prloop-broker-github.service", "prloop-broker-models.service", "prloop-front.service")
	agents = []string{"prloop.service", "prloop-worker.service"}
)

// systemd understands every line of the units, and finds them no more exposed than they were.
func TestUnits(t *testing.T) {
	for _, unit := range units {
		t.Run(unit, func(t *testing.T) {
			if out := analyze(t, unit, "verify", "--man=no"); strings.Contains(out, unit) {
				t.Errorf("systemd-analyze verify says\n%s", out)
			}
			analyze(t, unit, "security", "--offline=yes", "--no-pager", "--threshold=40")
		})
	}
}

// What would keep prloop from confining agents is not in the units: with any of these, no new /proc can be mounted or no namespace made.
func TestUnitsLeaveRoomForTheSandbox(t *testing.T) {
	for _, unit := range agents {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "RestrictNamespaces", "MemoryDenyWriteExecute", "PrivateUsers"} {
			if regexp.MustCompile("(?m)^" + never + "=").Match(text) {
				t.Errorf("%s sets %s", unit, never)
			}
		}
	}
}

type service struct {
	Image       string
	Command     []string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Ports       []string
	Environment map[string]string
	Privileged  bool
}

// The compose file is one by the specification, and gives containers what they need and no more.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var any map[string]any
	if err := yaml.Unmarshal(text, &any); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/compose-spec.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("compose-spec.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("compose-spec.json")
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(any)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("by the specification of compose files: %v", err)
	}
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"serve", "worker-1", "worker-2"} {
		s := file.Services[name]
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Privileged {
			t.Errorf("%s may more than it needs: %+v", name, s)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is open to the world at %s", name, p)
			}
		}
		for _, secret := range []string{"GH_TOKEN", "PGPASSWORD", "OPENAI_API_KEY", "PRLOOP_WEBHOOK_SECRET"} {
			if _, there := s.Environment[secret]; there {
				t.Errorf("%s has %s in the file", name, secret)
			}
		}
	}
	if slices.Contains(file.Services["serve"].SecurityOpt, "seccomp=unconfined") {
		t.Error("serve starts no agent, and is not confined like what does not")
	}
}
