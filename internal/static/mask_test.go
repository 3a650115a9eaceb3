package static

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/prloop/prloop/sanitize"
)

// What this reviewer calls a secret no other agent sees: nothing of it is found in a masked text.
func TestMaskedTextHoldsNoSecret(t *testing.T) {
	file, err := os.Open("../../sanitize/testdata/redaction/samples.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		`setPassword("secret", "q7Rz2Lm9Xc4Vb8Nt1Wk6")`, `{token, 'q7Rz2Lm9Xc4Vb8Nt1Wk6'}`, `passwd => "aB3$xY7!kL9#mN2@"`,
		"db = 'postgres://app:s3cr3tPw9@db.acme.io/x'", "sid = SK0123456789abcdef0123456789abcdef",
		`password = "abc12345(deFghij12X"`, `DB_PASSWORD = "aX%q&,A2h9U-+z$0!T1S"`, `API_SECRET = "a)*>=Q6;dD@w+/xl+Ge{"`, "u = postgres://app:q7R[z2Lm9|Xc4@db.acme.io/x",
		"hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH", "sk-live-0a1b2c3d4e5f6a7b8c9d", "ABIA" + "Q2W3E4R5T6Y7U2I3",
		`aio = Client("mona", "aio_` + `uMyCmTYOM3uwEq1xwwuNZf2O7e1L")`, "mc = new Mailchimp('e0814e6792b229cf8651e28d" + "4875077f-us14')",
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, row.Text)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, text := range texts {
		masked := sanitize.Mask(text)
		for _, line := range strings.Split(text, "\n") {
			found += len(find(line))
		}
		change := text
		if _, err := sanitize.MaskChange(t.Context(), nil, nil, []*string{&change}, nil); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(masked+"\n"+change, "\n") {
			for _, s := range find(line) {
				t.Errorf("%s is found in a masked text: %q", s.rule, line)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d values are found in the samples", found)
	}
}
