package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/prloop/prloop/sanitize"
)

// sealOf proves that what a run was asked was written by a process with the key: which programs are started stands there, and the database of
// machines that share one has other writers than prloop (threats.md T278).
func (st stored) sealOf(key []byte) (string, error) {
	st.Seal = ""
	text, err := json.Marshal(st)
	if err != nil {
		return "", fmt.Errorf("seal the request: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("prloop: what a run is asked\n")) // never fails, and no marker begins so
	_, _ = mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// sealing are the operator's keys, the one that seals first; none where one machine alone has the database, or there is no key but what stands in
// it.
func (s *Service) sealing() [][]byte {
	if key := s.opts.Machine.MarkerKey; s.Shared() && key != nil {
		return sanitize.Keys(key)
	}
	return nil
}

// seal seals what a run is asked.
func (s *Service) seal(st *stored) (err error) {
	if keys := s.sealing(); len(keys) > 0 {
		st.Seal, err = st.sealOf(keys[0])
	}
	return err
}

// sealed refuses a run whose request no process with one of the keys wrote.
func (s *Service) sealed(st stored) error {
	keys := s.sealing()
	for _, key := range keys {
		want, err := st.sealOf(key)
		if err != nil {
			return err
		}
		if hmac.Equal([]byte(want), []byte(st.Seal)) {
			return nil
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return &ChangedError{Run: st.Run, Part: Seal}
}
