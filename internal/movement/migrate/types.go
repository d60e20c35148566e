package migrate

import (
	"maps"
	"slices"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/movement/migrate/translate"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
	"github.com/reshelve/reshelve/snapshot"
)

// PlacesOf are the indices of the target for the documents of each mapping type; nil when all
// go into one index.
func PlacesOf(from *snapshot.Snapshot, idx *snapshot.Index, m Metadata, target string) (map[string]string, error) {
	if m.Types != translate.SplitTypes || len(idx.Types) < 2 {
		return nil, nil
	}
	route := translate.Route{From: translate.SnapshotBy(from.Version, idx.Setting), Types: m.Types}
	places, err := route.Places(translate.Index{Name: target, Settings: idx.Setting, Mappings: idx.Mappings, Types: idx.Types})
	delete(places, "") // documents without a type are those of later versions
	if err != nil || len(places) == 0 {
		return nil, err
	}
	return places, nil
}

// Targets are the indices of the target that an index of the plan becomes: one, or one for
// each mapping type.
func (i *Index) Targets() []string {
	if len(i.Places) == 0 {
		return []string{i.Target}
	}
	return slices.Sorted(maps.Values(i.Places))
}

// place is the index that a document goes to; "" when there is none for its mapping type.
func (s *sides) place(doc *document.Document, target string) string {
	if places := s.places[doc.Index]; places != nil {
		return places[string(doc.Type)]
	}
	return target
}

// belongs tells whether a document of an index of the snapshot goes to an index of the target.
func (s *sides) belongs(index, target string) func(*document.Document) bool {
	places := s.places[index]
	if places == nil {
		return nil
	}
	return func(doc *document.Document) bool { return places[string(doc.Type)] == target }
}

// placesOf are the places of the indices of a plan that become several, by their names.
func placesOf(p *Plan) map[string]map[string]string {
	all := map[string]map[string]string{}
	for i := range p.Indices {
		if len(p.Indices[i].Places) > 0 {
			all[p.Indices[i].Source] = p.Indices[i].Places
		}
	}
	return all
}

// noPlace is the failure of a document whose type has no index on the target, or which has a
// routing and would go into a data stream.
func noPlace(op *cluster.Op, doc *document.Document, failure *Failure) bool {
	switch {
	case op.Index == "":
		failure.Type, failure.Reason = "no_place", "the mapping of the snapshot does not hold its type "+string(doc.Type)
	case op.Action == cluster.Create && len(op.Routing) > 0:
		failure.Type, failure.Reason = "routed", "data streams take no routing: redrive writes it into the index behind the stream, --data-streams as-indices brings it at once"
	default:
		return false
	}
	return true
}
