package repocontext

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// begun is how some formats begin that http.DetectContentType does not know. Each holds a byte that no text has.
var begun = []string{
	"SQLite format 3\x00", "\xde\x12\x04\x95\x00\x00", "\x95\x04\x12\xde\x00\x00", "\x93NUMPY", "\x89HDF\r\n\x1a\n", "PAR1\x15", "ARROW1\x00\x00", "Obj\x01", // data
	"II*\x00", "MM\x00*", "8BPS\x00", "\xabKTX 20\xbb\r\n\x1a\n", "DDS |\x00\x00\x00", "\x00\x00\x00\x0cjP  ", "\x00\x00\x00\x0cJXL ", // pictures
	"glTF\x02\x00\x00\x00", "Kaydara FBX Binary  \x00", // models
}

// beginsAsData reports whether data begins as one of them.
func beginsAsData(data []byte) bool {
	return slices.ContainsFunc(begun, func(as string) bool { return bytes.HasPrefix(data, []byte(as)) })
}

// catalog reports whether data is translations as msgfmt and its like write them: two tables of lengths and places, and behind them, without a gap,
// the texts they speak of, each with a NUL at its end. They are text for the greater part, but nothing else can stand behind such a beginning.
func catalog(data []byte) bool {
	const header, row = 28, 8
	if len(data) < header {
		return false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0x95 {
		order = binary.BigEndian
	}
	number := func(at uint64) uint64 { return uint64(order.Uint32(data[at:])) }
	if number(0) != 0x950412de || number(4) != 0 {
		return false
	}
	rows, texts, hashes := number(8), number(12), number(24)
	behind := header + 2*row*rows // the tables
	if size := number(20); size > 0 {
		if hashes != behind {
			return false
		}
		behind += 4 * size
	}
	if rows == 0 || texts != header || number(16) != header+row*rows {
		return false
	}
	for at := uint64(header); at < header+2*row*rows; at += row {
		if at+row > uint64(len(data)) {
			return true // more tables than was read
		}
		length, place := number(at), number(at+4)
		if place != behind {
			return false
		}
		behind += length + 1
		if end := place + length; end < uint64(len(data)) && data[end] != 0 {
			return false
		}
	}
	return uint64(len(data)) <= behind
}
