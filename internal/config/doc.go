// Package config reads the layers of settings and resolves them to plain values (decision 8). From the strongest to the
// weakest:
//
//  1. the command line, or the inputs of the action;
//  2. the environment (OPENAI_API_KEY, OPENAI_BASE_URL, PRLOOP_MODEL);
//  3. the policy of a pull request's repository, a row that the caller hands in (internal/policy);
//  4. the crew it chooses, a named model configuration of the operator's file;
//  5. `.reviewerc` of the working tree for a local range, at the base commit for a pull request, whose bytes the caller hands in;
//  6. the operator's own file (PRLOOP_CONFIG, else $XDG_CONFIG_HOME/prloop/config.yml);
//  7. the default.
//
// The environment stands above the repository's file because spec.md C2 ranks runtime inputs over repository
// configuration "like env vars". Labels change the gate of one pull request alone, when its round begins (internal/gate).
//
// Files are YAML and read strictly: at most 64 KB, no anchors, aliases, tags or merge keys, bounded depth (threats.md T107),
// unknown keys refused with a suggestion, and every fault reported with its own line.
//
// A repository file cannot set what would hand the operator's key or machine to somebody else: base_url, api_key and
// allow_repo_commands belong to the operator, limits may not exceed the operator's, and `use: command` counts only for
// local ranges or with allow_repo_commands. A policy is bounded in the same way.
package config
