package diff

// ChangedLines are a diff's added and removed lines by number. A diff that cannot be read is not whole, and counts as unread for
// that.
func ChangedLines(text string) (added, removed map[int]string) {
	added, removed = map[int]string{}, map[int]string{}
	d, err := Parse(text)
	if err != nil {
		return added, removed
	}
	for i := range d.Files {
		for l := range d.Files[i].Added() {
			added[l.New] = l.Text
		}
		for l := range d.Files[i].Removed() {
			removed[l.Old] = l.Text
		}
	}
	return added, removed
}
