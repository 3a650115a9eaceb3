package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// patchDigits are the digits in which a patch writes binary data: five of them are four bytes.
const patchDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

var errBinaryPatch = errors.New("a binary part of it is not readable")

// checkBinary refuses a patch whose binary parts come to more than bundleBytes: `git apply` makes room for all that they say before it writes anything,
// and a thousandth of it may stand in the patch. Parts are found as git finds them.
func checkBinary(patch []byte) error {
	var total uint64
	parts, inside := 0, false // that may come, and whether one has begun
	var delta []byte
	for line := range bytes.Lines(patch) {
		text := string(line)
		switch {
		case inside && text == "\n":
			inside = false
			if delta != nil {
				makes, err := deltaMakes(delta)
				if err != nil {
					return err
				}
				total, delta = total+makes, nil
			}
		case inside && delta != nil:
			data, err := patchData(strings.TrimSuffix(text, "\n"))
			if err != nil {
				return err
			}
			delta = append(delta, data...)
		case inside:
		case text == "GIT binary patch\n":
			parts = 2 // forth and back
		case parts > 0:
			kind, says, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
			if kind != "literal" && kind != "delta" {
				parts = 0
				continue
			}
			size, err := strconv.ParseUint(says, 10, 32)
			if err != nil {
				return errBinaryPatch
			}
			total, parts, inside = total+size, parts-1, true
			if kind == "delta" {
				delta = []byte{}
			}
		}
		if total > bundleBytes {
			return fmt.Errorf("its binary parts come to more than %d bytes: %w", bundleBytes, ErrTooLarge)
		}
	}
	return nil
}

// patchData is what a line of a binary part says: its first letter is the number of bytes.
func patchData(line string) ([]byte, error) {
	if len(line) < 6 || len(line)%5 != 1 {
		return nil, errBinaryPatch
	}
	n := int(line[0]-'A') + 1
	if line[0] >= 'a' {
		n = int(line[0]-'a') + 27
	}
	var data []byte
	for group := line[1:]; group != ""; group = group[5:] {
		var four uint32
		for _, c := range []byte(group[:5]) {
			digit := strings.IndexByte(patchDigits, c)
			if digit < 0 {
				return nil, errBinaryPatch
			}
			four = four*85 + uint32(digit)
		}
		data = binary.BigEndian.AppendUint32(data, four)
	}
	if n < 1 || n > len(data) {
		return nil, errBinaryPatch
	}
	return data[:n], nil
}

// deltaMakes is how large a packed delta says that the file is which it makes.
func deltaMakes(packed []byte) (uint64, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, errBinaryPatch
	}
	head := bufio.NewReader(io.LimitReader(z, 2*binary.MaxVarintLen64))
	_, from := binary.ReadUvarint(head)
	to, err := binary.ReadUvarint(head)
	if from != nil || err != nil || to > 1<<32 {
		return 0, errBinaryPatch
	}
	return to, nil
}
