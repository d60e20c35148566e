package store

import "strconv"

// Copies is how many copies of each shard an index asks for: one, and its
// replicas, of which none is ever assigned. What is no index has those of a new one.
func (s *Store) Copies(index string) int {
	if idx := s.view.Load().indices[index]; idx != nil {
		return idx.copies()
	}
	return 2
}

// copies is how many copies of each shard the index asks for.
func (idx *index) copies() int {
	n, err := strconv.Atoi(idx.record.Settings["index.number_of_replicas"])
	if err != nil {
		return 2
	}
	return 1 + n
}
