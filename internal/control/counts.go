package control

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/reshelve/reshelve/internal/fault"
)

// counts reads an answer of _stats, by name.
func counts(answer []byte) ([]IndexCount, error) {
	var told struct {
		Indices map[string]struct {
			UUID  string `json:"uuid"`
			Total struct {
				Docs struct {
					Count   int64 `json:"count"`
					Deleted int64 `json:"deleted"`
				} `json:"docs"`
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
				Indexing struct {
					Indexed int64 `json:"index_total"`
					Deletes int64 `json:"delete_total"`
				} `json:"indexing"`
				Get struct {
					Total int64 `json:"total"`
				} `json:"get"`
				Refresh struct {
					Total int64 `json:"total"`
				} `json:"refresh"`
			} `json:"total"`
		} `json:"indices"`
	}
	if err := json.Unmarshal(answer, &told); err != nil {
		return nil, fault.New(fault.Unavailable, "the statistics are not what a store answers: %w", err)
	}
	found := []IndexCount{}
	for name, of := range told.Indices {
		t := of.Total
		found = append(found, IndexCount{
			Index: name, UUID: of.UUID, Documents: t.Docs.Count, Deleted: t.Docs.Deleted, Bytes: t.Store.Bytes,
			Indexed: t.Indexing.Indexed, Deletes: t.Indexing.Deletes, Gets: t.Get.Total, Refreshes: t.Refresh.Total,
		})
	}
	slices.SortFunc(found, func(a, b IndexCount) int { return cmp.Compare(a.Index, b.Index) })
	return found, nil
}
