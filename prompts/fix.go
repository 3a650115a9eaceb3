package prompts

// AllowedPaths names the setting of a fixer's task that lists, one glob on a line, the protected paths the operator opens.
const AllowedPaths = "allow_paths"
