package sanitize

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Addresses of blockchains in base58 are public, and so are those of the contracts that are called tokens there.

var (
	base58Word = lazyregexp.New(`^[1-9A-HJ-NP-Za-km-z]{26,44}$`)
	// addressNamed ends what stands before an address: a name that says so in its last word, perhaps a type, and a call that makes a key of it.
	addressNamed = lazyregexp.New(`(?:^|[^0-9A-Za-z_.-])((?:[0-9A-Za-z_.-]*[_.-])?(?i:mint|address|program_?id|pub_?key|public_?key)|[0-9A-Za-z_.-]*[0-9a-z](?:Mint|Address|Program|ProgramI[dD]|Pub[kK]ey|PublicKey))` +
		`(?:\s{0,2}:\s{0,2}&?\w{1,20})?` + signBefore + `(?:(?:new\s)?(?:[0-9A-Za-z_.]{1,20}\.)?(?i:publickey|pubkey!?|address)\(\s{0,4}["'\x60])?$`)
	// notAddressed is in the name of what is kept secret beside an address.
	notAddressed = lazyregexp.New(`(?i)pass|pwd|secret|credential|priv|seed|mnemonic|keypair`)
)

// keyBytes is how long a public key of Ed25519 is, by which Solana names accounts.
const keyBytes = 32

// publicAddress reports whether a value is an address of a blockchain. One of Tron or Bitcoin tells it by the sum at its end. One of Solana has only the length of a key, as a secret may have:
// the name before it has to say so too.
func publicAddress(before, value string) bool {
	if !base58Word.MatchString(value) {
		return false
	}
	raw := fromBase58(value)
	if len(raw) == keyBytes {
		m := addressNamed.FindStringSubmatch(before)
		return m != nil && !notAddressed.MatchString(m[1])
	}
	return summed(raw)
}

// hashBytes is how long the hash of a public key is, and sumBytes the sum of an address.
const hashBytes, sumBytes = 20, 4

// summed reports whether bytes are a version, a hash and the first bytes of the sum of both. The private keys that are written so are longer.
func summed(raw []byte) bool {
	if len(raw) != 1+hashBytes+sumBytes {
		return false
	}
	first := sha256.Sum256(raw[:1+hashBytes])
	second := sha256.Sum256(first[:])
	return bytes.Equal(second[:sumBytes], raw[1+hashBytes:])
}

// fromBase58 is what a word of base58 stands for.
func fromBase58(word string) []byte {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n := new(big.Int)
	for i := range len(word) {
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexByte(alphabet, word[i]))))
	}
	zeros := len(word) - len(strings.TrimLeft(word, alphabet[:1]))
	return append(make([]byte, zeros), n.Bytes()...)
}
