package opensearch

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

// pageSize is how many records one search asks for; fewer when they are so large
// that the answer is refused.
const pageSize = 2000

// List is coord.Store's. It pages by key: a record that is made meanwhile may be missing, one that
// changes meanwhile is told in one of its states.
func (s *Store) List(ctx context.Context, prefix string) ([]coord.Record, error) {
	ctx, done, err := s.life.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if len(prefix) > coord.MaxKey {
		return nil, nil
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	var listed []coord.Record
	query := keyed(prefix)
	query["bool"].(object)["must_not"] = []any{object{"term": object{"reshelve.deleted": true}}}
	body := object{"size": pageSize, "query": query, "sort": []any{object{"reshelve.key": "asc"}},
		"seq_no_primary_term": true, "track_total_hits": false}
	for size := pageSize; ; {
		body["size"] = size
		found, err := s.search(ctx, body)
		if tooLarge(err) && size > 1 {
			size /= 2
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			record, _, err := h.record()
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(record.Key, prefix) {
				listed = append(listed, record)
			}
		}
		if len(found) < size {
			return listed, nil
		}
		body["search_after"] = []string{found[len(found)-1].ID}
	}
}

// keyed is the query for the documents of records whose keys begin with the
// prefix, as far as it consists of whole letters.
func keyed(prefix string) object {
	whole := 0
	for whole < len(prefix) {
		if r, n := utf8.DecodeRuneInString(prefix[whole:]); r == utf8.RuneError && n <= 1 {
			break
		} else {
			whole += n
		}
	}
	filter := object{"exists": object{"field": "reshelve.key"}}
	if whole > 0 {
		filter = object{"prefix": object{"reshelve.key": prefix[:whole]}}
	}
	return object{"bool": object{"filter": []any{filter}}}
}

// refresh makes every acknowledged change visible to searches.
func (s *Store) refresh(ctx context.Context) error {
	var told struct {
		Shards counts `json:"_shards"`
	}
	if err := s.look(ctx, http.MethodPost, []string{"_refresh"}, nil, nil, &told); err != nil {
		return err
	}
	return s.whole(told.Shards)
}

// counts tell how many shards took part in an answer.
type counts struct {
	Successful int `json:"successful"`
	Failed     int `json:"failed"`
}

// whole is fault.Unavailable when an answer may lack something.
func (s *Store) whole(c counts) error {
	if c.Failed == 0 && c.Successful > 0 {
		return nil
	}
	return fault.At(fault.New(fault.Unavailable, "%d shards of the index answered and %d failed", c.Successful, c.Failed), s.client.String(), s.index)
}

func (s *Store) search(ctx context.Context, body object) ([]hit, error) {
	var told struct {
		TimedOut bool   `json:"timed_out"`
		Shards   counts `json:"_shards"`
		Hits     struct {
			Hits []hit `json:"hits"`
		} `json:"hits"`
	}
	params := url.Values{"allow_partial_search_results": {"false"}}
	if err := s.look(ctx, http.MethodPost, []string{"_search"}, params, marshal(body), &told); err != nil {
		return nil, err
	}
	if told.TimedOut {
		return nil, fault.At(fault.New(fault.Unavailable, "a search timed out"), s.client.String(), s.index)
	}
	return told.Hits.Hits, s.whole(told.Shards)
}
