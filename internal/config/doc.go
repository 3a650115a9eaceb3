// Package config reads the layers of settings and resolves them to plain values (decision 8). From the strongest to the
// weakest:
//
//  1. the command line, or the inputs of the action;
//  2. the environment (OPENAI_API_KEY, OPENAI_BASE_URL, PRLOOP_MODEL);
//  3. `.reviewerc` of the working tree for a local range, at the base commit for a pull request, whose bytes the caller hands in;
//  4. the operator's own file (PRLOOP_CONFIG, else $XDG_CONFIG_HOME/prloop/config.yml);
//  5. the default.
//
// The environment stands above the repository's file because spec.md C2 ranks runtime inputs over repository
// configuration "like env vars". PR labels and policy rows come between 2 and 3 once they exist.
//
// Files are YAML and read strictly: at most 64 KB, no anchors, aliases, tags or merge keys, bounded depth (threats.md T107),
// unknown keys refused with a suggestion, and every fault reported with its own line.
//
// A repository file cannot set what would hand the operator's key or machine to somebody else: base_url, api_key and
// allow_repo_commands belong to the operator, limits may not exceed the operator's, and `use: command` counts only for
// local ranges or with allow_repo_commands.
package config
