package forecast

import (
	"bytes"
	"testing"

	"github.com/prloop/prloop/internal/gateway"
)

func TestPrintModels(t *testing.T) {
	models := []Model{
		{Name: "z-unknown", Endpoint: "e"}, {Name: "dear", Endpoint: "e", Price: &gateway.Price{Input: 100, Output: 200}},
		{Name: "free\x1b[2J", Endpoint: "e", Price: &gateway.Price{}}, {Name: "mine", Endpoint: "e", Used: true},
	}
	Sort(models)
	var b bytes.Buffer
	if err := PrintModels(&b, models, false, 0); err != nil {
		t.Fatal(err)
	}
	const want = "mine\tunknown\tunknown\tunknown\te\nfree\\x1b[2J\t$0\t$0\t$0\te\ndear\t$100\t$200\t$3.80\te\nz-unknown\tunknown\tunknown\tunknown\te\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
	if row := models[0].Row(); row["inputUsd"] != nil || row["reviewUsd"].(*float64) != nil || row["used"] != true {
		t.Errorf("%v", row)
	}
}
