package migrate

// SpillFrom sets how many records are held, until back is called.
func SpillFrom(n int) (back func()) {
	was := spillFrom
	spillFrom = n
	return func() { spillFrom = was }
}
