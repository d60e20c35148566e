package coordtest

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/coord"
	"github.com/reshelve/reshelve/internal/fault"
)

func records(t *talk) {
	t.lacks("index/7")
	if at := t.revision(); at != 0 {
		t.Fatalf("an empty store is at revision %d", at)
	}
	first := t.creates("index/7", "one")
	t.has("index/7", "one", first)
	second := t.swaps("index/7", first, "two")
	t.has("index/7", "two", second)
	third := t.swaps("index/7", second, "two")
	t.has("index/7", "two", third)
	empty := t.swaps("index/7", third, "")
	t.has("index/7", "", empty)
	t.deletes("index/7", empty)
	t.lacks("index/7")

	nothing, err := t.store.Create(t.ctx, "nothing", nil)
	t.ok(err)
	t.has("nothing", "", nothing)
}

func conflicts(t *talk) {
	first := t.creates("a", "one")
	_, err := t.store.Create(t.ctx, "a", []byte("two"))
	t.is(err, fault.Conflict)
	second := t.swaps("a", first, "two")
	for _, wrong := range []int64{first, second + 1, 0, -1} {
		_, err = t.store.Swap(t.ctx, "a", wrong, []byte("three"))
		t.is(err, fault.Conflict)
		t.is(t.store.Delete(t.ctx, "a", wrong), fault.Conflict)
	}
	t.has("a", "two", second)
	for _, revision := range []int64{first, second, 0} {
		_, err = t.store.Swap(t.ctx, "b", revision, []byte("three"))
		t.is(err, fault.Conflict)
		t.is(t.store.Delete(t.ctx, "b", revision), fault.Conflict)
	}
	t.lacks("b")
	t.deletes("a", second)
	t.is(t.store.Delete(t.ctx, "a", second), fault.Conflict)
	if at := t.revision(); at <= second {
		t.Fatalf("after a deletion the store is at %d, not above %d", at, second)
	}
}

// revisions: a revision is never given twice, also where a deletion took the newest.
func revisions(t *talk) {
	last := int64(0)
	for range 5 {
		for _, key := range []string{"a", "b"} {
			revision := t.creates(key, "v")
			if revision <= last {
				t.Fatalf("revision %d was given after %d", revision, last)
			}
			last = t.swaps(key, revision, "w")
			t.deletes(key, last)
			if deleted := t.revision(); deleted <= last {
				t.Fatalf("a deletion has revision %d, not above %d", deleted, last)
			} else {
				last = deleted
			}
		}
	}
	before := t.revision()
	_, err := t.store.Swap(t.ctx, "a", 1, nil)
	t.is(err, fault.Conflict)
	t.has("c", "v", t.creates("c", "v"))
	if after := t.revision(); after <= before {
		t.Fatalf("the store went from revision %d to %d", before, after)
	}
}

// copies: whoever changes a slice that went in or came out changes no record.
func copies(t *talk) {
	value := []byte("value")
	revision, err := t.store.Create(t.ctx, "a", value)
	t.ok(err)
	value[0] = 'X'
	t.has("a", "value", revision)
	value = []byte("other")
	revision, err = t.store.Swap(t.ctx, "a", revision, value)
	t.ok(err)
	value[0] = 'X'
	t.has("a", "other", revision)

	record, err := t.store.Get(t.ctx, "a")
	t.ok(err)
	record.Value[0] = 'X'
	t.has("a", "other", revision)
	listed, err := t.store.List(t.ctx, "a")
	t.ok(err)
	listed[0].Value[0] = 'X'
	t.has("a", "other", revision)
	for event, err := range t.store.Watch(t.ctx, "a", 0) {
		t.ok(err)
		event.Value[0] = 'X'
		break
	}
	t.has("a", "other", revision)
}

func lists(t *talk) {
	t.lists("")
	for _, key := range []string{"b/2", "b/10", "a", "b", "c/é", "c/z", "b/1", "B", "\U0010FFFF"} {
		t.creates(key, "value of "+key)
	}
	t.lists("", "B", "a", "b", "b/1", "b/10", "b/2", "c/z", "c/é", "\U0010FFFF")
	t.lists("b", "b", "b/1", "b/10", "b/2")
	t.lists("b/", "b/1", "b/10", "b/2")
	t.lists("b/1", "b/1", "b/10")
	t.lists("b/10", "b/10")
	t.lists("b/100")
	t.lists("d")
	record, err := t.store.Get(t.ctx, "b/10")
	t.ok(err)
	t.deletes("b/10", record.Revision)
	t.lists("b/1", "b/1")
}

// prefixes are bytes: they may end within a letter and have bytes that no key has.
func prefixes(t *talk) {
	keys := []string{"a", "aé", "a\U0010FFFF", "b", "é", "\U0010FFFF"}
	for _, key := range keys {
		t.creates(key, "")
	}
	t.lists("", keys...)
	t.lists("a\xc3", "aé")
	t.lists("a\xf4\x8f", "a\U0010FFFF")
	t.lists("\xc3", "é")
	t.lists("\xf4", "\U0010FFFF")
	t.lists("a\xff")
	t.lists("\xff")
	t.lists("\xff\xff\xff")
	t.lists("a\x00")
	t.lists(strings.Repeat("a", 2*coord.MaxKey))
}

func keys(t *talk) {
	for _, key := range []string{"x", "a b", "../../..", "/", "//a/", "ключ/日本", "\u00a0", `"\`, strings.Repeat("é", coord.MaxKey/2)} {
		t.has(key, key, t.creates(key, key))
	}
	for key, kind := range map[string]fault.Kind{
		"": fault.Refused, "\x00": fault.Refused, "a\nb": fault.Refused, "a\x7f": fault.Refused, "\u0085": fault.Refused,
		"\xff": fault.Refused, "a\xc3": fault.Refused, strings.Repeat("x", coord.MaxKey+1): fault.Limit,
	} {
		_, err := t.store.Create(t.ctx, key, nil)
		t.is(err, kind)
		_, err = t.store.Swap(t.ctx, key, 1, nil)
		t.is(err, kind)
		t.is(t.store.Delete(t.ctx, key, 1), kind)
		_, err = t.store.Get(t.ctx, key)
		t.is(err, kind)
	}
}

func values(t *talk) {
	if testing.Short() {
		t.Skip("writes 64 MB")
	}
	largest := strings.Repeat("0123456789abcdef", coord.MaxValue/16)
	revision := t.creates("large", largest)
	t.has("large", largest, revision)
	_, err := t.store.Swap(t.ctx, "large", revision, []byte(largest+"x"))
	t.is(err, fault.Limit)
	_, err = t.store.Create(t.ctx, "larger", []byte(largest+"x"))
	t.is(err, fault.Limit)
	t.lacks("larger")
	t.has("large", largest, revision)
	t.has("large", "small again", t.swaps("large", revision, "small again"))
}
