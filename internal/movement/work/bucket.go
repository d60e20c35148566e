package work

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
)

// maxDigits bounds the buckets of a movement's items: 16³ of them.
const maxDigits = 3

// perBucket is about how many items a bucket holds.
const perBucket = 100

// Digits is by how many hexadecimal digits the buckets of so many items are told apart, so
// that each has about a hundred: a worker that looks for work lists one at random. It is
// chosen once for a movement: successors do not change it.
func Digits(items int) int {
	digits, buckets := 0, 1
	for digits < maxDigits && items > buckets*perBucket {
		digits, buckets = digits+1, buckets*16
	}
	return digits
}

// Bucket is the bucket of the item with name: the first digits of its SHA-256 in
// hexadecimal; "-" where there is only one bucket.
func Bucket(name string, digits int) string {
	if digits <= 0 {
		return "-"
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:2])[:min(digits, maxDigits)]
}

// BucketAt is the nth bucket, of 16^digits; n is taken modulo their number.
func BucketAt(n uint, digits int) string {
	if digits <= 0 {
		return "-"
	}
	digits = min(digits, maxDigits)
	return fmt.Sprintf("%0*x", digits, n%(1<<(4*digits)))
}

// ItemsPrefix is the prefix of the keys of all items of a movement.
func ItemsPrefix(movement string) string { return Prefix(movement) + "item/" }

// Prefix is that of everything that is kept of a movement besides its record.
func Prefix(movement string) string { return "movement/" + movement + "/" }

// BucketPrefix is the prefix of the keys of a bucket's items.
func BucketPrefix(movement, bucket string) string { return ItemsPrefix(movement) + bucket + "/" }

// ItemKey is the key of the item with name in the coordination store.
func ItemKey(movement, name string, digits int) string {
	return BucketPrefix(movement, Bucket(name, digits)) + Safe(name)
}

// Lengths, in bytes, of names in keys. A key has at most 512.
const (
	maxPlain = 270 // of a name that [Plain] gives back: an index (255), a shard and a position
	maxSafe  = 361 // of what Safe makes of it
)

// Safe makes name a part of a key: printable, without '/', never empty, of at most 361
// bytes. Bytes that may not stand in a key, and '%' and '~', become %xx; a name of which
// that makes too much becomes "~" and its unpadded base64url. [Plain] is the way back for
// names of up to 270 bytes; longer ones become "~~" and their SHA-256, and there is none.
func Safe(name string) string {
	if len(name) > maxPlain {
		sum := sha256.Sum256([]byte(name))
		return "~~" + hex.EncodeToString(sum[:])
	}
	if name == "" {
		return "~"
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		plain := r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != '/' && r != '%' && r != '~' && (r != utf8.RuneError || size > 1)
		for _, c := range []byte(name[i : i+size]) {
			if plain {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02x", c)
			}
		}
		i += size
	}
	if b.Len() > maxSafe {
		return "~" + base64.RawURLEncoding.EncodeToString([]byte(name))
	}
	return b.String()
}

// Plain is the name of which [Safe] made part; fault.Corrupt for anything that it did not
// make, or made of a name that is too long to come back.
func Plain(part string) (string, error) {
	name := ""
	switch {
	case strings.HasPrefix(part, "~~"):
		return "", fault.New(fault.Corrupt, "%q is a shortened name, and the full one is in the record alone", part)
	case strings.HasPrefix(part, "~"):
		raw, err := base64.RawURLEncoding.DecodeString(part[1:])
		if err != nil {
			return "", fault.New(fault.Corrupt, "%q is no part of a key: %w", part, err)
		}
		name = string(raw)
	default:
		var b strings.Builder
		for i := 0; i < len(part); i++ {
			if part[i] != '%' {
				b.WriteByte(part[i])
				continue
			}
			if i+2 >= len(part) {
				return "", fault.New(fault.Corrupt, "%q is no part of a key", part)
			}
			c, err := hex.DecodeString(part[i+1 : i+3])
			if err != nil {
				return "", fault.New(fault.Corrupt, "%q is no part of a key: %w", part, err)
			}
			b.Write(c)
			i += 2
		}
		name = b.String()
	}
	if Safe(name) != part {
		return "", fault.New(fault.Corrupt, "%q is no part of a key", part)
	}
	return name, nil
}
