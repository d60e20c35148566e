package control

import (
	"strings"
	"testing"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// named is what indices are called under renamings: the new names, or an error.
func named(pairs, indices []string) (string, error) {
	all, err := renamings(pairs)
	if err != nil {
		return "", err
	}
	var plan []migrate.Index
	var to []string
	for _, name := range indices {
		target, err := renamed(all, name)
		if err != nil {
			return "", err
		}
		plan, to = append(plan, migrate.Index{Source: name, Target: target}), append(to, target)
	}
	if err := checkRenamings(all, plan); err != nil {
		return "", err
	}
	return strings.Join(to, " "), checkNames(plan)
}

func TestRenaming(t *testing.T) {
	for _, c := range []struct {
		name    string
		pairs   []string
		indices []string
		want    string // or a part of the error, with its next action
		fails   bool
	}{
		{"none", nil, []string{"a", "b"}, "a b", false},
		{"by name", []string{"a=c"}, []string{"a", "b"}, "c b", false},
		{"names that change places", []string{"a=b", "b=a"}, []string{"a", "b"}, "b a", false},
		{"by a pattern", []string{"logs-*=old-logs-*"}, []string{"logs-1", "logs-", "log", "logs-a-b"}, "old-logs-1 old-logs- log old-logs-a-b", false},
		{"with an end", []string{"*-2024=*-of-2024"}, []string{"a-2024", "2024", "a"}, "a-of-2024 2024 a", false},
		{"of nothing", []string{"logs*=*"}, []string{"logs"}, `"" cannot be the name of an index`, true},
		{"in the middle", []string{"a*z=b*y"}, []string{"az", "abz", "a"}, "by bby a", false},
		{"all", []string{"*=v2-*"}, []string{"a", "b"}, "v2-a v2-b", false},
		{"a name goes before a pattern", []string{"logs-*=old-*", "logs-1=new", "logs-*x=other-*"}, []string{"logs-1", "logs-2"}, "", true},
		{"a name goes before patterns", []string{"logs-1=new", "logs-*=old-*"}, []string{"logs-1", "logs-2"}, "new old-2", false},
		{"a name decides between patterns", []string{"l*=a*", "*1=b*", "l1=c"}, []string{"l1", "l2", "k1"}, "c a2 bk", false},
		{"two patterns", []string{"l*=a*", "*1=b*"}, []string{"l1"}, `l1 fits both "l*" and "*1" of --rename → name it by itself as well: --rename l1=NEW`, true},
		{"two become one", []string{"a-*=x-*", "b-*=x-*"}, []string{"a-1", "b-1"}, "a-1 and b-1 would both become x-1 → give one", true},
		{"becomes one that is there", []string{"a=b"}, []string{"a", "b"}, "a and b would both become b", true},
		{"fits nothing", []string{"logs-*=old-*"}, []string{"a", "b"}, `--rename names "logs-*", which is no index or data stream that is moved under a name of its own → those are a, b`, true},
		{"no pair", []string{"a"}, nil, `"a" is no pair of names → write old=new, or both with one *`, true},
		{"a star on one side", []string{"a*=b"}, nil, "is no pair", true},
		{"a star on the other", []string{"a=b*"}, nil, "is no pair", true},
		{"two stars", []string{"a*b*=c*d*"}, nil, "is no pair", true},
		{"twice", []string{"a=b", "a=c"}, nil, `names "a" twice`, true},
		{"no name of an index", []string{"*=V-*"}, []string{"a"}, "must be lowercase", true},
	} {
		got, err := named(c.pairs, c.indices)
		if err != nil {
			got = err.Error() + " → " + fault.Next(err)
		}
		if c.fails != (err != nil) || c.fails && (!fault.Is(err, fault.Usage) || !strings.Contains(got, c.want)) || !c.fails && got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// TestNamesThatNoIndexCanHaveAreRefusedAtOnce: a pattern, a list or date math would name other
// indices of the target.
func TestNamesThatNoIndexCanHaveAreRefusedAtOnce(t *testing.T) {
	for name, says := range map[string]string{
		"books-2": "", "本-é": "", ".books": "",
		"boo*": "must not contain", "a,b": "must not contain", "<books-{now/d}>": "must not contain", "a/../b": "must not contain",
		"-books": "must not start", "_all": "must not start", "..": "must not be", "Books": "lowercase", "a%2Cb": "lowercase", "a:b": "':'",
		strings.Repeat("b", 256): "too long", ".reshelve": "recorded",
	} {
		err := checkName(name)
		if (err == nil) != (says == "") || err != nil && (!fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
