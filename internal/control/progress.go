package control

// Fraction is how much of the pass is done, from 0 to 1, told by shards, which
// all count the same, and by the length of what is behind in the current one.
func (d *Documents) Fraction() float64 {
	var all int
	for i, idx := range d.indices {
		all += idx.Shards
		if i == 0 {
			all -= d.first
		}
	}
	if all == 0 {
		return 1
	}
	done := float64(d.opened)
	if d.pass != nil {
		done += d.pass.Fraction()
	}
	return done / float64(all)
}
