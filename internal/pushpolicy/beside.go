package pushpolicy

import (
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/spelling"
)

// companion is a row whose pattern, a path from some folder, counts only where that folder has one of other files or folders: the names alone say too little (threats.md T748).
type companion struct {
	row
	beside []string
}

// everything is the pattern of a folder that is protected whole, allProse that of its prose: not of the root, where nothing would be left to fix.
const (
	everything = "**"
	allProse   = "**/*.{md,mdc,mdx,markdown,rst,adoc,txt}"
)

// plugins are the descriptions of plugins for agents, pluginPages where the agents look for what instructs them.
var plugins = []string{".claude-plugin/plugin.json", ".cursor-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json"}

const pluginPages = "{agents,commands,skills,output-styles,rules,prompts}/**/*.{md,mdc,mdx,markdown,txt}"

var companions = []companion{
	{row{"project/**/*.{scala,properties}", anyDepth, declaresPackages, "https://www.scala-sbt.org/1.x/docs/Organizing-Build.html"}, []string{"build.sbt", "project/build.properties"}},
	{row{allProse, anyDepth, instructsAgents, "https://code.claude.com/docs/en/plugins-reference"}, plugins},
	{row{pluginPages, anyDepth, instructsAgents, "https://code.claude.com/docs/en/plugins-reference"}, append([]string{".claude-plugin/marketplace.json", ".cursor-plugin/marketplace.json"}, plugins...)},
	{row{everything, anyDepth, instructsAgents, "https://agentskills.io/specification"}, []string{"SKILL.md"}},
	{row{"{Tuist/**,**/Project.swift}", anyDepth, declaresPackages, "https://docs.tuist.dev/en/guides/features/projects/directory-structure"}, []string{"Tuist.swift", "Workspace.swift", "Tuist/Config.swift", "Tuist/Package.swift", "Tuist/ProjectDescriptionHelpers"}},
	{row{"Plugins/**/*.swift", anyDepth, declaresPackages, "https://docs.swift.org/swiftpm/documentation/packagemanagerdocs/plugins/"}, []string{"Package.swift"}},
	{row{"build/**/*.cs", anyDepth, runsBuilds, "https://nuke.build/docs/getting-started/setup/"}, []string{".nuke", "build/_build.csproj"}},
	{row{"{apt.txt,start,install.R}", anyDepth, deploys, "https://github.com/jupyterhub/repo2docker"}, []string{"postBuild", "environment.yml", "runtime.txt"}},
	{row{"{app,dispatch,cron}.yaml", anyDepth, deploys, "https://cloud.google.com/appengine/docs/standard/reference/app-yaml"}, []string{".gcloudignore"}},
}

// beside says why a path is protected by what stands beside it in the tree; empty means that it is not.
func (t *tree) beside(name string) string {
	name = spelling.Fold(name)
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		rest := name
		if folder != "." {
			rest = name[len(folder)+1:]
		}
		for _, c := range companions {
			stands := func(beside string) bool { return t.spelled[spelling.Fold(path.Join(folder, beside))] != "" }
			if folder == "." && (c.pattern == everything || c.pattern == allProse) {
				continue
			}
			if doublestar.MatchUnvalidated(spelling.Fold(c.pattern), rest) && slices.ContainsFunc(c.beside, stands) {
				return string(c.reason)
			}
		}
		if folder == "." || folder == "/" {
			return ""
		}
	}
}
