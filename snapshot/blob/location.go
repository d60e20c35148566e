package blob

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Location says where a repository lives. It holds no secrets.
type Location struct {
	Scheme  string     // "file", "s3", "gs", "az", "http", "https", …
	Bucket  string     // bucket or container; host and port for http; "" for file
	Prefix  string     // what stands before each key, without slashes at its ends; for file the path
	Options url.Values // the query parameters, each adapter has its own

	// Within is a folder that nothing is opened outside of, wherever links lead meanwhile; "": any. The
	// location, a folder, is it or below it, by a path without links.
	Within string

	// Wary says that somebody else than the operator has named it, or what it is in: a name in it
	// that leads to this machine is refused when it is dialled.
	Wary bool
}

// Opener makes a bucket of a location. Each adapter's Open is one.
type Opener func(ctx context.Context, location Location) (Bucket, error)

// Open reads a location, as the package comment tells, and opens it with the
// opener of its scheme: "file" for a plain path too. An unknown scheme is
// fault.Usage and the error lists the known ones. The store itself is not
// asked for anything, except that a folder must be there.
func Open(ctx context.Context, location string, openers map[string]Opener) (Bucket, error) {
	parsed, err := ParseLocation(location)
	if err != nil {
		return nil, err
	}
	return OpenLocation(ctx, parsed, openers)
}

// OpenLocation is Open for a location that was taken apart before.
func OpenLocation(ctx context.Context, parsed Location, openers map[string]Opener) (Bucket, error) {
	if err := parsed.CheckScheme(openers); err != nil {
		return nil, err
	}
	open := openers[parsed.Scheme]
	bucket, err := open(ctx, parsed)
	if err != nil {
		return nil, err
	}
	return &located{bucket, parsed, open}, nil
}

// CheckScheme refuses, as fault.Usage, a location that none of the openers is for.
func (l Location) CheckScheme(openers map[string]Opener) error {
	if _, ok := openers[l.Scheme]; ok {
		return nil
	}
	known := slices.Sorted(maps.Keys(openers))
	err := fault.New(fault.Usage, "cannot read from %q locations", l.Scheme)
	return fault.WithNext(err, "give a folder or one of: %s", strings.Join(known, "://…, ")+"://…")
}

// ParseLocation takes a location apart. A text without "scheme://" is the path
// of a folder, literally. fault.Usage when it is malformed or carries
// credentials; the error does not repeat the text, which may hold them.
func ParseLocation(location string) (Location, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok || !isScheme(scheme) {
		if location == "" {
			return Location{}, fault.New(fault.Usage, "the location of the repository is empty")
		}
		return Location{Scheme: "file", Prefix: filepath.Clean(location)}, nil
	}
	u, err := url.Parse(location)
	switch {
	case err != nil:
		err := fault.New(fault.Usage, "malformed %s:// location", scheme)
		return Location{}, fault.WithNext(err, "percent-encode spaces, %%, ? and # in it")
	case u.User != nil:
		err := fault.New(fault.Usage, "a location must not hold credentials")
		return Location{}, fault.WithNext(err, "set them in the environment; see the help for the variables of %s://", u.Scheme)
	case u.Fragment != "" || strings.HasSuffix(rest, "#"):
		return Location{}, fault.WithNext(fault.New(fault.Usage, "a location has no #fragment"), "write %%23 for a # in a name")
	}
	if u.Scheme == "file" {
		return fileLocation(u)
	}
	if u.Host == "" {
		return Location{}, fault.WithNext(fault.New(fault.Usage, "%s:// names no bucket", u.Scheme), "write %s://NAME/PREFIX: see reshelve help repositories", u.Scheme)
	}
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Location{}, fault.New(fault.Usage, "malformed parameters in the %s:// location", u.Scheme)
	}
	return Location{Scheme: u.Scheme, Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Options: options}, nil
}

func fileLocation(u *url.URL) (Location, error) {
	if (u.Host != "" && u.Host != "localhost") || u.Path == "" || u.RawQuery != "" {
		return Location{}, fault.WithNext(fault.New(fault.Usage, "malformed file:// location"), "write file:///absolute/path")
	}
	return Location{Scheme: "file", Prefix: filepath.FromSlash(u.Path)}, nil
}

// isScheme tells a URL's scheme (RFC 3986 §3.1, lower case) from a path.
func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return s != ""
}

// String is the location without its parameters.
func (l Location) String() string {
	if l.Scheme == "file" {
		return l.Prefix
	}
	return strings.TrimSuffix(l.Scheme+"://"+l.Bucket+"/"+l.Prefix, "/")
}

// Endpoint is the address at which the store is asked, as far as the location names it; else "".
func (l Location) Endpoint() string {
	if l.Scheme == "http" || l.Scheme == "https" {
		return l.Scheme + "://" + l.Bucket
	}
	return l.Options.Get("endpoint")
}

// Key is the store's name of a blob, or of a prefix of names: the location's
// prefix, a slash, and key.
func (l Location) Key(key string) string {
	if l.Prefix == "" {
		return key
	}
	return l.Prefix + "/" + key
}

// Place names a blob in errors; with an empty key it names the location.
func (l Location) Place(key string) string {
	if key == "" {
		return l.String()
	}
	return l.String() + "/" + key
}

// CheckOptions refuses, as fault.Usage, a parameter that the adapter does not
// know, and one that is given twice. Values are not repeated.
func (l Location) CheckOptions(known ...string) error {
	for name, values := range l.Options {
		if !slices.Contains(known, name) {
			err := fault.New(fault.Usage, "%s:// has no parameter %q", l.Scheme, name)
			if len(known) == 0 {
				return fault.WithNext(err, "%s:// takes none", l.Scheme)
			}
			return fault.WithNext(err, "it takes %s", strings.Join(known, ", "))
		}
		if len(values) > 1 {
			return fault.New(fault.Usage, "parameter %q is given %d times", name, len(values))
		}
	}
	return nil
}

// Option is the first of: the parameter, and what lookup finds for one of the
// variables. Adapters pass os.Getenv.
func (l Location) Option(name string, lookup func(string) string, variables ...string) string {
	if value := l.Options.Get(name); value != "" {
		return value
	}
	for _, variable := range variables {
		if value := lookup(variable); value != "" {
			return value
		}
	}
	return ""
}

// Flag is the value of a yes-or-no parameter; absent is false, present without
// a value true. fault.Usage for anything that is not a truth value.
func (l Location) Flag(name string) (bool, error) {
	if !l.Options.Has(name) {
		return false, nil
	}
	value := l.Options.Get(name)
	if value == "" {
		return true, nil
	}
	yes, err := strconv.ParseBool(value)
	if err != nil {
		return false, fault.New(fault.Usage, "parameter %q is neither true nor false", name)
	}
	return yes, nil
}
