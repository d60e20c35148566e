package lucene

import "hash/crc32"

// crc32Combine returns the CRC-32 (IEEE) of A followed by B from those of A and
// of B, and B's length. Time is in the logarithm of the length.
//
// A CRC is a polynomial over GF(2): behind A's come 8·length zero bits, which
// multiplies it by x^(8·length) modulo the CRC's polynomial. Powers of two of x
// are squared up.
func crc32Combine(a, b uint32, length int64) uint32 {
	shift := uint32(1 << 31 >> 8) // x^8, bits reflected as the CRC's are
	for n := uint64(length); n > 0; n >>= 1 {
		if n&1 != 0 {
			a = crc32Multiply(a, shift)
		}
		shift = crc32Multiply(shift, shift)
	}
	return a ^ b
}

// crc32Multiply multiplies two reflected polynomials modulo that of the CRC.
func crc32Multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE*(b&1)
	}
	return product
}
