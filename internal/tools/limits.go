package tools

// Bounds of what is read.
const (
	// fileLimit is the largest file that is read, in bytes.
	fileLimit = 1 << 20
	// readLines is how many lines one read_file gives (spec.md R8).
	readLines = 200
	// lineLimit is where a long line is cut, in bytes.
	lineLimit = 1000
	// folderLimit is how many entries list gives.
	folderLimit = 300
)
