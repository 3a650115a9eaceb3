// Package floors holds the test that keeps imports pointing down the house (design 8): a package may import packages of
// lower floors only, never sideways or up, and floors 0 and 1 stay pure.
package floors
