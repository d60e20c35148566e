package snapshot

import "fmt"

// versionID is a server's or index's version as metadata files store it:
// major·1000000 + minor·10000 + revision·100 + build, where build 99 is a
// release. OpenSearch sets bit 27 above. From 8.11 on Elasticsearch counts
// index versions apart from releases: they only keep the major number.
type versionID int64

const (
	openSearchBit = 1 << 27
	// firstIndexVersion is above every release that was counted in the old way.
	firstIndexVersion = 8_500_000
)

// openSearch tells which of the two servers counts so.
func (v versionID) openSearch() bool { return v&openSearchBit != 0 }

// number is the id without the bit that tells the server.
func (v versionID) number() int64 { return int64(v &^ openSearchBit) }

// major is the major number of the server.
func (v versionID) major() int64 { return v.number() / 1_000_000 }

// String is "7.10.2"; "5.0.0-beta2" for an early build; where only the index
// version is known, that and the major number: "8.x (index version 8512000)".
func (v versionID) String() string {
	n := v.number()
	if n <= 0 {
		return "unknown"
	}
	if !v.openSearch() && n >= firstIndexVersion {
		return fmt.Sprintf("%d.x (index version %d)", v.major(), n)
	}
	text := fmt.Sprintf("%d.%d.%d", v.major(), n/10_000%100, n/100%100)
	switch build := n % 100; {
	case build == 99:
		return text
	case build > 50:
		return fmt.Sprintf("%s-rc%d", text, build-50)
	case build >= 25:
		return fmt.Sprintf("%s-beta%d", text, build-25)
	default:
		return fmt.Sprintf("%s-alpha%d", text, build)
	}
}

// upTo1x reports whether it is a version of Elasticsearch before 2.0.
func (v versionID) upTo1x() bool { return v > 0 && v < 2_000_000 }

// bareNames reports whether sources may have names without quotation marks: in
// indices that Elasticsearch 1.x or 2.x created.
func (v versionID) bareNames() bool { return !v.openSearch() && v.number() > 0 && v.major() < 5 }

// typed tells whether mappings have types: in Elasticsearch up to 6.x. An index
// that 6.x created keeps its type under 7.x, whose interfaces hide it.
func (v versionID) typed() bool { return !v.openSearch() && v.number() > 0 && v.major() < 7 }
