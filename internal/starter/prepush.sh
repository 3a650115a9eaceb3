#!/bin/sh
# Written by `prloop init --hook`: before a push, rules and linters look at what the remote does not have yet. No model is asked.
# To push without it: git push --no-verify
command -v prloop >/dev/null || exit 0
while read -r _ new _ old; do
	case $new in *[!0]*) ;; *) continue ;; esac # a branch is deleted
	case $old in
	*[!0]*) base=$old ;;
	*) base=$(git rev-parse --verify --quiet origin/HEAD || git rev-parse --verify --quiet origin/main) || continue ;; # a new branch
	esac
	git cat-file -e "$base^{commit}" 2>/dev/null || continue # not fetched
	[ "$new" = "$(git rev-parse HEAD)" ] || continue        # not what is checked out
	prloop run --base "$base" --reviewers static </dev/null
	case $? in
	3 | 4) echo "pre-push: prloop has findings; to push all the same: git push --no-verify" >&2 && exit 1 ;;
	esac
done
exit 0
