package snapshot

import "strings"

// Fraction tells how much of the shard is behind the pass, from 0 to 1, by the
// lengths of its segments' files and the place in the current segment. It costs
// nothing; call it between two calls of Next.
func (d *Documents) Fraction() float64 {
	var all, behind float64
	for i, sc := range d.commit.Segments {
		length := float64(d.shard.segmentLength(sc.Name))
		all += length
		switch {
		case d.cur != nil && i < d.cur.index:
			behind += length
		case d.cur != nil && i == d.cur.index && d.cur.seg.MaxDoc > 0:
			behind += length * float64(d.next-d.cur.base) / float64(d.cur.seg.MaxDoc)
		}
	}
	if all == 0 {
		return 0
	}
	return min(behind/all, 1)
}

// segmentLength is how long the files of the named segment are together.
func (sh *Shard) segmentLength(name string) (sum int64) {
	for _, f := range sh.Files {
		rest, ok := strings.CutPrefix(f.Name, name)
		if ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "_")) {
			sum += f.Length
		}
	}
	return sum
}
