package gateway

// warn tells the client that it uses something that goes away, as the server
// does: in a header of the answer.
func (c *call) warn(text string) {
	c.w.Header().Add("Warning", `299 OpenSearch-`+compatible+`-`+c.s.options.Version+` "`+text+`"`)
}
