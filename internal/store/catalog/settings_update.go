package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
)

// SettingsChange is the body of a settings update, read and checked.
type SettingsChange struct {
	edits    edits
	unlocks  bool // it may pass the blocks of the index's metadata: it is how they end
	preserve bool // what is set already stays
}

// ParseSettingsChange reads a body {"settings":{…}} or {…}, and refuses settings
// that nobody knows or that only the server changes.
func ParseSettingsChange(body []byte, preserve bool) (SettingsChange, error) {
	n, err := parseBody(body)
	if err != nil {
		return SettingsChange{}, err
	}
	if n == nil {
		return SettingsChange{}, bodyRequired()
	}
	if inner := n.get("settings"); inner.isObject() {
		n = inner
	}
	if !n.isObject() {
		n = &node{kind: token.Object} // the server takes what is no object for no settings
	}
	var written edits
	flattenInto(&written, "", n)
	if len(written) == 0 {
		return SettingsChange{}, exception.New(exception.ActionRequestValidation, "Validation Failed: 1: no settings to update;")
	}
	c := SettingsChange{edits: written.normalized(), preserve: preserve}
	c.unlocks = len(written) == 1 && slices.Contains(unlocking, written[0].name)
	for _, e := range c.edits {
		if s, ok := find(e.name); ok && s.change == private {
			return c, illegal("can not update private setting [%s]; this setting is managed by OpenSearch", e.name)
		}
	}
	if err := c.edits.check(); err != nil {
		return c, err
	}
	return c, slices.DeleteFunc(slices.Clone(c.edits), func(e edit) bool { return !e.dynamic() }).checkSupported()
}

// dynamic reports whether an open index may have the setting changed.
func (e edit) dynamic() bool {
	s, ok := find(e.name)
	return !ok || s.change == dynamic
}

// unlocking are the settings that may be changed alone although the metadata of
// the index is blocked.
var unlocking = []string{"index.blocks.metadata", "index.blocks.read_only", "index.blocks.read_only_allow_delete"}

// Unlocks reports whether the change may be made to an index whose metadata is
// blocked.
func (c SettingsChange) Unlocks() bool { return c.unlocks }

// CheckOpen refuses a change of settings that are not dynamic while some of the
// indices are open. Open are their names with UUIDs, as name/UUID.
func (c SettingsChange) CheckOpen(open []string) error {
	var fixed []string
	for _, e := range c.edits {
		if !e.dynamic() {
			fixed = append(fixed, e.name)
		}
	}
	if len(fixed) == 0 || len(open) == 0 {
		return nil
	}
	return illegal("Can't update non dynamic settings [[%s]] for open indices [[%s]]", strings.Join(fixed, ", "), strings.Join(open, "], ["))
}

// Apply gives the settings of an index after the change. Final settings are
// refused unless they stay what they are.
func (c SettingsChange) Apply(index string, settings map[string]string) (map[string]string, error) {
	out := maps.Clone(settings)
	for _, e := range c.edits {
		if s, ok := find(e.name); ok && s.change == final {
			return nil, illegal("final %s setting [%s], not updateable", index, e.name)
		}
		_, set := out[e.name]
		switch {
		case !e.reset && (!c.preserve || !set):
			out[e.name] = e.value
		case !e.reset:
		case isPattern(e.name):
			maps.DeleteFunc(out, func(name, _ string) bool { return wildcard.Match(e.name, name) })
		default:
			delete(out, e.name)
		}
	}
	if _, set := out["index.number_of_replicas"]; !set {
		out["index.number_of_replicas"] = byName["index.number_of_replicas"].fallback
	}
	return out, checkCopies(out)
}

// checkCopies refuses to wait for more copies of a shard than there can be.
func checkCopies(settings map[string]string) error {
	waited, ok := settings["index.write.wait_for_active_shards"]
	copies := number(settings, "index.number_of_replicas") + 1
	if n := number(settings, "index.write.wait_for_active_shards"); ok && waited != "all" && n > copies {
		return illegal("invalid index.write.wait_for_active_shards[%s]: cannot be greater than number of shard copies [%d]", waited, copies)
	}
	return nil
}

// block is a setting of an index that blocks requests.
type block struct {
	setting, text                   string
	write, read, metadata, changing bool // what it blocks: documents, searches and gets, reading and changing metadata
}

// blocks are in the order in which the server names them.
var blocks = []block{
	{setting: "index.blocks.metadata", text: "FORBIDDEN/9/index metadata (api)", metadata: true, changing: true},
	{setting: "index.blocks.read", text: "FORBIDDEN/7/index read (api)", read: true},
	{setting: "index.blocks.read_only_allow_delete", text: "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block", write: true, changing: true},
	{setting: "index.blocks.read_only", text: "FORBIDDEN/5/index read-only (api)", write: true, changing: true},
	{setting: "index.blocks.write", text: "FORBIDDEN/8/index write (api)", write: true},
}

// Access is a sort of request that settings of an index may block.
type Access uint8

// The accesses.
const (
	WriteDocuments Access = iota
	ReadDocuments
	ReadMetadata
	ChangeMetadata
	DeleteIndex // ChangeMetadata, but what is full may be deleted
)

// Blocked is the exception about an access that an index's settings block; nil when
// they do not.
func Blocked(index string, settings map[string]string, access Access) *exception.Error {
	var why []string
	status := 0
	for _, b := range blocks {
		if settings[b.setting] != "true" || !b.stops(access) {
			continue
		}
		why = append(why, b.text)
		if s := 403; strings.HasPrefix(b.text, "TOO_MANY") {
			status = cmp.Or(status, 429)
		} else {
			status = s
		}
	}
	if len(why) == 0 {
		return nil
	}
	return exception.New(exception.ClusterBlock, "index [%s] blocked by: [%s];", index, strings.Join(why, ", ")).WithStatus(status)
}

func (b block) stops(access Access) bool {
	switch access {
	case WriteDocuments:
		return b.write
	case ReadDocuments:
		return b.read
	case ReadMetadata:
		return b.metadata
	case DeleteIndex:
		return b.changing && b.setting != "index.blocks.read_only_allow_delete"
	}
	return b.changing
}
