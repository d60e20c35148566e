package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// sourceMapping is the part of a mapping that says what of a source is stored.
type sourceMapping struct {
	Source struct {
		Enabled  *flag    `json:"enabled"`
		Mode     string   `json:"mode"`
		Includes wordList `json:"includes"`
		Excludes wordList `json:"excludes"`
	} `json:"_source"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// flag is a boolean that old servers also kept as text.
type flag bool

// UnmarshalJSON takes true, "true" and the other spellings of 1.x.
func (f *flag) UnmarshalJSON(data []byte) error {
	switch strings.Trim(string(data), `"`) {
	case "false", "off", "no", "0":
		*f = false
	default:
		*f = true
	}
	return nil
}

// wordList is one word or a list of them.
type wordList []string

// UnmarshalJSON takes both forms.
func (l *wordList) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*l = wordList{""}
		return json.Unmarshal(data, &(*l)[0])
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// The first versions of Elasticsearch with which a mode of index makes its
// sources synthetic by itself.
const (
	syntheticTimeSeries versionID = 8_07_00_99
	syntheticLogs       versionID = 8_500_000 // 8.15, which counts index versions
)

// verdict is the answer to a question about an index; why names what says so.
type verdict struct {
	why string
	is  bool
}

// storedSource tells what of its sources an index stores.
type storedSource struct{ synthetic, disabled, filtered verdict }

// Synthetic tells whether the index stores no sources and its server composes
// them from other files when asked: synthetic source of Elasticsearch from 8.4
// on, derived source of OpenSearch from 3.2 on. Why names what says so. The
// setting wins over the mapping, and both over what the mode of the index implies.
func (i *Index) Synthetic() (why string, is bool) {
	return i.source.synthetic.why, i.source.synthetic.is
}

// SyntheticSource is what the refusal of an index says whose sources are synthetic.
const SyntheticSource = "synthetic source: documents are not stored, their server composes them from columns"

// unreadVersions is the error for versions that cannot be read. Where an index has no sources either, those are what is
// missed: a format of columns that is not known comes with them (logsdb, time series).
func (i *Index) unreadVersions(err error) error {
	why, synthetic := i.Synthetic()
	if !fault.Is(err, fault.Refused) || !synthetic {
		return err
	}
	err = fault.New(fault.Refused, "%s (%s)", SyntheticSource, why)
	return fault.WithNext(err, "restore it in a cluster that knows it, reindex there into an index that stores sources, and snapshot that")
}

// SourceDisabled tells whether the mapping (of some type) switches the storing of
// sources off. Why names what says so.
func (i *Index) SourceDisabled() (why string, is bool) {
	return i.source.disabled.why, i.source.disabled.is
}

// SourceFiltered tells whether sources are stored incomplete: with includes or
// excludes in the mapping, or without the vectors that newer servers leave out
// of them. Why names what says so.
func (i *Index) SourceFiltered() (why string, is bool) {
	return i.source.filtered.why, i.source.filtered.is
}

// judgeSource answers the three questions, so that the mappings need not be kept.
func (i *Index) judgeSource(byType map[string]json.RawMessage) storedSource {
	mappings := i.sourceMappings(byType)
	return storedSource{i.judgeSynthetic(mappings), i.judgeDisabled(mappings), i.judgeFiltered(mappings)}
}

func (i *Index) judgeSynthetic(mappings []typeMapping) verdict {
	if i.created.openSearch() {
		const key = "index.derived_source.enabled"
		return verdict{key + " is true", i.Setting[key] == "true"}
	}
	for _, key := range []string{"index.mapping.source.mode", "index.mapper.source.mode"} {
		if mode := i.Setting[key]; mode != "" {
			return verdict{key + " is " + mode, strings.EqualFold(mode, "synthetic")}
		}
	}
	mode, implied := i.Setting["index.mode"], false
	switch mode {
	case "time_series":
		implied = i.created.number() >= syntheticTimeSeries.number()
	case "logsdb", "logs":
		implied = i.created.number() >= syntheticLogs.number()
	}
	for _, m := range mappings {
		if explicit := m.mapping.Source.Mode; explicit != "" {
			return verdict{"the mapping's _source.mode is " + explicit, strings.EqualFold(explicit, "synthetic")}
		}
		if m.mapping.Source.Enabled != nil {
			implied = false
		}
	}
	return verdict{"index.mode is " + mode, implied}
}

func (i *Index) judgeDisabled(mappings []typeMapping) verdict {
	if mode := i.Setting["index.mapping.source.mode"]; strings.EqualFold(mode, "disabled") {
		return verdict{"index.mapping.source.mode is disabled", true}
	}
	for _, m := range mappings {
		s := m.mapping.Source
		if s.Enabled != nil && !bool(*s.Enabled) {
			return verdict{m.where + "_source.enabled is false", true}
		}
		if strings.EqualFold(s.Mode, "disabled") {
			return verdict{m.where + "_source.mode is disabled", true}
		}
	}
	return verdict{}
}

func (i *Index) judgeFiltered(mappings []typeMapping) verdict {
	for _, m := range mappings {
		s := m.mapping.Source
		if len(s.Includes) > 0 || len(s.Excludes) > 0 {
			return verdict{fmt.Sprintf("%s_source includes %q and excludes %q", m.where, []string(s.Includes), []string(s.Excludes)), true}
		}
		if fields := i.leftOutVectors(m.mapping.Properties); fields != "" {
			return verdict{m.where + "this version leaves vectors out of stored sources: " + fields, true}
		}
	}
	return verdict{}
}

// The first versions that leave vectors out of stored sources by default.
const (
	vectorlessElasticsearch versionID = 9_039_000 // 9.2
	vectorlessOpenSearch    versionID = openSearchBit | 3_00_00_00
)

// The types of the fields whose values they leave out.
var (
	vectorsOfElasticsearch = []string{"dense_vector", "sparse_vector", "rank_vectors"}
	vectorsOfOpenSearch    = []string{"knn_vector"}
)

// leftOutVectors names the fields whose values are not in the stored sources: all
// kinds of vectors with index.mapping.exclude_source_vectors, the default from
// Elasticsearch 9.2 on; knn_vector with index.knn.derived_source.enabled, the
// default from OpenSearch 3.0 on. "" when there are none.
func (i *Index) leftOutVectors(properties map[string]json.RawMessage) string {
	kinds, key, since := vectorsOfElasticsearch, "index.mapping.exclude_source_vectors", vectorlessElasticsearch
	if i.created.openSearch() {
		kinds, key, since = vectorsOfOpenSearch, "index.knn.derived_source.enabled", vectorlessOpenSearch
		if i.Setting["index.knn"] != "true" {
			return ""
		}
	}
	if set := i.Setting[key]; set == "false" || set == "" && i.created.number() < since.number() {
		return ""
	}
	s := fieldSearch{kinds: kinds, room: 1 << 16}
	for _, field := range properties {
		s.room += 32 * len(field)
	}
	s.find(properties)
	text := strings.Join(s.found, ", ")
	if s.more > 0 {
		text += fmt.Sprintf(" and %d more", s.more)
	}
	return text
}

// fieldSearch looks for fields of some types. A field is decoded once for each object
// that it lies in: room bounds how many bytes that may be together, which mappings
// of the depth that servers allow (20, unless told otherwise) do not reach.
type fieldSearch struct {
	kinds []string
	room  int
	path  []string // to the object that is looked into
	found []string // "path (type)" of the first ones, by name
	more  int      // that were found after those
}

// namedFields bounds how many fields a message names.
const namedFields = 20

// find adds the fields below the path.
func (s *fieldSearch) find(properties map[string]json.RawMessage) {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		var field struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		s.room -= len(properties[name])
		if s.room < 0 || json.Unmarshal(properties[name], &field) != nil {
			continue
		}
		s.path = append(s.path, name)
		switch {
		case !slices.Contains(s.kinds, field.Type):
			s.find(field.Properties)
		case len(s.found) < namedFields:
			s.found = append(s.found, strings.Join(s.path, ".")+" ("+field.Type+")")
		default:
			s.more++
		}
		s.path = s.path[:len(s.path)-1]
	}
}

// typeMapping is the mapping of one type; where names the type in a message.
type typeMapping struct {
	where   string
	mapping sourceMapping
}

// sourceMappings are the mappings of all types, by name. What is not as expected
// says nothing: the files of the shard decide then.
func (i *Index) sourceMappings(byType map[string]json.RawMessage) []typeMapping {
	var all []typeMapping
	for name, data := range byType {
		m := typeMapping{}
		if len(i.Types) > 1 {
			m.where = "type " + name + ": "
		}
		if name != defaultMapping && json.Unmarshal(data, &m.mapping) == nil {
			all = append(all, m)
		}
	}
	sort.Slice(all, func(a, b int) bool { return all[a].where < all[b].where })
	return all
}
