package review

// FindTask is what a finder is asked: which files of the listings are worth reading, or, once they were read, which lines of them a reviewer
// of the change should see.
type FindTask struct {
	// Listings are folders of the head version with what is in them; only files that stand here can be asked for. Empty when Fragments are given.
	Listings []Listing `json:"listings,omitempty"`
	// Fragments are the files that were asked for and read; nil while nobody has asked.
	Fragments []Fragment `json:"fragments,omitempty"`
	// Most is how many files may be asked for, or how many excerpts named. Chars is how many characters one excerpt may have.
	Most  int `json:"most"`
	Chars int `json:"chars"`
}

// Listing is one folder.
type Listing struct {
	// Folder is its path, spelled as BriefFile.Path is; empty is the root.
	Folder string `json:"folder"`
	// Files and Folders are the names in it, spelled likewise, sorted. More is how many names there are beside them.
	Files   []string `json:"files"`
	Folders []string `json:"folders,omitempty"`
	More    int      `json:"more,omitempty"`
}

// Fragment is the text of one file, or its beginning.
type Fragment struct {
	File string `json:"file"`
	// Reason is why it was asked for, in the words of who asked.
	Reason string `json:"reason,omitempty"`
	Text   string `json:"text"`
	// Lines is how many lines Text has; Cut is true when the file goes on.
	Lines int  `json:"lines"`
	Cut   bool `json:"cut,omitempty"`
}

// FinderResult is what a finder answers.
type FinderResult struct {
	// Wanted are files to read, or excerpts of files that were read, the most telling first.
	Wanted []Wanted `json:"wanted"`
}

// Wanted is a file, or some lines of one.
type Wanted struct {
	// File is spelled as in the request.
	File string `json:"file"`
	// Line and LineEnd are the first and the last line of an excerpt; nil where a whole file is asked for.
	Line    *int `json:"line,omitempty"`
	LineEnd *int `json:"lineEnd,omitempty"`
	// Reason is one sentence: what a reviewer of the change learns from it.
	Reason string `json:"reason"`
}

// Found is what a finder brought to a review, for the receipt.
type Found struct {
	// Excerpts are what reviewers were given, in the order of files and lines.
	Excerpts []Excerpt `json:"excerpts"`
	// Refused says what was asked for and not given, and why. Later is how many excerpts a later round leaves out, for a fix changed their file.
	Refused []string `json:"refused,omitempty"`
	Later   int      `json:"later,omitempty"`
}

// Excerpt names lines of the head version.
type Excerpt struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	LineEnd int    `json:"lineEnd"`
	// Reason is the finder's.
	Reason string `json:"reason,omitempty"`
}
