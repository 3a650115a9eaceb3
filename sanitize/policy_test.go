package sanitize

import "github.com/prloop/prloop/review"

// testPolicy is a repository of the tests.
var testPolicy = Policy{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "hello"}}
