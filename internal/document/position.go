package document

import (
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Position is a point in the order of a snapshot: index name, shard number, and
// the document's number in the shard, in commit order (segment by segment),
// counted from 0 with deleted and nested documents included.
type Position struct {
	Index  string
	Shard  int
	Number int64
}

// String is "index/shard/number".
func (p Position) String() string {
	return p.Index + "/" + strconv.Itoa(p.Shard) + "/" + strconv.FormatInt(p.Number, 10)
}

// ParsePosition reads what String prints. Index names hold no slash.
func ParsePosition(text string) (Position, error) {
	bad := func() (Position, error) {
		err := fault.New(fault.Usage, "%q is not a position", text)
		return Position{}, fault.WithNext(err, "write index/shard/number, for example books/0/1200, as an interrupted run prints it")
	}
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" {
		return bad()
	}
	shard, err := strconv.ParseUint(parts[1], 10, 31)
	if err != nil {
		return bad()
	}
	number, err := strconv.ParseUint(parts[2], 10, 63)
	if err != nil {
		return bad()
	}
	return Position{Index: parts[0], Shard: int(shard), Number: int64(number)}, nil
}
