package translate

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// fieldType is a type that not every target has.
type fieldType struct {
	where  Servers // which have it
	become string  // the nearest where it is missing; "": an object that is stored and not searched
	rule   string  // of becoming that; "": field-type
	params string  // that the nearest keeps
}

// fieldTypes are the types that some targets lack, by the documentation of both products and
// the answers of Elasticsearch 7.17, 8.19 and 9.2 and OpenSearch 1.3, 2.19, 3.0 and 3.6. What is not here is in
// all of them, or a plugin's.
var fieldTypes = map[string]fieldType{
	"match_only_text":         {"elasticsearch 7.14-, opensearch 2.12-, reshelve", "text", "match-only-text", "analyzer search_analyzer search_quote_analyzer fields copy_to meta"},
	"wildcard":                {"elasticsearch 7.9-, opensearch 2.15-, reshelve", "keyword", "wildcard", "null_value fields copy_to meta"},
	"constant_keyword":        {"elasticsearch 7.7-, opensearch 2.14-, reshelve", "keyword", "constant-keyword", "meta"},
	"unsigned_long":           {"elasticsearch 7.10-, opensearch 2.8-, reshelve", "double", "unsigned-long", "index doc_values store ignore_malformed null_value copy_to fields meta"},
	"flattened":               {"elasticsearch 7.3-", "flat_object", "flattened", ""},
	"flat_object":             {"opensearch 2.7-, reshelve", "flattened", "flattened", ""},
	"dense_vector":            {"elasticsearch 7-", "knn_vector", "dense-vector", ""},
	"knn_vector":              {"opensearch 1-", "dense_vector", "knn-vector", ""},
	"sparse_vector":           {"elasticsearch 8.11-", "rank_features", "sparse-vector", "meta"},
	"rank_feature":            {"elasticsearch 7-, opensearch 1-", "float", "rank-feature", "meta"},
	"rank_features":           {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"rank_vectors":            {"elasticsearch 8.18-", "", "", ""},
	"semantic_text":           {"elasticsearch 8.15-", "", "", ""},
	"semantic":                {"opensearch 3.1-", "text", "semantic", "fields copy_to"},
	"version":                 {"elasticsearch 7.10-, opensearch 3.2-", "keyword", "version", "fields copy_to meta"},
	"histogram":               {"elasticsearch 7.6-", "", "", ""},
	"exponential_histogram":   {"elasticsearch 9.3-", "", "", ""},
	"aggregate_metric_double": {"elasticsearch 7.11-", "", "", ""},
	"counted_keyword":         {"elasticsearch 8.13-", "keyword", "counted-keyword", "meta"},
	"pattern_text":            {"elasticsearch 9.2-", "text", "match-only-text", "fields copy_to meta"},
	"passthrough":             {"elasticsearch 8.13-", "object", "passthrough", "properties dynamic enabled"},
	"point":                   {"elasticsearch 7.8-", "", "", ""},
	"shape":                   {"elasticsearch 7.4-", "", "", ""},
	"xy_point":                {"opensearch 2.4-", "", "", ""},
	"xy_shape":                {"opensearch 2.4-", "", "", ""},
	"geo_shape":               {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"join":                    {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"percolator":              {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"token_count":             {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"completion":              {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"murmur3":                 {"elasticsearch 7-, opensearch 1-", "", "", ""},
	"search_as_you_type":      {"elasticsearch 7.2-, opensearch 1-", "text", "search-as-you-type", "analyzer search_analyzer search_quote_analyzer index index_options norms store similarity term_vector fields copy_to meta"},
	"annotated_text":          {"elasticsearch 7-, opensearch 1-", "text", "annotated-text", "analyzer search_analyzer search_quote_analyzer norms store fields copy_to meta"},
	"icu_collation_keyword":   {"elasticsearch 7-, opensearch 1-", "keyword", "collation", "index doc_values store null_value ignore_above fields copy_to meta"},
	"attachment":              {"elasticsearch 1-5", "", "", ""},
	"alias":                   {"elasticsearch 6.4-, opensearch 1-, reshelve", "", "", ""},
	"star_tree":               {"opensearch 2.17-", "", "", ""},
}

// fieldType makes a type that the target lacks the nearest that it has; gone is true of a
// field among the fields of another when there is none.
func (t *translation) fieldType(f *node, where, path string, multi bool) (gone bool) {
	typ := f.at("type").text()
	kind, some := fieldTypes[typ]
	missing := some && !kind.where.Has(t.to)
	switch {
	case typ == "sparse_vector" && !missing, typ == "dense_vector" && !missing:
		t.vectorParams(f, where)
		return false
	case !some || !missing:
		return false
	}
	become, rule := kind.become, kind.rule
	if next, some := fieldTypes[become]; some && !next.where.Has(t.to) {
		become, rule = "", ""
	}
	if typ == "semantic_text" && Servers("elasticsearch 8.18-").Has(t.from) {
		become, rule = "text", "semantic"
	}
	if become == "knn_vector" || become == "dense_vector" {
		if t.vector(f, where, become) {
			return false
		}
		become = ""
	}
	if become == "" {
		if multi {
			t.tell("field-type", where, typ+" is left out")
			return true
		}
		f.become(member{"type", textNode("object")}, member{"enabled", literal(token.False, "false")})
		t.blind[path] = true
		t.tell("field-type", join(where, "type"), typ+" becomes an object that is stored and not searched")
		return false
	}
	keep := strings.Fields(kind.params)
	members := []member{{"type", textNode(become)}}
	for _, m := range f.members {
		if slices.Contains(keep, m.key) {
			members = append(members, m)
		}
	}
	f.become(members...)
	switch rule {
	case "match-only-text":
		f.set("norms", boolNode(false))
	case "wildcard":
		f.set("ignore_above", literal(token.Integer, "8191")) // times four bytes, the longest term is 32766
	}
	t.tell(rule, join(where, "type"), typ+" becomes "+become)
	return false
}

// The ways of comparing vectors, of Elasticsearch and of OpenSearch.
var spaces = [][2]string{{"cosine", "cosinesimil"}, {"l2_norm", "l2"}, {"dot_product", "innerproduct"}, {"max_inner_product", "innerproduct"}}

// vectorParams are those of vectors that versions before 8 lack.
func (t *translation) vectorParams(f *node, where string) {
	if Servers("elasticsearch 7").Has(t.to) && t.from != t.to {
		t.dropParams(f, where, "vector-parameter", "index", "similarity", "index_options", "element_type")
	}
}

// vector makes a field of vectors one of the other product; false: its length is not known.
func (t *translation) vector(f *node, where, become string) bool {
	if become == "knn_vector" {
		return t.knnVector(f, where)
	}
	dims := f.at("dimension")
	if dims == nil || t.to.Product != elasticsearch {
		return false
	}
	space := f.at("method").at("space_type")
	if space == nil {
		space = f.at("space_type")
	}
	members := []member{{"type", textNode("dense_vector")}, {"dims", dims}}
	if t.to.Major >= 8 {
		similarity := "l2_norm"
		for _, pair := range spaces {
			if pair[1] == space.text() {
				similarity = pair[0]
				break
			}
		}
		if similarity == "dot_product" { // it wants unit vectors
			similarity = "max_inner_product"
		}
		members = append(members, member{"index", boolNode(true)}, member{"similarity", textNode(similarity)})
		switch f.at("data_type").text() {
		case "byte":
			members = append(members, member{"element_type", textNode("byte")})
		case "binary":
			return false
		}
	}
	f.become(members...)
	t.tell("knn-vector", join(where, "type"), "knn_vector becomes dense_vector")
	return true
}

func (t *translation) knnVector(f *node, where string) bool {
	dims := f.at("dims")
	element := f.at("element_type").text()
	if dims == nil || element != "" && element != "float" && (element != "byte" || !Servers("opensearch 2.9-").Has(t.to)) {
		return false
	}
	members := []member{{"type", textNode("knn_vector")}, {"dimension", dims}}
	if element == "byte" {
		members = append(members, member{"data_type", textNode("byte")})
	}
	indexed := f.at("index").text() == "true" || f.at("index") == nil && t.from.Major > 8 || f.at("similarity") != nil
	if indexed {
		members = append(members, member{"method", t.method(f)})
		t.knn = true
	}
	f.become(members...)
	t.tell("dense-vector", join(where, "type"), "dense_vector becomes knn_vector")
	return true
}

// method is how neighbours are found.
func (t *translation) method(f *node) *node {
	space := "cosinesimil"
	for _, pair := range spaces {
		if pair[0] == f.at("similarity").text() {
			space = pair[1]
		}
	}
	engine := "lucene"
	if Servers("opensearch 1-2.1").Has(t.to) {
		engine = "nmslib"
	}
	method := newObject(member{"name", textNode("hnsw")}, member{"space_type", textNode(space)}, member{"engine", textNode(engine)})
	options := f.at("index_options")
	var parameters []member
	for _, key := range []string{"m", "ef_construction"} {
		if value := options.at(key); value != nil && value.kind == token.Integer {
			parameters = append(parameters, member{key, value})
		}
	}
	if len(parameters) > 0 {
		method.set("parameters", newObject(parameters...))
	}
	return method
}
