package shardtest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/document"
	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/store/placement"
	"github.com/reshelve/reshelve/internal/store/shard"
)

// scripts are conversations about one document. A line is a request and its answer:
//
//	index|create|delete [if LINE [term N]] [external N] [gte N] [internal N] -> OUTCOME VERSION
//
// "if LINE" asks for the sequence number of the row that a line wrote, counted from 1. A conflict
// tells what it met: document, tombstone or nothing, and its version. The answers
// are those of OpenSearch 2.19.0, except where the name says otherwise.
var scripts = []struct{ name, text string }{
	{"versions count from 1", `
		index  -> created 1
		index  -> updated 2
		index  -> updated 3
		delete -> deleted 4`},
	{"a delete of nothing leaves a tombstone", `
		delete -> not_found 1
		delete -> not_found 2
		create -> created 3
		create -> conflict document 3
		delete -> deleted 4
		delete -> not_found 5
		index  -> created 6`},
	{"create meets a document", `
		index  -> created 1
		create -> conflict document 1
		index  -> updated 2`},
	{"create after delete goes on counting", `
		index  -> created 1
		delete -> deleted 2
		create -> created 3
		create -> conflict document 3`},
	{"a sequence number that is the document's", `
		index      -> created 1
		index if 1 -> updated 2
		index if 1 -> conflict document 2
		index if 2 -> updated 3
		delete if 2 -> conflict document 3
		delete if 4 -> deleted 4`},
	{"a sequence number with another term", `
		index             -> created 1
		index if 1 term 2 -> conflict document 1
		delete if 1 term 2 -> conflict document 1
		index if 1 term 0 -> conflict document 1`},
	{"a sequence number of nothing", `
		index if 0  -> conflict nothing
		delete if 0 -> conflict nothing
		index       -> created 1`},
	{"a sequence number of a tombstone", `
		index       -> created 1
		delete      -> deleted 2
		index if 2  -> conflict tombstone 2
		delete if 2 -> conflict tombstone 2
		index if 1  -> conflict tombstone 2
		index       -> created 3`},
	{"a sequence number of a tombstone of nothing", `
		delete      -> not_found 1
		index if 1  -> conflict tombstone 1
		delete if 1 -> conflict tombstone 1`},
	{"a sequence number of before the delete", `
		index      -> created 1
		delete     -> deleted 2
		index      -> created 3
		index if 1 -> conflict document 3
		index if 3 -> updated 4`},
	{"external versions grow", `
		index external 5 -> created 5
		index external 5 -> conflict document 5
		index external 4 -> conflict document 5
		index external 6 -> updated 6
		index external 600 -> updated 600`},
	{"external versions that may stay", `
		index gte 5 -> created 5
		index gte 5 -> updated 5
		index gte 4 -> conflict document 5
		index gte 9 -> updated 9
		delete gte 8 -> conflict document 9
		delete gte 9 -> deleted 9
		delete gte 9 -> not_found 9
		index gte 8 -> conflict tombstone 9
		index gte 9 -> created 9`},
	{"a tombstone keeps an external version", `
		index external 5  -> created 5
		delete external 5 -> conflict document 5
		delete external 9 -> deleted 9
		index external 8  -> conflict tombstone 9
		index external 9  -> conflict tombstone 9
		index gte 8       -> conflict tombstone 9
		index gte 9       -> created 9
		delete gte 9      -> deleted 9
		delete gte 8      -> conflict tombstone 9
		index             -> created 10`},
	{"an external delete of nothing", `
		delete external 7 -> not_found 7
		index external 7  -> conflict tombstone 7
		index gte 6       -> conflict tombstone 7
		index             -> created 8`},
	{"internal versions count on from external ones", `
		index external 41 -> created 41
		index             -> updated 42
		index external 42 -> conflict document 42
		delete            -> deleted 43
		create            -> created 44
		index external 44 -> conflict document 44
		index external 45 -> updated 45`},
	{"external version 0", `
		index external 0 -> created 0
		index gte 0      -> updated 0
		index external 0 -> conflict document 0
		index            -> updated 1`},
	{"an external version below an internal one", `
		index            -> created 1
		index            -> updated 2
		index external 2 -> conflict document 2
		index external 3 -> updated 3`},
	{"an internal version that is asked for, which only a shard can be", `
		index internal 1 -> conflict nothing
		index            -> created 1
		index internal 2 -> conflict document 1
		index internal 1 -> updated 2
		delete internal 2 -> deleted 3
		index internal 3 -> created 4`},
	{"the last version stays, where the server's wraps around", `
		index external 9223372036854775807 -> created 9223372036854775807
		index                              -> updated 9223372036854775807
		delete                             -> deleted 9223372036854775807
		create                             -> created 9223372036854775807
		index external 9223372036854775807 -> conflict document 9223372036854775807
		index gte 9223372036854775807      -> updated 9223372036854775807`},
}

var versions = func() (tests []test) {
	for _, s := range scripts {
		tests = append(tests, test{s.name, func(t *testing.T, c Case) { begin(t, c).follow(s.text) }})
	}
	return append(tests, test{"numbers go on after reopening", numbersGoOn}, test{"rows keep the term of their write", termsAreKept},
		test{"a conflict tells what was asked and met", conflictsTell})
}()

// follow says each line of a script, and expects the answer, sequence numbers
// without holes, and nothing changed by a conflict.
func (k *talk) follow(script string) {
	k.Helper()
	written := []document.Versions{} // by line; conflicts write nothing
	next := int64(0)
	for line := range strings.Lines(strings.TrimSpace(script)) {
		request, answer, _ := strings.Cut(line, "->")
		op := k.parse(strings.Fields(request), written)
		was, known := k.get(op.ID)
		r := k.try(op)[0]
		is, knownNow := k.get(op.ID)
		if got, want := told(r), strings.TrimSpace(answer); got != want {
			k.Fatalf("%q: %s (%v), expected %s", strings.TrimSpace(request), got, r.Err, want)
		}
		written = append(written, r.Versions)
		if r.Err != nil {
			if !same(was, is) || known != knownNow {
				k.Fatalf("%q changed %v to %v, although it conflicts", strings.TrimSpace(request), was, is)
			}
			continue
		}
		if r.SeqNo != next || is.Versions != r.Versions || is.Deleted != op.Delete || r.Present != (known && !was.Deleted) {
			k.Fatalf("%q: %+v, expected the sequence number %d; stored is %+v", strings.TrimSpace(request), r, next, is)
		}
		next++
	}
}

func (k *talk) parse(words []string, written []document.Versions) shard.Op {
	k.Helper()
	op := indexed("a", fmt.Sprintf(`{"line":%d}`, len(written)+1))
	switch words[0] {
	case "create":
		op.MustCreate = true
	case "delete":
		op = deleted("a")
	}
	for i := 1; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i+1], 10, 64)
		k.must(err)
		switch words[i] {
		case "if":
			op.Condition.SeqNo, op.Condition.PrimaryTerm = 0, 1
			if n > 0 {
				op.Condition.SeqNo = written[n-1].SeqNo
			}
		case "term":
			op.Condition.PrimaryTerm = n
		default:
			op.Condition.Version = n
			op.Condition.VersionType = map[string]document.VersionType{
				"internal": document.Internal, "external": document.External, "gte": document.ExternalGTE}[words[i]]
		}
	}
	return op
}

// told is a result as a script tells it.
func told(r shard.Result) string {
	var c *shard.Conflict
	switch {
	case r.Err == nil:
		return fmt.Sprintf("%v %d", r.Outcome, r.Version)
	case !errors.As(r.Err, &c):
		return r.Err.Error()
	case !c.Known:
		return "conflict nothing"
	case c.Present:
		return fmt.Sprintf("conflict document %d", c.Stored.Version)
	}
	return fmt.Sprintf("conflict tombstone %d", c.Stored.Version)
}

func conflictsTell(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("other", `{}`), indexed("a", `{}`), indexed("a", `{}`))
	stored := document.Versions{Version: 2, SeqNo: 2, PrimaryTerm: 1}
	ask := indexed("a", `{}`)
	ask.Condition = document.Condition{SeqNo: 1, PrimaryTerm: 4, Version: document.Unset}
	for _, op := range []shard.Op{ask, created("a", `{}`)} {
		r := k.try(op)[0]
		var got *shard.Conflict
		if !errors.As(r.Err, &got) || !fault.Is(r.Err, fault.Conflict) {
			t.Fatalf("%+v is no conflict", r)
		}
		if *got != (shard.Conflict{ID: "a", Condition: op.Condition, Create: op.MustCreate, Present: true, Known: true, Stored: stored}) {
			t.Fatalf("it tells %+v", got)
		}
		if r.Versions != stored || !r.Present {
			t.Fatalf("the result tells %+v", r)
		}
	}
	gone := indexed("never", `{}`)
	gone.Condition.SeqNo, gone.Condition.PrimaryTerm = math.MaxInt64, 1
	var got *shard.Conflict
	if r := k.try(gone)[0]; !errors.As(r.Err, &got) || got.Known || got.Present || r.Present {
		t.Fatalf("of nothing: %+v", r)
	}
	if s := k.shard.Stats(); s.SeqNo != 2 {
		t.Fatalf("conflicts took sequence numbers: %d", s.SeqNo)
	}
}

func numbersGoOn(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("a", `1`), indexed("a", `2`), indexed("b", `1`), deleted("b"))
	k.reopen()
	if s := k.shard.Stats(); s.SeqNo != 3 || s.Docs != 1 || s.Tombstones != 1 {
		t.Fatalf("%+v", s)
	}
	k.gone("b")
	if row := k.expect("a", `2`); row.SeqNo != 1 || row.Version != 2 {
		t.Fatalf("%+v", row)
	}
	if r := k.write(created("b", `2`)); r.SeqNo != 4 || r.Version != 3 {
		t.Fatalf("%+v", r)
	}
	k.reopen()
	if r := k.write(indexed("c", `1`)); r.SeqNo != 5 || r.Version != 1 {
		t.Fatalf("%+v", r)
	}
}

func termsAreKept(t *testing.T, c Case) {
	k := begin(t, c)
	k.write(indexed("old", `1`), indexed("both", `1`))
	k.move(func(s *placement.Shard) { s.Term = 3 })
	k.must(k.shard.Reload(k.ctx))
	if r := k.write(indexed("both", `2`)); r.PrimaryTerm != 3 || r.SeqNo != 2 || r.Version != 2 {
		t.Fatalf("%+v", r)
	}
	if row := k.expect("old", `1`); row.PrimaryTerm != 1 || row.SeqNo != 0 {
		t.Fatalf("the old row: %+v", row)
	}
	for _, try := range []struct {
		id          string
		seqNo, term int64
		ok          bool
	}{{"old", 0, 3, false}, {"old", 0, 1, true}, {"both", 2, 1, false}, {"both", 2, 3, true}} {
		op := indexed(try.id, `3`)
		op.Condition.SeqNo, op.Condition.PrimaryTerm = try.seqNo, try.term
		if r := k.try(op)[0]; (r.Err == nil) != try.ok {
			t.Fatalf("%+v: %+v", try, r)
		}
	}
	k.reopen()
	if row := k.expect("old", `3`); row.PrimaryTerm != 3 {
		t.Fatalf("%+v", row)
	}
}
