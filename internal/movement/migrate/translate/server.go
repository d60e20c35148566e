package translate

import (
	"strconv"
	"strings"
)

// The products. Reshelve takes what the OpenSearch takes that it speaks as, but for what the
// rules name.
const (
	elasticsearch = "elasticsearch"
	opensearch    = "opensearch"
	reshelve      = "reshelve"
)

// String is "OpenSearch 2.19".
func (s Server) String() string {
	name := s.Product
	switch s.Product {
	case elasticsearch:
		name = "Elasticsearch"
	case opensearch:
		name = "OpenSearch"
	}
	return name + " " + strconv.Itoa(s.Major) + "." + strconv.Itoa(s.Minor)
}

// openVersion is the bit by which OpenSearch tells its version ids from Elasticsearch's.
const openVersion = 1 << 27

// CreatedBy is the server that an index was created on, by its settings; ok is false when
// they do not tell. The minor of Elasticsearch 8.11 and later is that of its indices.
func CreatedBy(settings map[string]string) (s Server, ok bool) {
	id, err := strconv.ParseUint(settings["index.version.created"], 10, 31)
	if err != nil || id < 1000000 {
		return Server{}, false
	}
	s.Product = elasticsearch
	if id >= openVersion {
		s.Product, id = opensearch, id-openVersion
	}
	s.Major, s.Minor = int(id/1000000), int(id/10000%100)
	return s, true
}

// SnapshotBy is the server that wrote a snapshot: version is what the snapshot says, and
// settings are those of any index in it. Elasticsearch 1 and 2 and OpenSearch 1 and 2 share
// version numbers; no server holds an index that is newer than itself.
func SnapshotBy(version string, settings map[string]string) Server {
	s := Server{Product: elasticsearch}
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	s.Major, _ = strconv.Atoi(major)
	s.Minor, _ = strconv.Atoi(minor)
	created, ok := CreatedBy(settings)
	if ok && (created.Product == opensearch || created.Major > s.Major) {
		s.Product = opensearch
	}
	return s
}

// generation orders servers: OpenSearch 1 followed Elasticsearch 7.
func (s Server) generation() int {
	if s.Product == elasticsearch {
		return s.Major
	}
	return s.Major + 7
}

// span is a run of versions of one product.
type span struct {
	product  string // "" is every one
	from, to int    // major*1000 + minor, both included
}

// Servers are the servers that a rule is about, as text: "elasticsearch 1-5, opensearch 2.7-";
// "" is all of them. An end without a minor means all minors.
type Servers string

// spans reads the text.
func (s Servers) spans() []span {
	var all []span
	for _, part := range strings.Split(string(s), ",") {
		product, versions, ranged := strings.Cut(strings.TrimSpace(part), " ")
		one := span{product: product, to: 1 << 30}
		if ranged {
			low, high, open := strings.Cut(versions, "-")
			one.from = edge(low, 0)
			switch {
			case !open:
				one.to = edge(low, 999)
			case high != "":
				one.to = edge(high, 999)
			}
		}
		all = append(all, one)
	}
	return all
}

// edge is an end of a span; minor is the one that is meant when none is given.
func edge(text string, minor int) int {
	major, rest, ok := strings.Cut(text, ".")
	m, _ := strconv.Atoi(major)
	if ok {
		minor, _ = strconv.Atoi(rest)
	}
	return m*1000 + minor
}

// Has tells whether a server is one of them. Reshelve is also the OpenSearch that it speaks as.
func (s Servers) Has(server Server) bool {
	if s == "" {
		return true
	}
	version := server.Major*1000 + server.Minor
	for _, one := range s.spans() {
		if one.product != server.Product {
			continue
		}
		if one.from <= version && version <= one.to {
			return true
		}
	}
	return false
}

// String is the text for people.
func (s Servers) String() string {
	if s == "" {
		return "any"
	}
	text := strings.ReplaceAll(string(s), elasticsearch, "Elasticsearch")
	return strings.ReplaceAll(text, opensearch, "OpenSearch")
}
