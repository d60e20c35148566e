package gateway

// warn tells the client that it uses something that goes away, as the server
// does: in a header of the answer.
func (c *call) warn(text string) {
	product := "OpenSearch-"
	if c.s.elastic() {
		product = "Elasticsearch-"
	}
	c.w.Header().Add("Warning", "299 "+product+c.s.version()+`-`+c.s.options.Version+` "`+text+`"`)
}
