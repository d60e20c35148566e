package migrate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/opensearch/cluster"
)

// A movement sends documents to an index by a name of its own, the write alias. Servers make an index
// that a write names and that is not there, but never under a name with capital letters, which an alias
// may have. So a request that comes late, when the index was deleted or the movement has ended and has
// taken the alias away, fails, and makes nothing.

// kindAlias is the kind of ledger entries of write aliases. Their names are INDEX/ALIAS, and their
// identity is the index.uuid of the index that the alias was last made for.
const kindAlias = "alias"

// Of a name of a write alias: what stands behind the index's, then 8 hexadecimal digits. It begins as the
// index does since Elasticsearch grants rights by the name that is asked for, mostly to patterns.
const (
	aliasMark   = "-Reshelve-"
	aliasDigits = 8
	longestName = 255 // bytes
)

// writeAlias is the name of the write alias of an index of the target, of the movement of a label.
func writeAlias(of, index string) string {
	sum := sha256.Sum256([]byte(of + "\x00" + index))
	return aliasStem(index) + aliasMark + hex.EncodeToString(sum[:])[:aliasDigits]
}

// AliasPattern is what the names of all write aliases of an index look like.
func AliasPattern(index string) string { return aliasStem(index) + aliasMark + "*" }

// aliasStem is how the name of a write alias begins: as the index's, as far as there is room.
func aliasStem(index string) string {
	n := longestName - len(aliasMark) - aliasDigits
	if len(index) <= n {
		return index
	}
	for n > 0 && !utf8.RuneStart(index[n]) {
		n--
	}
	return index[:n]
}

// isWriteAlias tells whether a name is that of a write alias of whatever movement.
func isWriteAlias(name string) bool {
	at := len(name) - aliasDigits
	if at < 0 || !strings.HasSuffix(name[:at], aliasMark) {
		return false
	}
	_, err := hex.DecodeString(name[at:])
	return err == nil
}

// withoutWriteAliases are the aliases of an index of a snapshot without those of a movement that was at
// work in the source when it was taken.
func withoutWriteAliases(aliases json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(aliases, []byte(aliasMark)) {
		return aliases, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(aliases, &all); err != nil {
		return nil, fault.New(fault.Corrupt, "the aliases of the snapshot are not understood: %w", err)
	}
	for name := range all {
		if isWriteAlias(name) {
			delete(all, name)
		}
	}
	left, err := json.Marshal(all)
	return left, fault.Wrap(fault.Bug, err)
}

// writeAliasesOf are the write aliases of a plan, by index of the target. What is appended to data streams
// has none: their backing indices take no aliases.
func writeAliasesOf(p *Plan, of string) map[string]string {
	all := map[string]string{}
	for i := range p.Indices {
		if p.Indices[i].Stream != nil {
			continue
		}
		for _, name := range p.Indices[i].Targets() {
			all[name] = writeAlias(of, name)
		}
	}
	return all
}

// sentTo is the name by which documents are sent to an index of the target; a data stream has its own.
func (s *sides) sentTo(name string) string {
	if alias, has := s.ways[name]; has {
		return alias
	}
	return name
}

// aliasEntry is the entry of the ledger of an index's write alias.
func (t *turn) aliasEntry(index string) movement.Entry {
	return movement.Entry{Kind: kindAlias, Name: index + "/" + t.ways[index], By: t.Worker}
}

// aliasBody are the properties of a write alias. Hidden aliases are known from Elasticsearch 7.7 on.
func (t *turn) aliasBody(ctx context.Context) (json.RawMessage, error) {
	server, err := t.target.Server(ctx)
	if err == nil && server.Product == cluster.Elasticsearch && !server.Version.AtLeast(7, 7) {
		return json.RawMessage(`{}`), nil
	}
	return json.RawMessage(`{"is_hidden":true}`), err
}

// withAlias adds the write alias of an index to the body of the request that makes it.
func (t *turn) withAlias(ctx context.Context, body json.RawMessage, index string) (json.RawMessage, error) {
	properties, err := t.aliasBody(ctx)
	if err != nil {
		return nil, err
	}
	return within(body, []string{"aliases", t.ways[index]}, properties)
}

// writable lets the movement write what an index of the snapshot holds: the write aliases of its targets lead
// to them.
func (t *turn) writable(ctx context.Context, source string) error {
	for i := range t.plan.Indices {
		if t.plan.Indices[i].Source != source || t.plan.Indices[i].Stream != nil {
			continue
		}
		for _, name := range t.plan.Indices[i].Targets() {
			if err := t.lead(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// lead lets the write alias lead to an index of the target, unless it does. It refuses an index that is gone,
// or that is not the one which the movement has made; in the place of one that was there before, somebody may
// put another: the comparison tells what that lacks.
func (t *turn) lead(ctx context.Context, name string) error {
	there, err := t.target.Glance(ctx, name)
	gone := fault.Is(err, fault.NotFound)
	if err != nil && !gone {
		return err
	}
	identity, _ := there.Settings["index.uuid"].(string)
	made, err := t.inLedger(ctx, kindIndex, name)
	if err == nil {
		err = sameAs(made, identity)
	}
	if err != nil {
		return err
	}
	ours := t.aliasEntry(name)
	known, err := t.inLedger(ctx, kindAlias, ours.Name)
	if err != nil {
		return err
	}
	_, leads := there.Aliases[t.ways[name]]
	switch {
	case gone:
		return anew(fault.New(fault.Refused, "index %s of the target is gone: it was deleted meanwhile", name))
	case known != nil && known.Made && leads:
		return nil
	}
	if err := t.Driver.Intend(ctx, t.movement.ID, ours); err != nil {
		return err
	}
	if !leads {
		properties, err := t.aliasBody(ctx)
		if err != nil {
			return err
		}
		action := cluster.AliasAction{Index: name, Alias: t.ways[name], More: properties}
		if err := t.target.ChangeAliases(ctx, []cluster.AliasAction{action}); err != nil {
			return aliasRight(err, name)
		}
	}
	return t.Driver.Made(ctx, t.movement.ID, ours, identity)
}

// anew adds what is left to do when an index was deleted under the movement.
func anew(err error) error {
	return fault.WithNext(err, "abort the movement, which leaves alone what stands there now, and begin anew")
}

// aliasRight adds to a refusal of an alias which right is missing.
func aliasRight(err error, index string) error {
	if !fault.Is(err, fault.Unauthorised) {
		return err
	}
	return fault.WithNext(fault.New(fault.Unauthorised, "%s", err.Error()), "the movement writes to %[1]s through an alias of its own: let these credentials manage aliases and write for the names %[1]s and %[2]s "+
		"(OpenSearch: indices:admin/aliases, as in manage_aliases; Elasticsearch: the privilege manage), then reshelve movement resume or redrive", index, AliasPattern(index))
}

// nameless says of an error of sending documents of an index of the snapshot what has become of the
// index, if its name is what is gone. Where it is the alias alone, that is made again, and it may be tried again.
func (t *turn) nameless(ctx context.Context, source string, err error) error {
	if t.streams[source] != nil || !cluster.Nameless(err) {
		return err
	}
	if gone := t.writable(ctx, source); gone != nil {
		return gone
	}
	return fault.New(fault.Transient, "the alias through which the movement writes to %s was removed, and is made again: %v", t.targetOf(source), err)
}

// removeAlias takes a write alias away. It is the movement's, whatever index it leads to now.
func (t *turn) removeAlias(ctx context.Context, e *movement.Entry) error {
	index, alias, _ := strings.Cut(e.Name, "/")
	err := t.target.ChangeAliases(ctx, []cluster.AliasAction{{Remove: true, Index: index, Alias: alias}})
	if fault.Is(err, fault.NotFound) { // with its index, or never made
		return nil
	}
	if err != nil {
		if _, _, other := t.whose(ctx, index); errors.Is(other, errNoIndex) { // with its index, whose name is another thing's now
			return nil
		}
	}
	return aliasRight(err, index)
}
