package drive

// lock is a mutex that may be held while a store is asked, for as long as that takes: who
// waits for it waits in a channel, so that simulated time goes on.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

func (l lock) lock()   { l <- struct{}{} }
func (l lock) unlock() { <-l }
