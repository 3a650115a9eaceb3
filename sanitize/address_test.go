package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Addresses of blockchains are public by their sum, or by their name and their form together (threats.md T616).
func TestAddressesAreShown(t *testing.T) {
	for _, line := range []string{
		`const tokenMint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";`, `{ "tokenAddress": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "decimals": 6 }`, `TOKEN_MINT=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`,
		`export const TOKEN_PROGRAM_ID = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";`, `export const TOKEN_PROGRAM_ID: PublicKey = new PublicKey("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");`,
		`let tokenProgramId = new web3.PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')`, `pub const TOKEN_MINT: Pubkey = pubkey!("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");`,
		`{ "tokenAddress": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "chain": "tron" }`, `const token = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"`, `auth_token_wallet = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"`,
	} {
		if found := AssignedValues(line); found != nil {
			t.Errorf("%q is found in %s", line[found[0].Start:found[0].End], line)
		}
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); !strings.Contains(diff, line) {
			t.Errorf("%s is masked: %s", line, diff)
		}
	}
	for _, line := range []string{
		`const token = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"`, `private_key_address = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"`, `walletSecretPubkey = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"`,
		`token_footprint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"`, `tokenMint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1vEPjF"`, `const token = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"`,
		`private_key = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"`,
	} {
		if len(AssignedValues(line)) != 1 {
			t.Errorf("nothing is found in %s", line)
		}
	}
}

// Values that were drawn have no sum of an address. Of those of 43 letters and digits one in twenty is a key in base58, where the name before it is of an address; of others hardly any.
func TestDrawnValuesAreNoAddresses(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 16))
	for form, most := range map[string]int{"{26a}": 0, "{32a}": 0, "{34a}": 0, "{40x}": 0, "{43a}": 350, "{44a}": 150, "T{33a}": 0, "1{33a}": 0} {
		shown := 0
		for range 5_000 {
			if publicAddress(`tokenMint = "`, drawForm(random, form)) {
				shown++
			}
		}
		if shown > most {
			t.Errorf("%s: %d of 5000 pass for addresses", form, shown)
		}
	}
}

// An address may have its protocol behind the password, without a scheme (threats.md T890).
func TestPasswordsBeforeProtocols(t *testing.T) {
	for line, password := range map[string]string{
		`sql.Open("mysql", "root:T7kq3Zr8Lw2Vx9@tcp(127.0.0.1:3306)/db")`: "T7kq3Zr8Lw2Vx9", `DSN=app:q7/Rz2@Lm9Xc4@tcp4(db.acme.io)/x?parseTime=true`: "q7/Rz2@Lm9Xc4", "dsn: app:T7kq3Zr8Lw2Vx9@unix(/run/mysql.sock)/x": "T7kq3Zr8Lw2Vx9",
	} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if maskChange(t, nil, &diff, nil); strings.Contains(diff, password) || !strings.Contains(diff, Redacted+"@") {
			t.Errorf("%s is shown as %s", line, diff)
		}
	}
	if line := "app:T7kq3Zr8Lw2Vx9@tcp(db.acme.io:3306)/x"; len(AddressPasswords(line)) != 1 {
		t.Errorf("nothing is found in %s", line)
	}
	for _, line := range []string{
		`fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", user, pass, host, port, name)`, `"user:password@tcp(localhost:3306)/db"`, `root:${DB_PASS}@tcp(db)/x`, `root:{{ .Values.pass1 }}@tcp(db)/x`, `"root:root@tcp(127.0.0.1:3306)/test"`, `user + ":" + pass + "@tcp(" + host + ")"`,
	} {
		diff := "@@ -0,0 +1 @@\n+" + line + "\n"
		if was := diff; maskChange(t, nil, &diff, nil) != 0 || diff != was {
			t.Errorf("masked: %s", diff)
		}
	}
}
