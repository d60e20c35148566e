package servers

import (
	"fmt"
	"strconv"
	"strings"
)

// The two products that can be started.
const (
	elasticsearch = "elasticsearch"
	opensearch    = "opensearch"
)

// Version names one release of one product.
type Version struct {
	Product string // "elasticsearch" or "opensearch"
	Number  string // "7.17.29"
	Whole   bool   // all that users get where a smaller distribution would do; see WithEverything
}

// Elasticsearch names a release of Elasticsearch; any from 1.7 to 9.2 that its publisher put on Maven Central.
func Elasticsearch(number string) Version { return Version{Product: elasticsearch, Number: number} }

// OpenSearch names a release of OpenSearch, 1.0 or later.
func OpenSearch(number string) Version { return Version{Product: opensearch, Number: number} }

// WithEverything asks for the complete distribution instead of the small one: of Elasticsearch its own zip, which
// brings x-pack and join fields; of OpenSearch 2, which publishes no such zip as a package, the small one and the
// modules that are published by themselves: analysis-common (the analyzers, tokenizers and filters but the standard
// ones), reindex (also update and delete by query), parent-join and mapper-extras (scaled_float, rank_feature, …).
func (v Version) WithEverything() Version {
	v.Whole = true
	return v
}

// String is the version as file names have it: "elasticsearch-8.15.0".
func (v Version) String() string {
	if v.Whole {
		return v.Product + "-" + v.Number + "-complete"
	}
	return v.Product + "-" + v.Number
}

// IsOpenSearch tells the two products apart.
func (v Version) IsOpenSearch() bool { return v.Product == opensearch }

// AtLeast compares the number with major.minor, whatever the product.
func (v Version) AtLeast(major, minor int) bool {
	m, n := v.parts()
	return m > major || m == major && n >= minor
}

// Elastic tells whether v is Elasticsearch of major.minor or later.
func (v Version) Elastic(major, minor int) bool { return !v.IsOpenSearch() && v.AtLeast(major, minor) }

// Open tells whether v is OpenSearch of major.minor or later.
func (v Version) Open(major, minor int) bool { return v.IsOpenSearch() && v.AtLeast(major, minor) }

// Before tells whether v is Elasticsearch before major.0.
func (v Version) Before(major int) bool { return !v.IsOpenSearch() && !v.AtLeast(major, 0) }

func (v Version) parts() (major, minor int) {
	fields := strings.SplitN(v.Number, ".", 3)
	major, _ = strconv.Atoi(fields[0])
	if len(fields) > 1 {
		minor, _ = strconv.Atoi(fields[1])
	}
	return major, minor
}

// check refuses what the table of this package does not know.
func (v Version) check() error {
	major, minor := v.parts()
	switch {
	case v.Product == opensearch && v.Whole && major != 2:
		return fmt.Errorf("servers: %s: which modules make OpenSearch complete is known of version 2 only", v)
	case v.Product == opensearch && major >= 1 && major <= 3,
		v.Product == elasticsearch && (major == 1 && minor >= 7 || major >= 2 && major != 3 && major != 4 && major <= 9):
		return nil
	}
	return fmt.Errorf("servers: %s is not a server that can be started: Elasticsearch 1.7 to 9 and OpenSearch 1 to 3 are", v)
}

// javaNeed says which Java a version starts on, best first, and the modules that this Java must have.
type javaNeed struct {
	majors []int
	module string // "" = any runtime image will do
}

// java is the table of what was seen to work. A Security Manager, which Elasticsearch up to 8.17 and OpenSearch up to 2
// insist on, ended with Java 24; Elasticsearch 9.0 checks the Java it knows, 9.2 wants the newest.
func (v Version) java() javaNeed {
	switch {
	case v.Open(3, 6):
		return javaNeed{[]int{25}, "jdk.localedata"} // its analysers ask for Thai word breaks
	case v.Open(3, 0):
		return javaNeed{[]int{25, 21}, ""}
	case v.Open(2, 0):
		return javaNeed{[]int{17, 21}, ""}
	case v.Elastic(9, 2):
		return javaNeed{[]int{25}, ""}
	case v.Elastic(9, 0):
		return javaNeed{[]int{21}, ""}
	case v.Elastic(8, 18):
		return javaNeed{[]int{17, 21}, "jdk.jlink"} // its entitlements name that module
	case v.Elastic(7, 17):
		return javaNeed{[]int{17}, ""}
	}
	return javaNeed{[]int{17, 11}, ""}
}

// kind tells in what form a version is published.
type kind int

const (
	small    kind = iota // the "integ-test" zip: the server and next to no module
	complete             // the zip that users download
	jars                 // a library and its dependencies, no zip
)

func (v Version) kind() kind {
	switch {
	case v.Before(2):
		return jars
	case v.Before(6), v.Whole && !v.IsOpenSearch():
		return complete
	}
	return small
}

// artifact is the Maven coordinate GROUP:ARTIFACT:VERSION:TYPE of what has to be fetched.
func (v Version) artifact() string {
	switch v.kind() {
	case jars:
		return "org.elasticsearch:elasticsearch:" + v.Number + ":jar"
	case complete:
		return fmt.Sprintf("%s.zip:%s:%s:zip", v.group(), v.Product, v.Number)
	}
	return fmt.Sprintf("%s.integ-test-zip:%s:%s:zip", v.group(), v.Product, v.Number)
}

func (v Version) group() string { return "org." + v.Product + ".distribution" }
