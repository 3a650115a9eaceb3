package pushpolicy

import "testing"

// A new module where python3 -m is called is none that the project depends on (threats.md T832).
func TestNewModulesAreNoDependencies(t *testing.T) {
	tree := map[string]string{
		"pyproject.toml":        "[project]\nname = \"shop\"\ndependencies = [\"httpx[http2]>=1\", 'PyYAML', \"python-dateutil\"]\n[tool.x]\ninclude = [\"orders\"]\n",
		"requirements-dev.txt":  "# tools\nfreezegun==1.0  # clocks\n-r other.txt\nbeautifulsoup4\nboto3; python_version > \"3\"\n",
		"uv.lock":               "[[package]]\nname = \"ruamel-yaml\"\nversion = \"1\"\n",
		"api/setup.py":          "",
		"vendor/pyproject.toml": "dependencies = [\"vendored\"]",
		"freezegun/clock.py":    "",
		"src/app.py":            "",
	}
	sizes, in := map[string]int64{}, &Included{}
	for name, text := range tree {
		sizes[name] = int64(len(text))
	}
	if err := in.Declared.Add(sizes, reading(tree)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"httpx.py": true, "Yaml/__init__.py": true, "dateutil/__main__.py": true, "ruamel_yaml.py": true, "api/httpx.py": true, "boto3.py": true, "bs4.py": true,
		"freezegun/__init__.py": false, "orders.py": false, "shop.py": false, "src/httpx.py": false, "httpx.js": false, "vendored.py": false, "api/v1/httpx.py": false, "tools.py": false,
	} {
		if refused := in.Check([]Change{add(name, "x")}, nil); len(refused) > 0 != want {
			t.Errorf("%s: %v", name, refused)
		}
		if refused := in.Check([]Change{edit(name)}, nil); len(refused) > 0 {
			t.Errorf("%s, which is there: %v", name, refused)
		}
	}
}
