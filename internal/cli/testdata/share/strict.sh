#!/bin/sh
# Finds fault as long as the change under review does not guard against an empty list.
here=$(dirname "$0")
cat >"$here/strict.in.$$"
if grep -q 'len(shelves) == 0' "$here/strict.in.$$"; then
	sed -e 's/picky/strict/' "$here/fine.json"
else
	sed -e 's/picky/strict/' "$here/picky.json"
fi
rm -f "$here/strict.in.$$"
