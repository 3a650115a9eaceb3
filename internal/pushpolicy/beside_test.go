package pushpolicy

import "testing"

// What a tool compiles to build, and what a plugin or a skill gives to its agent, or a deployment takes by a common name, is protected where their own files stand, and ordinary elsewhere (threats.md T748, T801, T851).
func TestNamesThatCountBesideOthers(t *testing.T) {
	paths := []string{"build.sbt", "api/project/build.properties", "tools/plugin/.claude-plugin/plugin.json", "src/project/Model.scala", "docs/agents/a.md", "a.go",
		"skills/deploy/SKILL.md", "SKILL.md", "ios/Tuist/Config.swift", "net/build/_build.csproj", "nuke/.nuke/parameters.json", "swift/Package.swift",
		"cur/.cursor-plugin/plugin.json", "gem/gemini-extension.json", "lab/environment.yml", "gae/.gcloudignore"}
	for name, want := range map[string]reason{
		"project/src/main/scala/B.scala": declaresPackages, "project/project/P.scala": declaresPackages, "api/project/Deps.scala": declaresPackages, "API/Project/deps.SCALA": declaresPackages,
		"tools/plugin/agents/a.md": instructsAgents, "tools/plugin/commands/sub/a.md": instructsAgents,
		"skills/deploy/reference.md": instructsAgents, "Skills/Deploy/scripts/run.py": instructsAgents, "skills/README.md": "", "docs/deploy/reference.md": "", "scripts/run.py": "",
		"ios/Tuist/Plugins/p/Plugin.swift": declaresPackages, "ios/Tuist/a/Helper.swift": declaresPackages, "ios/Modules/Core/Project.swift": declaresPackages, "ios/Project.swift": declaresPackages,
		"ios/Modules/Core/Sources/Model.swift": "", "go/tuist/client.go": "", "mac/Project.swift": "",
		"swift/Plugins/Gen/plugin.swift": declaresPackages, "ios/Plugins/Gen/plugin.swift": "",
		"net/build/Build.cs": runsBuilds, "net/build/ci/Build.Ci.cs": runsBuilds, "nuke/build/Build.cs": runsBuilds, "net/src/Build.cs": "", "app/build/Build.cs": "",
		"src/project/Model.scala": "", "web/project/A.scala": "", "docs/agents/a.md": "", "commands/a.md": "", "tools/plugin/src/a.md": instructsAgents,
		"tools/plugin/output-styles/short.md": instructsAgents, "tools/plugin/README.md": instructsAgents, "tools/plugin/src/a.go": "", "cur/agents/a.md": instructsAgents, "gem/GUIDE.md": instructsAgents, "docs/guide.md": "",
		"project/src/main/resources/a.txt": "",
		"lab/apt.txt":                      deploys, "lab/start": deploys, "lab/data/apt.txt": "", "apt.txt": "", "gae/app.yaml": deploys, "gae/k8s/app.yaml": "", "backend/app.yaml": "",
	} {
		got := reason("")
		if refused := Check([]Change{edit(name)}, Limits{}, nil, append(paths, name)); len(refused) > 0 {
			got = reason(refused[0].Detail)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if refused := Check([]Change{edit(name)}, Limits{}, []string{"**"}, append(paths, name)); len(refused) > 0 {
			t.Errorf("%s, and the operator opens it: %v", name, refused)
		}
	}
}

// At the root, a plugin's prose is what stands in the folders that agents look into (threats.md T829).
func TestAPluginAtTheRoot(t *testing.T) {
	for _, description := range []string{".codex-plugin/plugin.json", ".claude-plugin/marketplace.json", "gemini-extension.json"} {
		for name, want := range map[string]bool{"commands/a.md": true, "output-styles/b/a.md": true, "README.md": false, "docs/agents/a.md": false, "commands/a.go": false} {
			if refused := Check([]Change{edit(name)}, Limits{}, nil, []string{description, name}); len(refused) > 0 != want {
				t.Errorf("beside %s, %s: %v", description, name, refused)
			}
		}
	}
}
