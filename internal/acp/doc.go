// Package acp drives agents that speak the Agent Client Protocol as reviewers ("use: acp"): OpenCode, Claude Code,
// Codex, Gemini CLI, or any other. It is the only importer of the protocol's SDK and of the MCP SDK.
//
// One question is one child process: Ask writes the agent's own configuration into a private home, starts it through
// internal/proc, opens a session in which prloop's MCP server offers the tool submit_result, puts the prompt, and takes the
// answer. The MCP server is prloop itself (ServeMCP), started by the agent; it hands what was submitted to the parent
// over a unix socket, and the parent checks it and tells the model at once what is wrong with it.
//
// What the agent may do. It is offered no file system and no terminal. Its requests for permission are answered by policy:
// prloop's own tool and reads below the working folder are allowed once, everything else is rejected once (threats.md T03).
// That is a courtesy of a well-behaved agent and no border: the border is the sandbox the caller puts around it.
//
// What the agent may cost. Lines are bounded in length, all output together in bytes, its requests in number, and the
// whole in time. The SDK, whose queue gives up at 1,024 waiting updates and which decodes all of a message, is given replies
// alone, with what is read of them: the gate handles updates and requests where it reads them, so an agent that floods only
// waits. Whatever goes wrong is in the answer's receipt.
package acp
