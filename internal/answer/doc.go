// Package answer makes one answer of what an agent wrote, for everything that asks agents: what is valid is held against what was
// asked, and of what is not valid is kept what can be. It holds the law that an answer nobody can read is not silence (decision 34);
// package wire reads the texts. How an agent is started and spoken to is not its business.
package answer
