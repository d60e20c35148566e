package store

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Copies is how many copies of each shard an index asks for: one, and its
// replicas, of which none is ever assigned. What is no index has those of a new one.
func (s *Store) Copies(index string) int {
	if idx := s.view.Load().indices[index]; idx != nil {
		return idx.copies()
	}
	return 2
}

// tooFew refuses a write that waits for more copies of a shard than the one that there is: it would wait in vain.
func (idx *index) tooFew(a document.Active) *exception.Error {
	wanted := cmp.Or(a.Copies, idx.rules.active)
	if wanted == "" || wanted == "0" || wanted == "1" {
		return nil
	}
	needed, err := strconv.Atoi(wanted)
	if err != nil { // all
		needed = idx.copies()
	}
	if needed <= 1 {
		return nil
	}
	return exception.New(exception.UnavailableShards, "[%s][0] Not enough active copies to meet shard count of [%s] (have 1, needed %d). Timeout: [%s]",
		idx.record.Name, strings.ToUpper(wanted), needed, cmp.Or(a.Timeout, "1m"))
}

// copies is how many copies of each shard the index asks for.
func (idx *index) copies() int {
	n, err := strconv.Atoi(idx.record.Settings["index.number_of_replicas"])
	if err != nil {
		return 2
	}
	return 1 + n
}
