// Package forecast says what a review would cost before anything is spent: what each model that an endpoint serves would cost, and
// what a run would ask of which model, from the prompts it would really send. A price that nobody knows is said to be unknown.
package forecast
