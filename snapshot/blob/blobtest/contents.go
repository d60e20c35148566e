package blobtest

import (
	"fmt"
	"math/rand/v2"
)

// manyBlobs is more than the 1000 entries that the adapters ask for, or get, in
// one page of a listing.
const manyBlobs = 1203

// oddNames are names that a URL, a file system or a signature may mangle.
var oddNames = []string{
	"a b", "a+b", "a%20b", "a%2Fb", "a%b", "a&b=c;d", "a#b?c", "~!$'()*,:@", "[x]{y}|^`\"<>",
	"ünïcødé-日本語-🙂", "__1.part0", "snap-FGgvQ_1CTymrGgoBFrwNTg.dat", "...", ".hidden",
}

// Contents is what a store holds when the suite runs: a blob of a megabyte and
// a bit, an empty one, odd names, nested ones and more than a page of small ones.
func Contents() map[string][]byte {
	contents := map[string][]byte{
		"blob":                      Noise(1<<20 + 17),
		"empty":                     {},
		"index-0":                   []byte("0"),
		"index-12":                  []byte("twelve"),
		"indices/aB3-_x/0/__1":      []byte("a segment's file"),
		"indices/aB3-_x/0/index-7":  []byte("a shard's list"),
		"indices/aB3-_x/10/__1":     []byte("another shard"),
		"many/deeper/not in many":   []byte("x"),
		"many.not/in-many-either":   []byte("y"),
		"indices/aB3-_x/meta-1.dat": []byte("metadata"),
	}
	for _, name := range oddNames {
		contents["odd/"+name] = []byte("contents of " + name)
		contents["odd/"+name+"/below"] = []byte("below " + name)
	}
	for i := range manyBlobs {
		contents[fmt.Sprintf("many/%04d", i)] = fmt.Appendf(nil, "%d", i)
	}
	return contents
}

// Noise is n bytes in which each range is recognisable, the same each time.
func Noise(n int) []byte {
	data := make([]byte, n)
	source := rand.NewChaCha8([32]byte{'r', 'e', 's', 'h', 'e', 'l', 'v', 'e'})
	_, _ = source.Read(data) // never fails
	return data
}
