package mapping

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	json "github.com/reshelve/reshelve/internal/opensearch/token"
)

// address is an IP address of 16 bytes; IPv4 is mapped into IPv6.
type address [16]byte

var mappedPrefix = [12]byte{10: 0xff, 11: 0xff}

// ipv4 reports whether the address is one of four bytes.
func (a *address) ipv4() bool { return [12]byte(a[:12]) == mappedPrefix }

// ipValue reads an address out of any scalar, into storage. Null is the caller's.
func ipValue(t token, into *address, p place) (Value, *exception.Error) {
	if !t.kind.IsScalar() {
		return Value{}, p.noText(t.kind)
	}
	if !parseAddress(t.text, into) {
		return Value{}, noAddress(t.text)
	}
	return Value{Kind: Address, Bytes: into[:]}, nil
}

func noAddress(text []byte) *exception.Error {
	return exception.New(exception.IllegalArgument, "'%s' is not an IP string literal.", text)
}

// parseAddress reads four decimal numbers with dots, or IPv6 with groups of any
// length below 65536, the last two perhaps in the form of IPv4, and a zone, which
// is dropped.
func parseAddress(text []byte, into *address) bool {
	if !ascii(text) {
		text = asciiDigits(text)
	}
	zone := bytes.IndexByte(text, '%')
	if zone == len(text)-1 {
		return false
	}
	if bytes.IndexByte(text, ':') < 0 {
		*into = address{10: 0xff, 11: 0xff}
		return zone < 0 && parseFour(text, into[12:])
	}
	if zone >= 0 {
		text = text[:zone]
	}
	return parseSixteen(text, into)
}

// parseFour reads four numbers below 256 without leading zeros.
func parseFour(text, into []byte) bool {
	for i := range 4 {
		digits, rest := digitsOf(text)
		if len(digits) == 0 || len(digits) > 3 || digits[0] == '0' && len(digits) > 1 {
			return false
		}
		n := 0
		for _, c := range digits {
			n = n*10 + int(c-'0')
		}
		if n > 255 || i < 3 && (len(rest) == 0 || rest[0] != '.') {
			return false
		}
		into[i], text = byte(n), rest
		if i < 3 {
			text = rest[1:]
		}
	}
	return len(text) == 0
}

// parseSixteen reads groups with colons; two colons stand for one group of zeros
// or more.
func parseSixteen(text []byte, into *address) bool {
	*into = address{}
	filled, gap := 0, -1
	if bytes.HasPrefix(text, []byte("::")) {
		gap, text = 0, text[2:]
	}
	for len(text) > 0 {
		end := bytes.IndexByte(text, ':')
		if end < 0 {
			end = len(text)
		}
		group := text[:end]
		switch {
		case filled > 12 && bytes.IndexByte(group, '.') >= 0, filled > 14:
			return false
		case bytes.IndexByte(group, '.') >= 0:
			if end < len(text) || !parseFour(group, into[filled:filled+4]) {
				return false
			}
			filled += 4
		default:
			n, err := strconv.ParseUint(string(group), 16, 16)
			if err != nil || bytes.IndexByte(group, '_') >= 0 {
				return false
			}
			binary.BigEndian.PutUint16(into[filled:], uint16(n))
			filled += 2
		}
		if text = text[end:]; len(text) == 0 {
			break
		}
		text = text[1:]
		switch {
		case len(text) == 0:
			return false // one colon at the end
		case text[0] == ':' && gap >= 0:
			return false
		case text[0] == ':':
			gap, text = filled, text[1:]
		}
	}
	if gap < 0 || filled == 16 {
		return gap < 0 && filled == 16
	}
	copy(into[16-(filled-gap):], into[gap:filled])
	clear(into[gap : 16-(filled-gap)])
	return true
}

// String is the form of Java: IPv6 without leaving out zeros.
func (a *address) String() string {
	if a.ipv4() {
		return netip.AddrFrom4([4]byte(a[12:])).String()
	}
	out := ""
	for i := 0; i < 16; i += 2 {
		if i > 0 {
			out += ":"
		}
		out += strconv.FormatUint(uint64(binary.BigEndian.Uint16(a[i:])), 16)
	}
	return out
}

// step goes to the next address, or with by -1 to the one before.
func (a *address) step(by int) *exception.Error {
	for i := 15; i >= 0; i-- {
		a[i] += byte(by)
		if by > 0 && a[i] != 0 || by < 0 && a[i] != 255 {
			return nil
		}
	}
	for i := range a { // back, for the message
		a[i] -= byte(by)
	}
	word, flow := "greater", "Overflow"
	if by < 0 {
		word, flow = "smaller", "Underflow"
	}
	return exception.New(exception.Arithmetic, "%s: there is no %s InetAddress than %s", flow, word, a)
}

// parsePrefix reads an address and the number of its bits that all addresses of
// the range share.
func parsePrefix(text []byte, low, high *address) *exception.Error {
	start, rest, ok := bytes.Cut(bytes.TrimRight(text, "/"), []byte("/"))
	if !ok || bytes.IndexByte(rest, '/') >= 0 {
		return exception.New(exception.IllegalArgument, "Expected [ip/prefix] but was [%s]", text)
	}
	if !parseAddress(start, low) {
		return noAddress(start)
	}
	bits, err := strconv.ParseInt(string(rest), 10, 32)
	if err != nil {
		return exception.NotNumber(string(rest))
	}
	most := int64(128)
	if low.ipv4() {
		if bytes.IndexByte(start, ':') >= 0 {
			return exception.New(exception.IllegalArgument, "CIDR notation is not allowed with IPv6-mapped IPv4 address [%s as it introduces ambiguity as to whether the prefix length should be interpreted as a v4 prefix length or a v6 prefix length", start)
		}
		most = 32
	}
	if bits < 0 || bits > most {
		return exception.New(exception.IllegalArgument, "Illegal prefix length [%d] in [%s]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges", bits, text)
	}
	*high = *low
	for i := 128 - int(most) + int(bits); i < 128; i++ {
		low[i/8] &^= 128 >> (i % 8)
		high[i/8] |= 128 >> (i % 8)
	}
	return nil
}

var _ fmt.Stringer = (*address)(nil)

// prefixToken reports whether a token may be a prefix.
func prefixToken(t token) bool { return t.kind == json.String }
