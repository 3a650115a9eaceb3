package cli

import "github.com/prloop/prloop/orchestrator"

// envSecrets is the operator's word on values that look like secrets: "mask", the default, keeps them from agents other than
// static, "show" lets models see those in files. It stands in the environment alone: no repository has a say.
const envSecrets = "PRLOOP_SECRETS"

// secrets is that word as a request has it.
func (p *Proc) secrets() (string, error) {
	switch word := p.env(envSecrets); word {
	case "", "mask":
		return "", nil
	case orchestrator.ShowSecrets:
		return word, nil
	default: // who wrote it believes that it does something
		return "", usage(envSecrets+"=mask or show", "%s=%s is not known", envSecrets, word)
	}
}
