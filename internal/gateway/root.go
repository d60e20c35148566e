package gateway

import "net/http"

// compatible is the version of OpenSearch whose API this is: clients look at it.
const compatible = "2.19.0"

var rootRoutes = []route{
	{"GET HEAD", "/", "", (*call).root},
}

// root tells who answers. The distribution and version are those that clients
// check for; the tagline and build type say what it really is.
func (c *call) root() error {
	if c.s.elastic() {
		return c.elasticRoot()
	}
	o := c.s.options
	out := appendString(append(c.out, `{"name":`...), o.Name)
	out = appendString(append(out, `,"cluster_name":`...), o.Cluster)
	out = appendString(append(out, `,"cluster_uuid":`...), c.s.store.Catalog().Cluster)
	out = append(out, `,"version":{"distribution":"opensearch","number":"`+compatible+`","build_type":"reshelve","build_hash":`...)
	out = appendString(out, o.Version)
	out = append(out, `,"build_date":"1970-01-01T00:00:00Z","build_snapshot":false,"lucene_version":"9.12.1",`+
		`"minimum_wire_compatibility_version":"7.10.0","minimum_index_compatibility_version":"7.0.0"},`+
		`"tagline":"Reshelve, speaking the API of OpenSearch `+compatible+`"}`...)
	c.out = out
	c.look.pretty = c.look.pretty || !c.isSet("pretty") // people look at this page
	return c.send(http.StatusOK)
}
