package xcontent

import (
	"bytes"
	"math"
	"math/big"
	"strconv"

	"github.com/reshelve/reshelve/fault"
)

// maxBigBytes bounds the binary length of a big number: writing one in decimal
// takes more than linear time. Servers since 2023 read about a thousand digits.
const maxBigBytes = 64 << 10

func tooBig(size int) error {
	return fault.New(fault.Refused, "a number of %d bytes; %d is the limit", size, maxBigBytes)
}

// appendFloat appends f in Java's notation (Double.toString, and Float.toString
// when bits is 32, as specified since JDK 19): plain from 1.0E-3 to below 1.0E7,
// else with an exponent; at least one digit after the point.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		if bytes.IndexByte(dst[start:], '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	return appendScientific(dst, f, bits)
}

// appendScientific is appendFloat's form with an exponent. Java chooses among
// decimals of at least two digits, which matters for the smallest numbers only:
// 4.9E-324 where one digit would say 5e-324.
func appendScientific(dst []byte, f float64, bits int) []byte {
	var space [32]byte
	text := strconv.AppendFloat(space[:0], f, 'e', -1, bits)
	if bytes.IndexByte(text, '.') < 0 {
		var other [32]byte
		two := strconv.AppendFloat(other[:0], f, 'e', 1, bits)
		if back, err := strconv.ParseFloat(string(two), bits); err == nil && back == f {
			text = append(text[:0], two...)
		}
	}
	e := bytes.IndexByte(text, 'e')
	dst = append(dst, text[:e]...)
	if bytes.IndexByte(text[:e], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	dst = append(dst, 'E')
	if text[e+1] == '-' {
		dst = append(dst, '-')
	}
	return append(dst, bytes.TrimLeft(text[e+2:], "0")...)
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
