// Package answer makes one answer of what an agent wrote, for everything that asks agents. It decodes what is valid, holds it against
// what was asked, and keeps of what is not valid what can be kept. It holds the law that an answer nobody can read is not silence
// (decision 34). How an agent is started and spoken to is not its business.
//
// Beyond what package schema puts right, it corrects and notes: claimed counts that are wrong, ids used twice, facts only prloop may
// state (fingerprint, assessment, cause).
package answer
