package gateway

import (
	"mime"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// media is a media type of Elasticsearch's clients, taken apart:
// application/vnd.elasticsearch+FORMAT; compatible-with=VERSION. The zero value is any other.
type media struct {
	format  string // json, x-ndjson, yaml, cbor, smile or what a client made up
	version string // a number; "": none was given
}

const vendorPrefix = "application/vnd.elasticsearch+"

// contentType is the Content-Type of an answer in this format.
func (m media) contentType() string {
	format := m.format
	if format == "x-ndjson" { // lines go in alone
		format = "json"
	}
	if m.version == "" {
		return vendorPrefix + format
	}
	return vendorPrefix + format + ";compatible-with=" + m.version
}

// readable reports whether bodies in this format are read.
func (m media) readable() bool {
	switch m.format {
	case "json", "x-ndjson", "yaml", "cbor", "smile":
		return true
	}
	return false
}

// writable reports whether answers come in this format.
func (m media) writable() bool {
	return m.format == "json" || m.format == "x-ndjson" || m.format == "yaml"
}

// parseMedia takes a header apart. One that names several types asks for none of them.
func parseMedia(name, header string) (m media, err error) {
	if !strings.Contains(strings.ToLower(header), vendorPrefix) || strings.Contains(header, ",") {
		return m, nil
	}
	kind, params, err := mime.ParseMediaType(header)
	if err != nil {
		return m, badMedia(name, exception.New(exception.IllegalArgument, "invalid parameters for header [%s]", header))
	}
	m.format, m.version = strings.TrimPrefix(kind, vendorPrefix), params["compatible-with"]
	if _, given := params["compatible-with"]; given && strings.Trim(m.version, "0123456789") != "" || given && m.version == "" {
		return m, badMedia(name, exception.New(exception.IllegalArgument, "invalid parameters for header [%s]", header))
	}
	return m, nil
}

// readMedia reads the headers about formats, checks the versions in them as Elasticsearch does,
// and has the answer come in the format that the client takes.
func (c *call) readMedia() (err error) {
	if !c.s.elastic() {
		return nil
	}
	acceptHeader, sentHeader := c.r.Header.Get("Accept"), c.r.Header.Get("Content-Type")
	accept, err := parseMedia("Accept", acceptHeader)
	if err != nil {
		return err
	}
	if c.r.ContentLength != 0 {
		if c.sent, err = parseMedia("Content-Type", sentHeader); err != nil {
			return err
		}
	}
	if acceptHeader == "" || strings.Contains(acceptHeader, "*/*") || strings.Contains(acceptHeader, ",") {
		acceptHeader = "null"
	}
	if err := c.checkVersions(accept, acceptHeader, sentHeader); err != nil {
		return err
	}
	switch {
	case accept.format != "" && !accept.writable():
		return badMedia("Accept", exception.New(exception.IllegalArgument, "answers in [%s] are not supported by this version of reshelve", accept.contentType()))
	case acceptHeader != "null":
		c.look.vendor = accept
	case c.sent.writable():
		c.look.vendor = c.sent
	}
	c.look.yaml = c.look.vendor.format == "yaml"
	return nil
}

// checkVersions refuses versions of clients whose answers would be others than ours. What 8 and
// 9 ask for is the same here; answers for 7 had mapping types in them.
func (c *call) checkVersions(accept media, acceptHeader, sentHeader string) error {
	const both = "A compatible version is required on both Content-Type and Accept headers if either one has requested a compatible version"
	headers := "Accept=" + acceptHeader + ", Content-Type=" + sentHeader
	reason := ""
	switch {
	case !known(accept.version):
		reason = "Accept version must be either version 9 or 8, but found " + accept.version + ". Accept=" + acceptHeader
	case !known(c.sent.version):
		reason = "Content-Type version must be either version 9 or 8, but found " + c.sent.version + ". Content-Type=" + sentHeader
	case c.r.ContentLength == 0 || accept.version == c.sent.version:
		return nil
	case accept.version != "" && c.sent.version != "":
		reason = both + " and the compatible versions must match. " + headers
	default:
		reason = both + ". " + headers
	}
	return badMedia("Accept, Content-Type", exception.New(exception.Status, "%s", reason))
}

func known(version string) bool { return version == "" || version == "8" || version == "9" }

// badMedia refuses headers, which the answer names.
func badMedia(headers string, cause *exception.Error) error {
	return exception.New(exception.MediaTypeHeader, "Invalid media-type value on headers [%s]", headers).CausedBy(cause)
}
