package xcontent

import (
	"math"
	"strconv"
)

// simple reads the rest of a token 0x20 to 0x3F: literals and numbers.
func (r *smileReader) simple(t byte) error {
	switch t {
	case 0x20:
		r.out = append(r.out, '"', '"')
	case 0x21:
		r.out = append(r.out, "null"...)
	case 0x22:
		r.out = append(r.out, "false"...)
	case 0x23:
		r.out = append(r.out, "true"...)
	case 0x24:
		return r.integer(32)
	case 0x25:
		return r.integer(64)
	case 0x26:
		return r.bigInteger()
	case 0x28:
		bits, err := r.sevenBit(5)
		r.out = appendFloat(r.out, float64(math.Float32frombits(uint32(bits))), 32)
		return err
	case 0x29:
		bits, err := r.sevenBit(10)
		r.out = appendFloat(r.out, math.Float64frombits(bits), 64)
		return err
	case 0x2a:
		return r.bigDecimal()
	default:
		return corrupt(r.pos-1, "byte %#02x cannot begin a value", t)
	}
	return nil
}

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// vint reads an unsigned integer: seven bits a byte, most significant first; the
// last byte has its top bit set and carries six.
func (r *smileReader) vint(bits int) (uint64, error) {
	limit := uint64(1)<<(bits-1)<<1 - 1 // of 64 bits: all ones
	var n uint64
	for at := r.pos; r.pos < len(r.data); {
		b := r.data[r.pos]
		r.pos++
		shift, part := 7, uint64(b)
		if b >= 0x80 {
			shift, part = 6, uint64(b&0x3f)
		}
		if n > limit>>shift {
			return 0, corrupt(at, "an integer has more than %d bits", bits)
		}
		n = n<<shift | part
		if b >= 0x80 {
			return n, nil
		}
	}
	return 0, corrupt(r.pos, "an integer is cut off")
}

func (r *smileReader) integer(bits int) error {
	n, err := r.vint(bits)
	r.out = strconv.AppendInt(r.out, unzigzag(n), 10)
	return err
}

// sevenBit reads a number of which each byte carries seven bits.
func (r *smileReader) sevenBit(size int) (bits uint64, err error) {
	if size > len(r.data)-r.pos {
		return 0, corrupt(r.pos, "a floating-point number is cut off")
	}
	for _, b := range r.data[r.pos : r.pos+size] {
		bits = bits<<7 | uint64(b&0x7f)
	}
	r.pos += size
	return bits, nil
}

func (r *smileReader) bigInteger() error {
	b, err := r.bigBytes()
	if err != nil {
		return err
	}
	r.out = bigInt(b).Append(r.out, 10)
	return nil
}

// bigDecimal reads a zigzag scale and the unscaled integer.
func (r *smileReader) bigDecimal() error {
	scale, err := r.vint(32)
	if err != nil {
		return err
	}
	b, err := r.bigBytes()
	if err != nil {
		return err
	}
	if len(b) == 0 {
		scale = 0 // Jackson reads no bytes as a plain zero
	}
	r.out = appendDecimal(r.out, bigInt(b), unzigzag(scale))
	return nil
}

func (r *smileReader) bigBytes() ([]byte, error) {
	b, err := r.packedBinary()
	if err == nil && len(b) > maxBigBytes {
		err = tooBig(len(b))
	}
	return b, err
}

// packedBinary reads bytes of which seven are written as eight with seven bits
// each; of a last group of k < 7, k+1 are written, the last with the k lowest
// bits. The result is valid until the next call.
func (r *smileReader) packedBinary() ([]byte, error) {
	claimed, err := r.vint(32)
	if err != nil {
		return nil, err
	}
	packed := claimed + (claimed+6)/7
	if packed > uint64(len(r.data)-r.pos) {
		return nil, corrupt(r.pos, "a binary value of %d bytes is cut off", claimed)
	}
	in := r.data[r.pos : r.pos+int(packed)]
	r.pos += int(packed)
	r.unpack = r.unpack[:0]
	for len(in) > 0 {
		group := min(8, len(in))
		r.unpack = appendUnpacked(r.unpack, in[:group])
		in = in[group:]
	}
	return r.unpack, nil
}

// appendUnpacked appends the bytes of one group.
func appendUnpacked(dst, group []byte) []byte {
	last := len(group) - 1 // also the number of bytes, and of the last one's bits
	var bits uint64
	for _, b := range group[:last] {
		bits = bits<<7 | uint64(b&0x7f)
	}
	bits = bits<<last | uint64(group[last]&(1<<last-1))
	for i := last - 1; i >= 0; i-- {
		dst = append(dst, byte(bits>>(8*i)))
	}
	return dst
}

func (r *smileReader) rawBinary() error {
	size, err := r.vint(32)
	if err != nil {
		return err
	}
	if size > uint64(len(r.data)-r.pos) {
		return corrupt(r.pos, "a binary value of %d bytes is cut off", size)
	}
	r.out = appendBase64(r.out, r.data[r.pos:r.pos+int(size)])
	r.pos += int(size)
	return nil
}
