package embedded

// OnDisk is the segment files of the index, exactly, and the parts of Pebble's files that hold
// its rows, with their values, and its changes. Of a table that several indices share, each has
// its part of the keys, and values by their number: what is large in one is then counted in part for another.
func (e *Engine) OnDisk(index uint32) (bytes int64, known bool) {
	db, done, err := e.use()
	if err != nil {
		return 0, false
	}
	defer done()
	bytes = e.files.size(index)
	for _, space := range []byte{rowSpace, runSpace} {
		lower, upper := bounds(appendIndex(nil, space, index))
		part, err := db.EstimateDiskUsage(lower, upper)
		if err != nil {
			return 0, false
		}
		bytes += int64(part)
	}
	return bytes, true
}

// size is how many bytes the segment files of an index have.
func (fs *files) size(index uint32) int64 {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.sizes[index]
}

// count notes that a file has come, or gone. The mutex is held.
func (fs *files) count(index uint32, bytes int64) {
	fs.onDisk.Add(bytes)
	fs.sizes[index] += bytes
}
