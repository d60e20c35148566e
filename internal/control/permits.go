package control

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
	"github.com/reshelve/reshelve/internal/movement/migrate"
	"github.com/reshelve/reshelve/snapshot/blob"
)

// Allowed are the locations that a process opens when records, or orders by HTTP, name them. The credentials in
// its environment go to these, and to what its operator names on the command line.
type Allowed struct {
	Repositories []string // prefixes of locations
	Targets      []string // URLs, or prefixes of URLs, of clusters that are written to
	Sources      []string // URLs, or prefixes of URLs, of clusters of which snapshots are taken
}

// permits are what a process may open. Nil permits allow everything: the operator asks for it.
type permits struct {
	repositories []blob.Location
	clusters     map[string][]*url.URL // by the prefix of their credentials
	folders      bool                  // folders of this machine need no permit
	exact        bool                  // the operator has named the locations for one movement
	program      string                // the command that the operator started
}

// bound is a Control that does what records and orders by HTTP ask for, as far as the operator allows it. Each
// location is checked where it is opened.
func (c *Control) bound(a Allowed, program string, folders bool) (*Control, error) {
	p := &permits{folders: folders, program: program, clusters: map[string][]*url.URL{}}
	for _, prefix := range a.Repositories {
		l, err := blob.ParseLocation(absolute(prefix))
		if err != nil {
			return nil, fault.At(err, allowRepository)
		}
		p.repositories = append(p.repositories, l)
	}
	for prefix, all := range map[string][]string{ofTarget: a.Targets, ofSource: a.Sources} {
		for _, text := range all {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
				err := fault.At(fault.New(fault.Usage, "it is not the address of a cluster"), allowFlags[prefix])
				return nil, fault.WithNext(err, "write https://HOST:PORT, without a user")
			}
			p.clusters[prefix] = append(p.clusters[prefix], u)
		}
	}
	return &Control{wiring: c.wiring, permits: p}, nil
}

// asked is a Control that does for one movement what the operator has asked for, even if somebody changes
// the movement's record.
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
	return &Control{wiring: c.wiring, permits: p}
}

// WorkerCommand is the command of a worker that joins a place and works for a movement there. Its flags allow
// what the plan names besides the place and the folders of this machine.
func (m *Movement) WorkerCommand(place string) string {
	words := []string{"worker", "--join", place, "--once"}
	plan, err := migrate.ReadPlan(&m.Record)
	if err != nil || Reshapes(m.Kind) {
		return Command(words...)
	}
	if l, err := blob.ParseLocation(plan.Repository); err == nil && l.Scheme != "file" {
		words = append(words, allowRepository, plan.Repository)
	}
	if isRecords(place) && strings.Contains(plan.Target, "://") {
		words = append(words, allowFlags[ofTarget], plan.Target)
	}
	if plan.Take != nil {
		words = append(words, allowFlags[ofSource], plan.Take.Cluster)
	}
	return Command(words...)
}

const allowRepository = "--allow-repository"

// allowFlags are the flags that allow clusters, by the prefix of their credentials.
var allowFlags = map[string]string{ofTarget: "--allow-target", ofSource: "--allow-source"}

// wary reports whether the owners of host names are not trusted (see package egress). Names that the operator has
// given are.
func (p *permits) wary() bool { return p != nil && !p.exact }

// repository refuses a location unless it is at or below one that the operator has named.
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
	return p.refusal("repository "+l.String(), allowRepository, text)
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

// cluster refuses a URL unless it is at or below one that the operator has named for these credentials.
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
	if err != nil { // it may hold a password that cannot be cut out
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
	err := fault.New(fault.Refused, "the target %s is a folder, and a movement that is ordered by HTTP writes only to the store that takes the order", at)
	return fault.WithNext(err, "use %s", Command("migrate", "--to", at))
}

func (p *permits) refusal(what, flag, value string) error {
	err := fault.New(fault.Refused, "the operator of this process has not allowed the %s", what)
	return fault.WithNext(err, "if it is meant, start the process with: %s … %s %s", p.program, flag, Quoted(value))
}

// isBelow reports whether a location that is no folder is at or below a prefix, and is read from the same host with
// the same credentials.
func isBelow(l, prefix blob.Location) bool {
	sameBucket := l.Scheme == prefix.Scheme && l.Bucket == prefix.Bucket
	if l.Scheme == "http" || l.Scheme == "https" {
		sameBucket = sameHost(l.Scheme, l.Bucket, prefix.Scheme, prefix.Bucket)
	}
	return sameBucket && isPathBelow("/"+l.Prefix, "/"+prefix.Prefix) && sameOptions(l.Options, prefix.Options)
}

// harmless are parameters of locations that change neither the host that is asked nor the credentials.
var harmless = []string{"region", "path-style"}

// sameOptions reports whether a location has the parameters of a prefix. It may be anonymous where the prefix
// is not.
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

// sameHost compares hosts and ports; a port that is missing is the one of the scheme.
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

// isPathBelow reports whether a path is at or below another. One with steps upwards is below none: servers resolve
// them differently.
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
