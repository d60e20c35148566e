package control

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/internal/opensearch/wildcard"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// renaming gives indices other names: old and new are names, or each has one *, and what that
// of the old one stands for takes the place of the new one's.
type renaming struct {
	old, new string
	used     bool
}

// renamings reads pairs old=new.
func renamings(pairs []string) (all []renaming, err error) {
	for _, pair := range pairs {
		from, to, ok := strings.Cut(pair, "=")
		stars := strings.Count(from, "*")
		if !ok || from == "" || to == "" || stars > 1 || stars != strings.Count(to, "*") {
			err := fault.New(fault.Usage, "--rename %q is no pair of names", pair)
			return nil, fault.WithNext(err, "write old=new, or both with one *, as in 'logs-*=old-logs-*'")
		}
		if slices.ContainsFunc(all, func(r renaming) bool { return r.old == from }) {
			err := fault.New(fault.Usage, "--rename names %q twice", from)
			return nil, fault.WithNext(err, "give each index one name")
		}
		all = append(all, renaming{old: from, new: to})
	}
	return all, nil
}

// pattern tells whether it is for more than one name.
func (r *renaming) pattern() bool { return strings.Contains(r.old, "*") }

// becomes is the new name of a name that fits.
func (r *renaming) becomes(name string) string {
	before, after, pattern := strings.Cut(r.old, "*")
	if !pattern {
		return r.new
	}
	return strings.Replace(r.new, "*", name[len(before):len(name)-len(after)], 1)
}

// renamed is the name that an index is given: by its own name, or else by the one pattern that
// it fits.
func renamed(all []renaming, name string) (string, error) {
	var by *renaming
	var several string // the pattern that fits as well
	for i := range all {
		r := &all[i]
		if !wildcard.Match(r.old, name) {
			continue
		}
		r.used = true
		switch {
		case by == nil || !r.pattern():
			by = r
		case by.pattern():
			several = r.old
		}
	}
	if by == nil {
		return name, nil
	}
	if by.pattern() && several != "" {
		err := fault.New(fault.Usage, "%s fits both %q and %q of --rename", name, by.old, several)
		return "", fault.WithNext(err, "name it by itself as well: --rename %s=NEW", name)
	}
	to := by.becomes(name)
	return to, checkName(to)
}

// checkRenamings refuses those that name nothing that is moved under a name of its own.
func checkRenamings(all []renaming, indices []migrate.Index) error {
	for _, r := range all {
		if !r.used {
			var own []string
			for _, index := range indices {
				if index.Stream == nil {
					own = append(own, index.Source)
				} else if !slices.Contains(own, index.Stream.From()) {
					own = append(own, index.Stream.From())
				}
			}
			err := fault.New(fault.Usage, "--rename names %q, which is no index or data stream that is moved under a name of its own", r.old)
			return fault.WithNext(err, "those are %s", listed(own))
		}
	}
	return nil
}

// checkNames refuses two indices, or data streams, of one name.
func checkNames(indices []migrate.Index) error {
	targets := map[string]string{}
	for _, index := range indices {
		own := index.Source
		if index.Stream != nil {
			own = index.Stream.From()
		}
		if other, twice := targets[index.Target]; twice && other != own {
			err := fault.New(fault.Usage, "%s and %s would both become %s", other, own, index.Target)
			return fault.WithNext(err, "give one of them another name with --rename")
		}
		targets[index.Target] = own
	}
	return nil
}

// recordsIndex is where a cluster keeps the records of movements.
const recordsIndex = ".reshelve"

// checkName refuses a new name that no index can have: a pattern, a list, or date math would
// name others on the target; and that of the index which holds the records of movements.
func checkName(name string) error {
	why := catalog.IndexNameFault(name)
	if name == recordsIndex {
		why = "movements are recorded there"
	}
	if why != "" {
		err := fault.New(fault.Usage, "--rename: %q cannot be the name of an index: %s", name, why)
		return fault.WithNext(err, "choose another name")
	}
	return nil
}
