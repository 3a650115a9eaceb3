// Package stock counts what is in the shop.
package stock

// Count adds up the pieces on all shelves.
func Count(shelves []int) int {
	total := 0
	for _, n := range shelves {
		total += n
	}
	return total
}

// Mean is the number of pieces on a shelf.
func Mean(shelves []int) int {
	return Count(shelves) / len(shelves)
}
