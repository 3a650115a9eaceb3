#!/bin/sh
# Guards Mean against an empty list, and says that it fixed LOG-001. It works in its own clone of the head.
cat >/dev/null
sed -i 's/^\treturn Count(shelves) \/ len/\tif len(shelves) == 0 {\n\t\treturn 0\n\t}\n&/' stock.go
cat <<'END'
{"agent":"pr-fix","prNumber":7,"summary":{"fixed":1,"rejected":0,"deferred":0},
 "fixedIssues":[{"findingId":"LOG-001","commitSha":"","description":"Mean answers 0 for an empty list."}],
 "rejectedIssues":[],"commits":[]}
END
