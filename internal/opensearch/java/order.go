package java

import (
	"slices"
	"unicode/utf16"
)

// Bucket is the place of a key in a HashMap whose table has the given number of places,
// a power of two: the hash of a string is 31·h + c over its UTF-16 code units, and its
// high half is spread over the low one. A map goes through its keys by place; keys of one
// place come as they were put in. The table doubles beyond three quarters of its places.
func Bucket(key string, table int) int {
	var h uint32
	for _, unit := range utf16.Encode([]rune(key)) {
		h = 31*h + uint32(unit)
	}
	return int(h^h>>16) & (table - 1)
}

// Less orders strings by their UTF-16 code units, as compareTo does. It differs from the
// order of bytes where one has a character outside of the basic plane.
func Less(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if a[i] < 0xee && b[i] < 0xee {
				return a[i] < b[i]
			}
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) < 0
		}
	}
	return len(a) < len(b)
}
