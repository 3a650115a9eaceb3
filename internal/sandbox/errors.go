package sandbox

import "fmt"

// TierError says that this machine cannot confine a child as well as the policy wants.
type TierError struct {
	// Want is the weakest tier the policy takes, Have the machine's.
	Want, Have Tier
	// Missing are the parts that keep it from Want, with reasons. With a Want of 1b they are those of tier 1, which needs
	// no other program.
	Missing []Part
}

func (e *TierError) Error() string {
	s := fmt.Sprintf("confine child: sandbox tier %s is needed, this machine has tier %s", e.Want, e.Have)
	for _, p := range e.Missing {
		s += fmt.Sprintf("; %s: %s", p.Name, p.Detail)
	}
	return s
}

// PolicyError says that a policy cannot be kept as it stands.
type PolicyError struct {
	// What is the field or path, Why what is wrong with it.
	What, Why string
}

func (e *PolicyError) Error() string { return fmt.Sprintf("confine child: %s: %s", e.What, e.Why) }
