package segment

import "encoding/binary"

// Impact is a pair of a frequency and a rounded length; no doc of a block scores more
// than the best of the block's impacts. The length is 1 in a field without lengths, the
// frequency 1 in one without frequencies.
type Impact struct {
	Frequency uint32
	Length    byte
}

// addImpact puts a pair into a list of those that no other exceeds, ascending in both.
func addImpact(list []Impact, p Impact) []Impact {
	i := 0
	for i < len(list) && list[i].Length <= p.Length {
		if list[i].Frequency >= p.Frequency {
			return list
		}
		i++
	}
	// list[:i] are shorter, and less frequent. One of the same length is exceeded.
	if i > 0 && list[i-1].Length == p.Length {
		i--
	}
	end := i
	for end < len(list) && list[end].Frequency <= p.Frequency {
		end++
	}
	if end == i {
		list = append(list, Impact{})
		copy(list[i+1:], list[i:])
		list[i] = p
		return list
	}
	list[i] = p
	return append(list[:i+1], list[end:]...)
}

func appendImpacts(b []byte, list []Impact) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, p := range list {
		b = binary.AppendUvarint(b, uint64(p.Frequency))
		b = append(b, p.Length)
	}
	return b
}

// readImpacts reads what appendImpacts wrote.
func readImpacts(list []Impact, b []byte) []Impact {
	n, i := varint(b, 0)
	for ; n > 0; n-- {
		var f uint64
		if f, i = varint(b, i); i == len(b) {
			panic(damaged("impacts end early"))
		}
		list = append(list, Impact{Frequency: uint32(f), Length: b[i]})
		i++
	}
	return list
}
