package schema

// A rule tightens or loosens one field beyond what its Go type and tags say.
type rule struct {
	// optional fields may be left out or null.
	optional bool
	// min and max bound an integer; both zero means unbounded.
	min, max int
	// notNegative bounds a number from below alone: negative usage would give budget back.
	notNegative bool
	// minLength and maxLength bound a string in characters, maxItems an array; zero means unbounded.
	minLength, maxLength, maxItems uint64
	enum                           []string
	// unknownAtZero integers read as absent when an agent writes 0, a common way to say "I do not know".
	unknownAtZero bool
}

// Caps of one answer: MaxFindings in a list, MaxName characters in an id or a name. They are far above what a sane agent sends: their only purpose is that a hostile one cannot make
// the report, the store or the verdict grow without bound (threats.md T85, T87).
const (
	MaxFindings  = 200
	maxLine      = 10_000_000
	MaxName      = 200
	maxTitle     = 1_000
	maxPath      = 4*4_096 + 2 // a name of 4,096 bytes, each written as an escape of four characters, in quotes
	maxProse     = 40_000
	maxReport    = 400_000
	maxFixIssues = 2_000
	maxNoticed   = 100
	// An answer of a scout is short: it is asked for one look.
	maxObservations = 30
	maxReasons      = 10
	maxTag          = 60
)

// rules are keyed by Go type and JSON field. Fields without an entry are as their type and tags say: required unless
// tagged omitempty.
var rules = map[string]rule{
	"Finding.id":            {minLength: 1, maxLength: MaxName},
	"Finding.category":      {minLength: 1, maxLength: MaxName},
	"Finding.file":          {maxLength: maxPath},
	"Finding.line":          {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Finding.lineEnd":       {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Finding.score":         {optional: true, min: 1, max: 10, unknownAtZero: true},
	"Finding.originalScore": {optional: true, min: 1, max: 10, unknownAtZero: true},
	"Finding.title":         {minLength: 1, maxLength: maxTitle},
	"Finding.description":   {maxLength: maxProse},
	"Finding.suggestion":    {optional: true, maxLength: maxProse},
	"Finding.evidence":      {optional: true, maxLength: maxProse},
	"Finding.unconfirmed":   {optional: true, maxLength: maxTitle},
	"Finding.fingerprint":   {optional: true, maxLength: MaxName},
	"Finding.language":      {optional: true, maxLength: MaxName},
	"Finding.source":        {optional: true},

	"Source.type":      {optional: true, maxLength: MaxName},
	"Source.name":      {optional: true, maxLength: MaxName},
	"Source.reviewId":  {optional: true, maxLength: MaxName},
	"Source.timestamp": {optional: true},

	"ReviewerResult.agent":      {minLength: 1, maxLength: MaxName},
	"ReviewerResult.findings":   {maxItems: MaxFindings},
	"ReviewerResult.earlier":    {maxItems: MaxFindings},
	"ReviewerResult.fullReport": {optional: true, maxLength: maxReport},
	"EarlierVerdict.findingId":  {minLength: 1, maxLength: MaxName},
	"EarlierVerdict.verdict":    {enum: []string{"fixed", "remains", "unsure"}},
	"EarlierVerdict.why":        {maxLength: maxProse},

	"CommentsResult.agent":            {minLength: 1, maxLength: MaxName},
	"CommentsResult.pendingIssues":    {maxItems: MaxFindings},
	"CommentsResult.threadsTruncated": {optional: true},
	"CommentsResult.fullReport":       {optional: true, maxLength: maxReport},
	"ReviewState.changesRequestedBy":  {maxItems: MaxFindings},
	"ChangesRequestedBy.login":        {minLength: 1, maxLength: MaxName},
	"ChangesRequestedBy.association":  {maxLength: MaxName},

	"FixResult.agent":          {minLength: 1, maxLength: MaxName},
	"FixResult.fixedIssues":    {maxItems: maxFixIssues},
	"FixResult.rejectedIssues": {maxItems: maxFixIssues},
	"FixResult.commits":        {maxItems: maxFixIssues},
	"FixedIssue.findingId":     {minLength: 1, maxLength: MaxName},
	"FixedIssue.commitSha":     {maxLength: MaxName},
	"FixedIssue.description":   {optional: true, maxLength: maxProse},
	"FixedIssue.tests":         {maxLength: maxProse},
	"FixedIssue.risk":          {maxLength: maxProse},
	"FixResult.noticed":        {maxItems: maxNoticed},
	"Notice.file":              {maxLength: maxPath},
	"Notice.line":              {min: 1, max: maxLine, unknownAtZero: true},
	"Notice.text":              {minLength: 1, maxLength: maxProse},
	"RejectedIssue.findingId":  {minLength: 1, maxLength: MaxName},
	"RejectedIssue.reason":     {minLength: 1, maxLength: maxProse},
	"FixCommit.sha":            {minLength: 1, maxLength: MaxName},
	"FixCommit.message":        {optional: true, maxLength: maxProse},

	"VerifyPayload.findings":     {maxItems: maxFixIssues},
	"VerifierResult.agent":       {minLength: 1, maxLength: MaxName},
	"VerifierResult.assessments": {maxItems: maxFixIssues},
	"VerifierResult.fullReport":  {optional: true, maxLength: maxReport},
	"Assessment.findingId":       {minLength: 1, maxLength: MaxName},
	"Assessment.reason":          {optional: true, maxLength: maxProse},
	"Assessment.duplicateOf":     {optional: true, maxLength: MaxName},
	"Assessment.importance":      {optional: true, min: 1, max: 100, unknownAtZero: true},
	"VerifyPayload.disputes":     {optional: true, maxItems: maxFixIssues},
	"Remark.by":                  {enum: []string{"author", "developer", "prloop"}},
	"Fact.file":                  {minLength: 1, maxLength: maxPath},
	"Fact.line":                  {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Fact.evidence":              {minLength: 1, maxLength: maxProse},

	"Event.event":        {enum: []string{"progress", "usage", "log", "state"}},
	"Event.message":      {optional: true, maxLength: maxProse},
	"Event.agent":        {optional: true, maxLength: MaxName},
	"Event.level":        {optional: true, maxLength: MaxName},
	"Event.state":        {optional: true, enum: []string{"waiting", "running", "complete", "degraded", "failed"}},
	"Usage.inputTokens":  {optional: true, min: 0, max: 1_000_000_000},
	"Usage.cachedTokens": {optional: true, min: 0, max: 1_000_000_000},
	"Usage.outputTokens": {optional: true, min: 0, max: 1_000_000_000},
	"Usage.llmCalls":     {optional: true, min: 0, max: 1_000_000},
	"Usage.toolCalls":    {optional: true, min: 0, max: 1_000_000},
	"Usage.costUsd":      {optional: true, notNegative: true},
	"Usage.llmSeconds":   {optional: true, notNegative: true},
	"Usage.models":       {optional: true, maxItems: MaxFindings},

	"CommandResult.summary":      {maxLength: maxProse},
	"CommandResult.findings":     {maxItems: MaxFindings},
	"CommandResult.notes":        {optional: true, maxItems: maxNoticed},
	"CommandResult.wishes":       {optional: true, maxItems: maxNoticed},
	"CommandFinding.title":       {minLength: 1, maxLength: maxTitle},
	"CommandFinding.details":     {maxLength: maxProse},
	"CommandFinding.suggestion":  {optional: true, maxLength: maxProse},
	"CommandFinding.unconfirmed": {optional: true, maxLength: maxTitle},
	"CommandFinding.evidence":    {optional: true, maxLength: maxProse},
	"Location.file":              {maxLength: maxPath},
	"Location.line":              {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Location.lineEnd":           {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Wish.body":                  {minLength: 1, maxLength: maxProse},

	"ScoutResult.observations": {maxItems: maxObservations},
	"ScoutResult.reasons":      {maxItems: maxReasons},
	"Observation.tag":          {minLength: 1, maxLength: maxTag},
	"Observation.text":         {maxLength: maxTitle},
	"Observation.file":         {optional: true, maxLength: maxPath},
	"Observation.line":         {optional: true, min: 1, max: maxLine, unknownAtZero: true},

	"FinderResult.wanted": {maxItems: maxObservations},
	"Wanted.file":         {minLength: 1, maxLength: maxPath},
	"Wanted.line":         {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Wanted.lineEnd":      {optional: true, min: 1, max: maxLine, unknownAtZero: true},
	"Wanted.reason":       {optional: true, maxLength: maxTitle},

	"Task.role":         {enum: []string{"reviewer", "comments-analyzer", "pr-fix", "verifier", "command", "scout", "finder"}},
	"CommandTask.place": {optional: true, enum: []string{"review", "comment", "local", "schedule"}},
}
