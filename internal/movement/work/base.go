package work

// Base is the lease of the record that it is part of: what runs pieces works on records of
// any kind that have one.
func (l *Lease) Base() *Lease { return l }

// Unfinished is nil: a piece that is nothing but a lease tells nothing of its work. Records
// that know better, such as [Item], have their own.
func (l *Lease) Unfinished() error { return nil }
