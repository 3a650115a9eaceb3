package sanitize

import (
	"strings"
	"testing"
)

// A word that says that a value is made up is no part of another word (threats.md T634).
func TestMadeUpWordsAreWhole(t *testing.T) {
	for _, v := range []string{"Latest-Winter-2024", "Gr8Contest!Falcon7", "greatestFalcon2024", "Mockingbird-Horse-77", "Testament-Falcon-77", "protest-falcon-horse-77", "LATEST-FALCON-HORSE-2077", "x9Kq2attestZr8Lm3Qw"} {
		if MadeUp(v) {
			t.Errorf("%s is made up", v)
		}
		if line := `db_password = "` + v + `"`; len(AssignedValues(line)) != 1 {
			t.Errorf("nothing is found in %s", line)
		}
	}
	for _, v := range []string{"test-password-77", "testpassword1234", "my-test-key-1234", "unittest-secret-12", "fakeSecret123456", "someTestToken1234", "TEST_PASSWORD_123", "mock-api-key-12345", "testing-value-1234", "tests.data.12345", "password-todo-12345", "MyFake2024Password",
		"e2etest-password-123", "smoketest-secret-01", "dbtest_password_01", "devtestpassword123", "localtest-password-1", "testdb-password-123", "testenv-password-123", "testcontainers-secret-1", "mockserver-secret-123",
		"fakeredis-password-1", "fortestingonly123456", "justfortesting1234", "integrationtest-pw-1"} {
		if !MadeUp(v) {
			t.Errorf("%s is not made up", v)
		}
	}
}

// What says that it is made up is no finding, so it stays in a diff whatever rule finds it, but in the form of an issuer.
func TestMadeUpValuesAreShown(t *testing.T) {
	for _, line := range []string{
		`const c = new Client({ apiKey: 'test-api-key-12345' })`, `apiKey: "test_api_key_1234567890"`, "API_KEY=test_api_key_1234567890", `secret: "my-test-secret-1234567890"`, `SECRET_KEY = "test-secret-key-for-ci-0123456789"`,
		`process.env.API_KEY = 'test-api-key-1234567890'`, `apiKey: "dummy-api-key-12345"`, `apiKey := "1234567890abcdef1234567890abcdef"`, `secretKey: "0123456789abcdef0123456789abcdef"`,
	} {
		if got := shownInDiff(t, line); strings.Contains(got, Redacted) || len(AssignedValues(line)) > 0 {
			t.Errorf("%s is shown as\n%s", line, got)
		}
	}
	for _, line := range []string{`apiKey: "example-q7Rz2Lm9Xc4Vb8Nt1Wk6"`, `key = "sk_test_51q7Rz2Lm9Xc4Vb8Nt1Wk6Jd0Pf5Gh3Ys"`} {
		if got := shownInDiff(t, line); !strings.Contains(got, Redacted) {
			t.Errorf("%s is shown", line)
		}
	}
}
