package control

// Fraction is how much of the pass is done, from 0 to 1, told by shards: all
// count the same, and a shard in the middle counts by its documents when their
// number is known. Negative when nothing can be said.
func (d *Documents) Fraction() float64 {
	var all int
	for i, idx := range d.indices {
		all += idx.Shards
		if i == 0 && d.from != nil {
			all -= d.from.Shard
		}
	}
	if all <= 1 {
		return -1
	}
	return float64(d.opened) / float64(all)
}
