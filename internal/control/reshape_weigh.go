package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/index/segment"
	"github.com/reshelve/reshelve/internal/store/catalog"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/routing"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// mostWeighed is how many weights a plan is made from: 24 bytes each. Where an index has more
// documents than that, each stands for several.
const mostWeighed = 1 << 18

// weigh tells where the documents of an index are, after a refresh. Up to mostWeighed they are
// exact; of more, every nth of each shard is taken for n. Bytes are those of each shard, in equal
// parts: a plan does not read the documents. Files are what the segments of each shard take.
func (k *MovementService) weigh(ctx context.Context, index string, p placement.Placement) (all placement.Weights, files map[uint32]footprint, err error) {
	s := k.side.lane.Store
	if s.Catalog().Indices[index].Closed {
		return nil, nil, nil
	}
	if _, err := s.Refresh(ctx, catalog.Expression{Names: []string{index}}); err != nil {
		return nil, nil, err
	}
	numbers := make([]uint32, len(p.Shards))
	for i, row := range p.Shards {
		numbers[i] = row.Number
	}
	readers, err := s.Readers(ctx, p.Index, numbers)
	if err != nil {
		return nil, nil, fault.WithNext(err, "it is being changed: try again")
	}
	defer func() {
		for _, r := range readers {
			err = errors.Join(err, r.Close())
		}
	}()
	status, err := s.PlacementView(ctx, index)
	if err != nil {
		return nil, nil, err
	}
	bytes := map[uint32]int64{}
	var documents int64
	for _, row := range status.Shards {
		bytes[row.Number] = row.Bytes
	}
	for _, r := range readers {
		documents += r.Docs()
	}
	nth := documents/mostWeighed + 1
	all, files = placement.Weights{}, map[uint32]footprint{}
	for i, r := range readers {
		each := int64(1)
		if n := r.Docs(); n > 0 {
			each = max(bytes[numbers[i]]/n, 1)
		}
		if all, err = weighed(ctx, r, nth, each, all); err != nil {
			return nil, nil, err
		}
		files[numbers[i]] = footprintOf(r)
	}
	slices.SortFunc(all, func(a, b placement.Weight) int { return cmp.Compare(a.Key, b.Key) })
	return all, files, err
}

// footprint is what the segments of a shard take of the disk.
type footprint struct{ bytes, docs int64 }

func footprintOf(r shard.Reader) (f footprint) {
	met := map[*segment.Segment]bool{}
	for _, v := range r.Views() {
		if !met[v.Segment] {
			met[v.Segment] = true
			f.bytes, f.docs = f.bytes+int64(v.Bytes()), f.docs+int64(v.Docs())
		}
	}
	return f
}

// weighed adds every nth document of a reader.
func weighed(ctx context.Context, r shard.Reader, nth, each int64, to placement.Weights) (placement.Weights, error) {
	met := int64(0)
	for _, v := range r.Views() {
		if ctx.Err() != nil {
			return to, context.Cause(ctx)
		}
		err := segment.Guard(func() error {
			for doc := range segment.Doc(v.Docs()) {
				if !v.IsRoot(doc) || !v.Shows(doc) {
					continue
				}
				if met++; met%nth == 0 {
					to = append(to, placement.Weight{Key: v.Key(doc), Documents: nth, Bytes: nth * each})
				}
			}
			return nil
		})
		if err != nil {
			return to, err
		}
	}
	return to, nil
}

// cutsAt reads where to cut: 16 hexadecimal digits, or a routing hash as 0x… or decimal. Eight
// digits alone are refused: they may be a hash that has lost its 0x, and would cut elsewhere.
func cutsAt(texts []string) (all []routing.Key, err error) {
	for _, text := range texts {
		if key, err := routing.ParseKey(text); err == nil {
			all = append(all, key)
			continue
		}
		digits, base := text, 10
		if hash, err := strconv.ParseUint(text, 10, 32); err == nil && len(text) == 8 {
			err := fault.New(fault.Usage, "the cut %q can be meant as hexadecimal, and as decimal", text)
			return nil, fault.WithNext(err, "write 0x%s for the one, 0x%08x for the other", text, hash)
		}
		if hexadecimal, is := strings.CutPrefix(strings.ToLower(text), "0x"); is {
			digits, base = hexadecimal, 16
		}
		hash, err := strconv.ParseUint(digits, base, 32)
		if err != nil {
			err := fault.New(fault.Usage, "%q is no place to cut at", text)
			return nil, fault.WithNext(err, "write 16 hexadecimal digits, or a 32-bit routing hash as 0x40000000 or decimal")
		}
		all = append(all, routing.Key(hash)<<32)
	}
	return all, nil
}
