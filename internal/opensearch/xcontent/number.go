package xcontent

import (
	"math"
	"math/big"
	"strconv"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/java"
)

// maxBigBytes bounds the binary length of a big number: writing one in decimal
// takes more than linear time. Servers since 2023 read about a thousand digits.
const maxBigBytes = 64 << 10

func tooBig(size int) error {
	return fault.New(fault.Refused, "a number of %d bytes; %d is the limit", size, maxBigBytes)
}

// appendFloat appends f as Java prints it; what JSON has no number for is a string.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(java.AppendReal(append(dst, '"'), f, bits), '"')
	}
	return java.AppendReal(dst, f, bits)
}

// bigInt is the integer that the two's-complement, big-endian bytes b give; of no
// bytes, zero. This is Java's BigInteger(byte[]).
func bigInt(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return n
}

// appendDecimal appends unscaled·10^−scale as Java's BigDecimal.toString does:
// plain unless that would need zeros that the number does not have, or more than
// five after the point.
func appendDecimal(dst []byte, unscaled *big.Int, scale int64) []byte {
	digits := unscaled.Append(nil, 10)
	if scale == 0 {
		return append(dst, digits...)
	}
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	exponent := int64(len(digits)-1) - scale
	if scale < 0 || exponent < -6 {
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		if exponent == 0 {
			return dst
		}
		dst = append(dst, 'E')
		if exponent > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, exponent, 10)
	}
	whole := len(digits) - int(scale)
	if whole > 0 {
		dst = append(append(dst, digits[:whole]...), '.')
		return append(dst, digits[whole:]...)
	}
	dst = append(dst, "0."...)
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
