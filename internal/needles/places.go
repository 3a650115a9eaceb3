package needles

// Index finds the places of words in a text, in one reading of it, however many words there are and however much they are
// alike (Aho and Corasick). Libraries for it keep a table for each byte of the words, a gigabyte for megabytes of words that somebody made up; this keeps 20
// bytes.
type Index struct {
	root  [256]int32 // the children of the node without letters
	nodes []node
}

// node stands for a beginning of words; number 0 is the one without letters. Its children are a list.
type node struct {
	child, sibling int32
	back           int32 // the longest end of what it stands for that begins a word too
	word           int32 // the length of the longest word that it ends with
	letter         byte
}

// NewIndex makes an index of words.
func NewIndex(words []string) *Index {
	x := &Index{nodes: make([]node, 1)}
	for _, w := range words {
		at := int32(0)
		for i := range len(w) {
			next := x.child(at, w[i])
			if next == 0 {
				next = x.add(at, w[i])
			}
			at = next
		}
		x.nodes[at].word = int32(len(w))
	}
	x.link()
	return x
}

func (x *Index) child(at int32, letter byte) int32 {
	if at == 0 {
		return x.root[letter]
	}
	next := x.nodes[at].child
	for next != 0 && x.nodes[next].letter != letter {
		next = x.nodes[next].sibling
	}
	return next
}

func (x *Index) add(at int32, letter byte) int32 {
	n := int32(len(x.nodes))
	x.nodes = append(x.nodes, node{letter: letter, sibling: x.nodes[at].child})
	x.nodes[at].child = n
	if at == 0 {
		x.root[letter] = n
	}
	return n
}

// link finds the ends of nodes that begin words, those of short ones first.
func (x *Index) link() {
	queue := []int32{0}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for n := x.nodes[at].child; n != 0; n = x.nodes[n].sibling {
			if at != 0 {
				x.nodes[n].back, _ = x.step(x.nodes[at].back, x.nodes[n].letter)
			}
			x.nodes[n].word = max(x.nodes[n].word, x.nodes[x.nodes[n].back].word)
			queue = append(queue, n)
		}
	}
}

// step goes on from a node by a letter, and counts the nodes it looks at.
func (x *Index) step(at int32, letter byte) (next int32, looked int) {
	for looked = 1; ; looked++ {
		if next = x.child(at, letter); next != 0 || at == 0 {
			return next, looked
		}
		at = x.nodes[at].back
	}
}

// Each calls found with each place of a text at which words end, and with the longest of them: text[start:end].
func (x *Index) Each(text string, found func(start, end int)) { x.each(text, found) }

// each is Each, and counts the nodes it looks at.
func (x *Index) each(text string, found func(start, end int)) (looked int) {
	at := int32(0)
	for i := range len(text) {
		var n int
		at, n = x.step(at, text[i])
		looked += n
		if word := int(x.nodes[at].word); word > 0 {
			found(i+1-word, i+1)
		}
	}
	return looked
}
