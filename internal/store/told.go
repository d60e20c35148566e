package store

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// told is an error of a shard as clients of the data API read it.
func (idx *index) told(err error, number uint32) error {
	var conflict *shard.Conflict
	if errors.As(err, &conflict) {
		return idx.conflict(conflict, number)
	}
	var full *shard.ReadOnly
	if errors.As(err, &full) {
		return idx.blocked(full.Cause)
	}
	return err
}

// blocked is the exception about writes that are refused because of the disk, in
// the words that clients know, and ours about the cause.
func (idx *index) blocked(why error) *exception.Error {
	return exception.New(exception.ClusterBlock,
		"index [%s] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];",
		idx.record.Name).WithStatus(http.StatusTooManyRequests).CausedBy(exception.New(exception.IO, "%v", why))
}

// conflict is the exception about a condition that did not hold.
func (idx *index) conflict(conflict *shard.Conflict, number uint32) *exception.Error {
	return idx.in(exception.New(exception.VersionConflict, "[%s]: version conflict, %s", conflict.ID, unmet(conflict)), number)
}

// unmet says which condition did not hold, in the server's words.
func unmet(c *shard.Conflict) string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	asked := c.Condition
	switch {
	case c.Create:
		return "document already exists (current version [" + n(c.Stored.Version) + "])"
	case asked.SeqNo != document.Unset && !c.Present:
		return "required seqNo [" + n(asked.SeqNo) + "], primary term [" + n(asked.PrimaryTerm) + "]. but no document was found"
	case asked.SeqNo != document.Unset:
		return "required seqNo [" + n(asked.SeqNo) + "], primary term [" + n(asked.PrimaryTerm) + "]. current document has seqNo [" +
			n(c.Stored.SeqNo) + "] and primary term [" + n(c.Stored.PrimaryTerm) + "]"
	case asked.VersionType == document.ExternalGTE:
		return "current version [" + n(c.Stored.Version) + "] is higher than the one provided [" + n(asked.Version) + "]"
	case asked.VersionType == document.External:
		return "current version [" + n(c.Stored.Version) + "] is higher or equal to the one provided [" + n(asked.Version) + "]"
	case !c.Present:
		return "document does not exist (expected version [" + n(asked.Version) + "])"
	}
	return "current version [" + n(c.Stored.Version) + "] is different than the one provided [" + n(asked.Version) + "]"
}

// in adds to an exception the shard that it comes from.
func (idx *index) in(e *exception.Error, number uint32) *exception.Error {
	return e.With("index", idx.record.Name).With("shard", strconv.FormatUint(uint64(number), 10)).With("index_uuid", idx.record.UUID)
}

// closed is the exception about an index that is closed.
func (idx *index) closed() *exception.Error {
	return exception.Closed(idx.record.Name, idx.record.UUID)
}

// routingMissing is the exception about a document whose index asks for routing.
func routingMissing(idx *index, id string) *exception.Error {
	return exception.New(exception.RoutingMissing, "routing is required for [%s]/[%s]", idx.record.Name, id).
		With("index_uuid", "_na_").With("index", idx.record.Name)
}

// reshaping is the exception about an index whose shards are about to change.
func (idx *index) reshaping() *exception.Error {
	return exception.New(exception.IllegalArgument, "index [%s] is being split or merged by movement [%s]: finish or abort it first",
		idx.record.Name, idx.movement())
}

// movement is the id of the reshaping that is under way.
func (idx *index) movement() string {
	return gjson.GetBytes(idx.placement.Transfer, "movement").String()
}
