#!/bin/sh
# Written by `prloop init --hook`: before a push, rules and linters look at what the remote does not have yet, as it is pushed and whatever the working tree
# holds. No model is asked. To push without it: git push --no-verify
command -v prloop >/dev/null || exit 0
# All commits of a push become one, which is the same for the same push. No branch has it.
one() {
	GIT_AUTHOR_NAME=prloop GIT_AUTHOR_EMAIL=prloop@localhost GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=prloop GIT_COMMITTER_EMAIL=prloop@localhost GIT_COMMITTER_DATE='@0 +0000' git commit-tree "$@"
}
while read -r name new _ old; do
	case $new in *[!0]*) ;; *) continue ;; esac                           # a branch is deleted
	[ -n "$(git rev-list -n 1 "$new" --not --remotes="$1")" ] || continue # the remote has it
	case $old in
	*[!0]*) base=$old ;;
	*) base=$(git rev-parse --verify --quiet origin/HEAD || git rev-parse --verify --quiet origin/main) || continue ;; # a new branch
	esac
	base=$(git merge-base "$base" "$new" 2>/dev/null) || continue # not fetched
	since=$(git rev-parse --short "$base")
	# What else the remote has of it, as what was merged from its main branch, is merged into the base. A git that cannot do so leaves it in.
	for has in $(git rev-list --boundary "$new" --not "$base" --remotes="$1" | sed -n 's/^-//p'); do
		git merge-base --is-ancestor "$has" "$base" && continue
		tree=$(git merge-tree --write-tree "$base" "$has" 2>/dev/null | head -n 1)
		[ -z "$tree" ] || base=$(one "$tree" -p "$base" -p "$has" -m base) || continue 2
	done
	pushed=$(one "$new^{tree}" -p "$base" -m "$name") || continue
	echo "pre-push: prloop looks at $name since $since" >&2
	prloop run --commit "$pushed" --reviewers static </dev/null
	case $? in
	3 | 4) echo "pre-push: prloop has findings in $name; to push all the same (as when P0, P1 or security was dismissed): git push --no-verify" >&2 && exit 1 ;;
	esac
done
exit 0
