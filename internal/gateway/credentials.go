package gateway

// unchecked is the header of an answer to a request with credentials. It is no Warning, which
// clients show with every request.
const unchecked = "Reshelve-Credentials"

// ignoreCredentials says that credentials are not checked: in the answer, and once in the log.
// The credentials themselves are not logged.
func (c *call) ignoreCredentials() {
	if c.r.Header.Get("Authorization") == "" {
		return
	}
	c.w.Header().Set(unchecked, "ignored; this server has no authentication, and answers everybody")
	c.s.credentials.Do(func() {
		c.s.store.Logger().Warn("a client sent credentials, and they were ignored: this server has no authentication, and answers everybody; put a proxy that authenticates in front of it",
			"client", c.r.RemoteAddr, "path", c.r.URL.Path)
	})
}
