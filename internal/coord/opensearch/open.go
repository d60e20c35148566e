package opensearch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// Index is the index of a coordination store unless Options name another.
const Index = ".reshelve"

// format is the version of the documents and the mapping.
const format = 1

// Options of a store. The zero value of a field is its default.
type Options struct {
	Index    string        // its name; Index
	Poll     time.Duration // about how often a watch asks for changes; a second
	Remember time.Duration // how long deletions are remembered at least, for watches that lag; an hour
}

func (o Options) withDefaults() Options {
	if o.Index == "" {
		o.Index = Index
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	if o.Remember <= 0 {
		o.Remember = time.Hour
	}
	return o
}

// Open opens the coordination store in an index of the cluster, which it makes when it is not
// there. The client outlives the store. An index that is not of this format is
// fault.Refused.
func Open(ctx context.Context, client *cluster.Client, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{client: client, index: o.Index, options: o, life: coord.NewLife()}
	if err := s.open(ctx); err != nil {
		s.life.End()
		return nil, fault.At(err, "coordination store "+o.Index)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	err := s.check(ctx)
	if exception.Is(err, exception.IndexNotFound) {
		err = s.ask(ctx, http.MethodPut, nil, url.Values{"wait_for_active_shards": {"1"}}, newIndex(), nil)
		if err == nil || exception.Is(err, exception.ResourceAlreadyExists) { // somebody was faster
			err = s.check(ctx)
		}
	}
	if err != nil {
		return err
	}
	if _, err := s.now(ctx); err != nil {
		return err
	}
	return s.goOn(ctx)
}

// check reads what the index says about itself.
func (s *Store) check(ctx context.Context) error {
	var told map[string]struct {
		Settings struct {
			Index struct {
				UUID   string `json:"uuid"`
				Shards string `json:"number_of_shards"`
			} `json:"index"`
		} `json:"settings"`
		Mappings struct {
			Meta struct {
				Reshelve struct {
					Format int `json:"format"`
				} `json:"reshelve"`
			} `json:"_meta"`
		} `json:"mappings"`
	}
	if err := s.ask(ctx, http.MethodGet, nil, nil, nil, &told); err != nil {
		return err
	}
	for _, index := range told {
		if got := index.Mappings.Meta.Reshelve.Format; got != format || index.Settings.Index.Shards != "1" {
			err := fault.New(fault.Refused, "the index has format %d and %s shards; this program knows format %d, of one shard",
				got, index.Settings.Index.Shards, format)
			return fault.WithNext(err, "name another index, or use the program that made this one")
		}
		s.uuid = index.Settings.Index.UUID
	}
	if s.uuid == "" {
		return fault.New(fault.Unavailable, "the server does not describe the index")
	}
	return nil
}

// goOn makes time go on behind the last write that the index holds.
func (s *Store) goOn(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	found, err := s.search(ctx, object{"size": 1, "query": keyed(""), "sort": []any{object{"reshelve.at": "desc"}}})
	if err != nil || len(found) == 0 {
		return err
	}
	m, _, err := decode(found[0].ID, found[0].Source)
	if err != nil {
		return err
	}
	s.clock.Raise(time.UnixMilli(m.At))
	return nil
}

// object is JSON in the making.
type object = map[string]any

func marshal(o object) []byte {
	text, _ := json.Marshal(o) // strings, numbers and maps of them cannot fail
	return text
}

// newIndex is the body that makes the index: hidden from wildcards, of one shard, synced
// before a write is answered, and with the fields of the records that people look for.
func newIndex() []byte {
	keyword, date := object{"type": "keyword"}, object{"type": "date"}
	whole := object{"type": "long"}
	return marshal(object{
		"settings": object{"index": object{
			"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": true, "refresh_interval": "1s",
			"translog": object{"durability": "request"}, "default_pipeline": "_none", "final_pipeline": "_none",
		}},
		"mappings": object{
			"dynamic": false, "_meta": object{"reshelve": object{"format": format}},
			"properties": object{
				"reshelve":  object{"properties": object{"key": keyword, "at": date, "deleted": object{"type": "boolean"}}},
				"creatorId": keyword, "leaseHolderId": keyword, "state": keyword, "index": keyword, "successorWorkItems": keyword,
				"expiration": date, "completedAt": date, "heartbeatAt": date,
				"nextAcquisitionLeaseExponent": whole, "schemaVersion": whole, "attempts": whole, "shard": whole, "cursor": whole,
			},
		},
	})
}
