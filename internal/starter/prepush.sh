#!/bin/sh
# Written by `prloop init --hook`: before a push, rules and linters look at what the remote does not have yet, as it is pushed and whatever the working tree
# holds. No model is asked. To push without it: git push --no-verify
command -v prloop >/dev/null || { echo "pre-push: nothing looks at this push: there is no prloop in PATH" >&2 && exit 0; }
# All commits of a push become one, which is the same for the same push. No branch has it.
one() {
	GIT_AUTHOR_NAME=prloop GIT_AUTHOR_EMAIL=prloop@localhost GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=prloop GIT_COMMITTER_EMAIL=prloop@localhost GIT_COMMITTER_DATE='@0 +0000' git commit-tree "$@"
}
unseen() { echo "pre-push: prloop has not looked at all of $name: $1" >&2; }
while read -r name new _ old; do
	case $new in *[!0]*) ;; *) continue ;; esac                           # a branch is deleted
	[ -n "$(git rev-list -n 1 "$new" --not --remotes="$1")" ] || continue # the remote has it
	case $old in
	*[!0]*) git rev-parse --verify --quiet "$old^{commit}" >/dev/null || { unseen "what the remote has there is not fetched" && continue; } ;;
	*) # a new branch
		for main in "$1/HEAD" "$1/main" "$1/master" origin/HEAD origin/main origin/master; do
			old=$(git rev-parse --verify --quiet "refs/remotes/$main") && break
		done
		[ -n "$old" ] || old=$(git rev-list --boundary "$new" --not --remotes | sed -n 's/^-//p' | head -n 1) # where it left what some remote has
		;;
	esac
	# What begins anew, as a first push does, is compared with nothing.
	base=$(git merge-base "$old" "$new" 2>/dev/null) || base=$(one "$(git mktree </dev/null)" -m base)
	since=$(git rev-parse --short "$base")
	# What else the remote has of it, as what was merged from its main branch, is merged into the base. A git that cannot do so leaves it in.
	for has in $(git rev-list --boundary "$new" --not "$base" --remotes="$1" | sed -n 's/^-//p'); do
		git merge-base --is-ancestor "$has" "$base" && continue
		tree=$(git merge-tree --write-tree "$base" "$has" 2>/dev/null | head -n 1)
		[ -z "$tree" ] || base=$(one "$tree" -p "$base" -p "$has" -m base) || { unseen "git cannot tell what the remote has of it" && continue 2; }
	done
	pushed=$(one "$new^{tree}" -p "$base" -m "$name") || { unseen "it is no commit" && continue; }
	echo "pre-push: prloop looks at $name since $since" >&2
	prloop run --commit "$pushed" --reviewers static </dev/null
	status=$?
	case $status in
	0 | 8) ;;
	3 | 4) echo "pre-push: prloop has findings in $name; to push all the same (as when P0, P1 or security was dismissed): git push --no-verify" >&2 && exit 1 ;;
	*) unseen "it ended with status $status" ;;
	esac
done
exit 0
