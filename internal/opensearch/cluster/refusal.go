package cluster

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// meaning is a row of the table of what clusters say: by type, and where one type
// means several things by a part of the reason.
type meaning struct {
	Type exception.Type
	Part string // of the reason and its causes; "": any
	Kind fault.Kind
	Next string // what the user can do
}

// meanings is the one table of refusals that users meet; the first row that fits
// counts. What is not in it has the kind of its exception, else of its status.
var meanings = []meaning{
	{exception.ClusterBlock, "flood", fault.Unavailable, "free disk space on the cluster or add nodes to it; the block goes away by itself then (Elasticsearch before 7.4: remove index.blocks.read_only_allow_delete)"},
	{exception.ClusterBlock, "read-only / allow delete", fault.Unavailable, "free disk space on the cluster or add nodes to it, then remove the setting index.blocks.read_only_allow_delete"},
	{exception.ClusterBlock, "no master", fault.Unavailable, "see whether the cluster has a master"},
	{exception.ClusterBlock, "", fault.Unavailable, "remove the block that the reason names from the index or the cluster"},
	{exception.IndexNotFound, "", fault.NotFound, "see whether somebody has deleted or renamed the index"},
	{exception.IndexClosed, "", fault.Unavailable, "open the index"},
	{exception.IllegalArgument, "Limit of total fields", fault.Refused, "raise index.mapping.total_fields.limit of the index, then send the document again"},
	{exception.IllegalArgument, "Limit of mapping depth", fault.Refused, "raise index.mapping.depth.limit of the index, then send the document again"},
	{exception.IllegalArgument, "Limit of nested fields", fault.Refused, "raise index.mapping.nested_fields.limit of the index, then send the document again"},
	{exception.IllegalArgument, "nested documents has exceeded", fault.Refused, "raise index.mapping.nested_objects.limit of the index, then send the document again"},
	{"document_parsing_exception", "", fault.Refused, "compare the field that the reason names with the mapping of the index; correct the mapping, then send the document again"},
	{"max_bytes_length_exceeded_exception", "", fault.Refused, "set ignore_above for the field, or make it text"},
	{exception.IllegalArgument, "immense term", fault.Refused, "set ignore_above for the field, or make it text"},
	{exception.IllegalArgument, "already exists", fault.Conflict, ""},
	{exception.MapperParsing, "", fault.Refused, "compare the field that the reason names with the mapping of the index; correct the mapping, then send the document again"},
	{exception.StrictDynamicMapping, "", fault.Refused, "add the field to the mapping of the index, or relax its setting dynamic"},
	{exception.CircuitBreaking, "", fault.Limit, "the cluster lacks memory: give it more heap, or send smaller and fewer requests"},
	{"es_rejected_execution_exception", "", fault.Limit, "the cluster cannot keep up: send less, or give it more nodes"},
	{exception.Rejected, "", fault.Limit, "the cluster cannot keep up: send less, or give it more nodes"},
	{exception.Validation, "maximum", fault.Limit, "raise cluster.max_shards_per_node, or make fewer shards"},
	{exception.InvalidIndexName, "", fault.Refused, "choose another name"},
	{exception.RepositoryMissing, "", fault.NotFound, "register the repository, or name one that GET /_snapshot lists"},
	{"snapshot_missing_exception", "", fault.NotFound, "name a snapshot of that repository"},
	{"repository_verification_exception", "", fault.Refused, "every node must reach the same place: check path.repo, the bucket's permissions and its name"},
	{"repository_exception", "path.repo", fault.Refused, "add the folder to path.repo in the configuration of every node, and restart them"},
	{"repository_exception", "", fault.Refused, "check the repository's settings, and the log of the node that the reason names"},
	{"concurrent_snapshot_execution_exception", "", fault.Conflict, "wait until the other snapshot has ended"},
	{"snapshot_name_already_in_use_exception", "", fault.Conflict, "choose another name for the snapshot"},
	{"invalid_snapshot_name_exception", "already exists", fault.Conflict, "choose another name for the snapshot"},
	{"media_type_header_exception", "", fault.Refused, ""},
	{"search_phase_execution_exception", "", fault.Unavailable, ""},
	{"process_cluster_event_timeout_exception", "", fault.Unavailable, "the cluster's master is busy; try again later"},
	{"master_not_discovered_exception", "", fault.Unavailable, "see whether the cluster has a master"},
	{"cluster_manager_not_discovered_exception", "", fault.Unavailable, "see whether the cluster has a cluster manager"},
}

// told is an exception as clusters write it.
type told struct {
	Type   exception.Type `json:"type"`
	Reason string         `json:"reason"`
	Index  string         `json:"index"`
	Cause  *told          `json:"caused_by"`
	Roots  []told         `json:"root_cause"`
}

// lostPlace is what an exception of a whole search says of a shard, if that is that the place of
// a scan is forgotten: on the other shards it is, or will be, too.
func (d *told) lostPlace() *told {
	for i := range d.Roots {
		if d.Roots[i].Type == exception.SearchContextMissing {
			return &d.Roots[i]
		}
	}
	return d
}

// fault is the exception with its kind and what to do. Status is that of the
// answer or of the item.
func (d *told) fault(status int) error {
	d = d.lostPlace()
	kind, next := d.meaning(status)
	err := fault.New(kind, "%w", exception.New(d.Type, "%s", d.words()).WithStatus(status))
	if d.Index != "" {
		err = fault.At(err, "index "+d.Index)
	}
	if next != "" {
		err = fault.WithNext(err, "%s", next)
	}
	return err
}

// nameless tells whether an exception says that nothing has the name that was written to. A server that
// makes indices by itself says instead that no index can have that name, when it has capital letters:
// of a data stream in words alone.
func (d *told) nameless() bool {
	return d.Type == exception.IndexNotFound || d.Type == exception.InvalidIndexName || d.Type == exception.IllegalArgument && badStream(d.Reason)
}

// badStream tells whether a reason is that a data stream cannot have the name, for its capital letters.
func badStream(reason string) bool {
	return strings.Contains(reason, "data_stream [") && strings.Contains(reason, "] must be lowercase")
}

// Nameless reports whether err says that nothing has the name that was written to, be it of an index or
// of an alias.
func Nameless(err error) bool {
	return exception.Is(err, exception.IndexNotFound) || exception.Is(err, exception.InvalidIndexName) ||
		exception.Is(err, exception.IllegalArgument) && badStream(err.Error())
}

// meaning looks up the exception, then its causes: the deepest place that the
// table knows tells what to do, the outermost type which kind it is.
func (d *told) meaning(status int) (kind fault.Kind, next string) {
	for at := d; at != nil; at = at.Cause {
		if m := find(at); m != nil && m.Next != "" {
			next = m.Next
		}
	}
	if d.Type == exception.ClusterBlock {
		if request := unblock(d.words()); request != "" {
			next = "remove the block when it is needed no more: " + request
		}
	}
	if m := find(d); m != nil {
		return m.Kind, next
	}
	if d.Type.Row().Type != exception.Unknown && status != http.StatusUnauthorized {
		return d.Type.Row().Kind, next
	}
	kind, byStatus := statusMeaning(status)
	if next == "" {
		next = byStatus
	}
	return kind, next
}

func find(d *told) *meaning {
	for i := range meanings {
		if m := &meanings[i]; m.Type == d.Type && strings.Contains(d.words(), m.Part) {
			return m
		}
	}
	return nil
}

// words is the reason with those of its causes that say more.
func (d *told) words() string {
	words := d.Reason
	for at := d.Cause; at != nil; at = at.Cause {
		if at.Reason != "" && !strings.Contains(words, at.Reason) {
			words += ": " + at.Reason
		}
	}
	if d.Cause == nil && len(d.Roots) > 0 && !strings.Contains(words, d.Roots[0].Reason) {
		words += ": " + d.Roots[0].Reason
	}
	return words
}

// statusMeaning is what a status says without an exception that is known.
func statusMeaning(status int) (kind fault.Kind, next string) {
	switch {
	case status == http.StatusUnauthorized:
		return fault.Unauthorised, "check the credentials: the cluster does not know them"
	case status == http.StatusForbidden:
		return fault.Unauthorised, "give these credentials the rights that the reason names"
	case status == http.StatusNotFound:
		return fault.NotFound, ""
	case status == http.StatusConflict:
		return fault.Conflict, ""
	case status == http.StatusRequestEntityTooLarge:
		return fault.Limit, "raise http.max_content_length of the cluster, and the limit of the proxy before it"
	case status == http.StatusTooManyRequests:
		return fault.Limit, "the cluster cannot keep up: send less, or give it more nodes"
	case status >= 300 && status < 400:
		return fault.Refused, "give the address that it points to"
	case status >= 500:
		return fault.Unavailable, ""
	}
	return fault.Refused, ""
}

// refused is the trouble that an answer tells.
func (c *Client) refused(response *http.Response, body []byte) *trouble {
	status := response.StatusCode
	t := &trouble{status: status, wait: wish(response.Header), again: repeatable(status)}
	d := readTold(body)
	switch {
	case d != nil && d.Type != "":
		t.told = true
		t.err = d.fault(status)
	case problemOf(body) != nil:
		t.told, t.err = true, problemOf(body)
	default:
		t.err = strange(status, body, d, response.Header.Get("Location"))
	}
	if status == http.StatusForbidden && c.credentials.AWS != nil && strings.Contains(string(body), "ignature") {
		t.err = fault.WithNext(t.err, "check the region, the keys and this machine's clock: the signature was not taken")
	}
	if status == http.StatusUnauthorized && c.asks != "" {
		t.err = fault.Reword(t.err, func(string) string { return c.unknown() })
	}
	t.err = fault.At(t.err, c.place)
	return t
}

// unknown is what the user can do where the cluster does not know who we say we are.
func (c *Client) unknown() string {
	if c.credentials == (Credentials{}) {
		return "the cluster asks for credentials, and none are given: set " + c.asks
	}
	return "the cluster does not know the credentials that are given (" + c.credentials.String() + "): check " + c.asks
}

// repeatable says whether an answer's status may be another next time.
func repeatable(status int) repetition {
	switch status {
	case http.StatusTooManyRequests:
		return always
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return ifHarmless
	}
	return never
}

// readTold reads an exception; services in front of clusters tell a message alone.
func readTold(body []byte) *told {
	var answer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"` // encoding/json does not mind the case: Amazon writes it both ways
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	var d told
	if json.Unmarshal(answer.Error, &d) == nil && d.Type != "" {
		return &d
	}
	var text string
	if json.Unmarshal(answer.Error, &text) == nil && text != "" {
		return &told{Reason: text}
	}
	if answer.Message != "" {
		return &told{Reason: answer.Message}
	}
	return nil
}

// strange is an answer that is no exception: a proxy's page, or a service's message.
func strange(status int, body []byte, d *told, location string) error {
	kind, next := statusMeaning(status)
	text := strings.TrimSpace(string(body[:min(len(body), 200)]))
	switch {
	case d != nil:
		text = d.Reason
	case location != "":
		text = "it points to " + redacted(location)
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		text = "a web page, so something between us and the cluster answers: " + title(text)
	}
	if start := bytes.TrimSpace(body); len(start) > 0 && start[0] != '{' && (kind == fault.NotFound || kind == fault.Refused && location == "") {
		kind = fault.Unavailable // no cluster has said so
	}
	err := fault.New(kind, "it answers with status %d: %s", status, text)
	if next != "" {
		err = fault.WithNext(err, "%s", next)
	}
	return err
}

// title is what a page calls itself.
func title(page string) string {
	if _, after, ok := strings.Cut(page, "<title>"); ok {
		page, _, _ = strings.Cut(after, "</title>")
	}
	return strings.Join(strings.Fields(page), " ")
}

// distrust is what the user can do about a certificate that is not accepted.
func (c *Client) distrust(err error) string {
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return "name the server as its certificate does, or give it a certificate that is made out to " + host.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate of the server; or set the clock of this machine"
	}
	how := "name the file of the certificate of the authority that signed it (PEM)"
	if c.trust != "" {
		how = "set " + c.trust + " to the file of the certificate of the authority that signed it (PEM)"
	}
	return how + ", once you have checked whose it is; this shows what the server sends: openssl s_client -showcerts -connect " + c.base.Host
}

// broken is the trouble of a connection that was not made, or ended too early.
func (c *Client) broken(err error) *trouble {
	t := &trouble{again: ifHarmless}
	next := "see whether something answers there, start a store with reshelve serve, or name another place"
	kind := fault.Unavailable
	var dial *net.OpError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		t.again, kind, next = never, fault.Refused, c.distrust(err)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		t.again, kind, next = never, fault.Refused, "the other side speaks no TLS: write http:// instead"
	case strings.Contains(err.Error(), "malformed HTTP response"):
		t.again, kind, next = never, fault.Refused, "the other side speaks TLS or no HTTP: write https:// instead"
	case errors.As(err, &dial) && dial.Op == "dial":
		t.again = always
	}
	if f := fault.KindOf(err); f != fault.Bug { // classified already, by who made the connection
		if f == fault.Refused {
			t.again = never
		}
		t.err = fault.At(err, c.place)
		return t
	}
	t.err = fault.WithNext(fault.At(fault.New(kind, "%w", err), c.place), "%s", next)
	return t
}
