package sanitize

import "testing"

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
