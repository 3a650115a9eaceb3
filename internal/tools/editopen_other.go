//go:build !unix

package tools

// noFollow does not exist here; os.Root and the comparison of what was opened remain.
const noFollow = 0
