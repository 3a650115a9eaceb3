#!/bin/sh
# A reviewer that asks a model one plain question about the diff: no related code, no lens, no scale, no evidence.
task=$(cat)
answer=$(printf %s "$task" | jq '{model: "plain", messages: [{role: "user", content: ("Review this pull request. Report the problems you find.

Title: " + .title + "

" + .body + "

" + ([.brief.files[].diff // empty] | join("\n")) + "

Answer with a JSON list and nothing else: [{\"file\": \"path\", \"line\": 12, \"severity\": \"critical|high|medium|low\", \"category\": \"bug|security|performance|maintainability|style|docs\", \"title\": \"one line\", \"description\": \"why it is a problem\"}]. Lines are those of the new version.")}]}' |
	curl -sSf --max-time 5000 -H "Content-Type: application/json" -H "Authorization: Bearer $OPENAI_API_KEY" --data-binary @- "$OPENAI_BASE_URL/chat/completions") || exit 1
printf %s "$task" | jq --argjson answer "$answer" '
	[$answer.choices[0].message.content | fromjson | to_entries[] | {id: "PLAIN-\(.key + 1)",
		priority: ({critical: "P0", high: "P1", medium: "P2"}[.value.severity] // "P3"),
		category: .value.category, file: .value.file, line: .value.line, title: .value.title, description: .value.description}] as $found |
	def count($p): [$found[] | select(.priority == $p)] | length;
	{agent, prNumber, conclusion: (if $found == [] then "approve" else "request_changes" end), findings: $found, fullReport: "",
		issues: {p0_blocking: count("P0"), p1_critical: count("P1"), p2_important: count("P2"), p3_suggestion: count("P3")}}'
