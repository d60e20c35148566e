package control

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/blob"
	"github.com/reshelve/reshelve/fault"
	"github.com/reshelve/reshelve/migrate"
)

// Allowed are the locations to which records, and orders by HTTP, may lead a process: the credentials in
// its environment are for these, and for what its operator names on the command line.
type Allowed struct {
	Repositories []string // prefixes: all that is below one
	Targets      []string // URLs of clusters that are written to, or below one
	Sources      []string // URLs of clusters of which snapshots are taken, or below one
}

// permits are those of a process, read. Those that are nil belong to its operator, who may name anything.
type permits struct {
	repositories []blob.Location
	clusters     map[string][]*url.URL // by the prefix of their credentials
	folders      bool                  // of this machine may be named without being allowed
	exact        bool                  // the operator has named them for one movement
	program      string                // what the operator has started
}

// bound is a Control that does what records and orders by HTTP ask for, as far as the operator allows it. All
// that it opens is checked where it is opened.
func (c *Control) bound(a Allowed, program string, folders bool) (*Control, error) {
	p := &permits{folders: folders, program: program, clusters: map[string][]*url.URL{}}
	for _, prefix := range a.Repositories {
		l, err := blob.ParseLocation(absolute(prefix))
		if err != nil {
			return nil, fault.At(err, "--allow-repository")
		}
		p.repositories = append(p.repositories, l)
	}
	for prefix, all := range map[string][]string{ofTarget: a.Targets, ofSource: a.Sources} {
		for _, text := range all {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				err := fault.At(fault.New(fault.Usage, "it is no address of a cluster"), allowFlags[prefix])
				return nil, fault.WithNext(err, "write https://HOST:PORT, without a user")
			}
			p.clusters[prefix] = append(p.clusters[prefix], u)
		}
	}
	return &Control{c.wiring, p}, nil
}

// asked is a Control that does for one movement what the operator has asked for, whatever becomes
// of the movement's record.
func (c *Control) asked(req *MigrateRequest) *Control {
	p := &permits{folders: true, exact: true, program: "reshelve worker", clusters: map[string][]*url.URL{}}
	if l, err := blob.ParseLocation(absolute(req.Repository)); err == nil {
		p.repositories = append(p.repositories, l)
	}
	for prefix, text := range map[string]string{ofTarget: req.recorded(), ofSource: Bare(req.FromCluster)} {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			p.clusters[prefix] = append(p.clusters[prefix], u)
		}
	}
	return &Control{c.wiring, p}
}

// AllowFlags are those with which a worker that joins a place works for a movement there: what the plan names
// beyond the place and the folders of this machine. Each has a blank before it.
func (m *Movement) AllowFlags(place string) (flags string) {
	plan, err := migrate.ReadPlan(&m.Record)
	if err != nil || Reshapes(m.Kind) {
		return ""
	}
	if l, err := blob.ParseLocation(plan.Repository); err == nil && l.Scheme != "file" {
		flags += " --allow-repository " + Quoted(plan.Repository)
	}
	if isRecords(place) && strings.Contains(plan.Target, "://") {
		flags += " " + allowFlags[ofTarget] + " " + Quoted(plan.Target)
	}
	if plan.Take != nil {
		flags += " " + allowFlags[ofSource] + " " + Quoted(plan.Take.Cluster)
	}
	return flags
}

// allowFlags are the flags that let clusters in, by the prefix of their credentials.
var allowFlags = map[string]string{ofTarget: "--allow-target", ofSource: "--allow-source"}

// wary tells whether names may mean what their owners make of them. The operator knows his own.
func (p *permits) wary() bool { return p != nil && !p.exact }

// repository refuses a location that is not below one that the operator has named.
func (p *permits) repository(text string, l *blob.Location) error {
	l.Wary = p.wary()
	switch {
	case p == nil, p.folders && l.Scheme == "file":
		return nil
	case l.Scheme == "file":
		if within, path, ok := p.folderBelow(l.Prefix); ok {
			l.Within, l.Prefix = within, path
			return nil
		}
	case slices.ContainsFunc(p.repositories, func(prefix blob.Location) bool { return isBelow(*l, prefix) }):
		return nil
	}
	return p.refusal("repository "+l.String(), "--allow-repository", text)
}

// folderBelow is what a path leads to, and the folder that the operator has named above it. What is there may be
// another when it is opened: so it has to be opened within that folder.
func (p *permits) folderBelow(path string) (within, found string, ok bool) {
	found, err := followed(path)
	if err != nil {
		return "", "", false
	}
	for _, prefix := range p.repositories {
		if prefix.Scheme != "file" {
			continue
		}
		if within, err := followed(prefix.Prefix); err == nil {
			below, err := filepath.Rel(within, found)
			if err == nil && filepath.IsLocal(below) {
				return within, found, true
			}
		}
	}
	return "", "", false
}

// cluster refuses a URL that is not below one that the operator has named for these credentials.
func (p *permits) cluster(prefix, text string) error {
	if p == nil {
		return nil
	}
	u, err := url.Parse(text)
	if err == nil && slices.ContainsFunc(p.clusters[prefix], func(named *url.URL) bool {
		return sameHost(u.Scheme, u.Host, named.Scheme, named.Host) && isPathBelow(u.Path, named.Path)
	}) {
		return nil
	}
	what := map[string]string{ofTarget: "target ", ofSource: "source "}[prefix]
	if err != nil { // it may hold a password, and cannot be shown without
		return p.refusal(what+"of this movement", allowFlags[prefix], "URL")
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return p.refusal(what+u.String(), allowFlags[prefix], u.String())
}

// folder refuses a target that is a folder of this machine.
func (p *permits) folder(at string) error {
	if p == nil || p.folders {
		return nil
	}
	err := fault.New(fault.Refused, "the target %s is a folder, and orders by HTTP write to the store alone that takes them", at)
	return fault.WithNext(err, "use reshelve migrate --to %s", Quoted(at))
}

func (p *permits) refusal(what, flag, value string) error {
	err := fault.New(fault.Refused, "the %s is none that the operator of this process has named", what)
	return fault.WithNext(err, "if it is meant, start it as: %s … %s %s", p.program, flag, Quoted(value))
}

// isBelow tells whether a location that is no folder is a prefix, or below it, and is reached by the same host with
// the same credentials.
func isBelow(l, prefix blob.Location) bool {
	sameBucket := l.Scheme == prefix.Scheme && l.Bucket == prefix.Bucket
	if l.Scheme == "http" || l.Scheme == "https" {
		sameBucket = sameHost(l.Scheme, l.Bucket, prefix.Scheme, prefix.Bucket)
	}
	return sameBucket && isPathBelow("/"+l.Prefix, "/"+prefix.Prefix) && sameOptions(l.Options, prefix.Options)
}

// harmless are parameters of locations that change neither who is asked nor who asks.
var harmless = []string{"region", "path-style"}

// sameOptions tells whether a location has the parameters of a prefix. One that is asked anonymously
// may always be.
func sameOptions(l, prefix url.Values) bool {
	for name := range l {
		if name != "anonymous" && !slices.Contains(harmless, name) && !slices.Equal(l[name], prefix[name]) {
			return false
		}
	}
	for name := range prefix {
		if !slices.Contains(harmless, name) && !slices.Equal(l[name], prefix[name]) {
			return false
		}
	}
	return true
}

// sameHost compares hosts with their ports, as far as these are not the schemes' own.
func sameHost(scheme, host, otherScheme, other string) bool {
	full := func(host string) string {
		u := url.URL{Host: strings.ToLower(host)}
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
		return u.Hostname() + " " + port
	}
	return scheme == otherScheme && full(host) == full(other)
}

// isPathBelow tells whether a path is another, or below it. One with steps upwards is below none: servers differ in
// what they make of it.
func isPathBelow(path, other string) bool {
	other = strings.TrimSuffix(other, "/")
	if strings.TrimSuffix(path, "/") == other {
		return true
	}
	for step := range strings.SplitSeq(path, "/") {
		if step == ".." || step == "." || strings.ContainsAny(step, "\\%") {
			return false
		}
	}
	return strings.HasPrefix(path, other+"/")
}

// Quoted is a text as a shell takes it for one word.
func Quoted(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/:._-@", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
