package catalog

import (
	"fmt"
	"strings"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// forbidden are the characters that no name may hold, as the server prints them.
const (
	forbidden        = ` "*\<|,>/?`
	forbiddenPrinted = `[ , ", *, \, <, |, ,, >, /, ?]`
)

// maxName is the most bytes of an index name: those of a file name.
const maxName = 255

// nameFault says what is wrong with the name of an index, an alias or a data
// stream; "" when nothing is.
func nameFault(name string) string {
	switch {
	case strings.ContainsAny(name, forbidden):
		return "must not contain the following characters " + forbiddenPrinted
	case strings.Contains(name, "#"):
		return "must not contain '#'"
	case strings.Contains(name, ":"):
		return "must not contain ':'"
	case name == "" || name[0] == '_' || name[0] == '-' || name[0] == '+':
		return "must not start with '_', '-', or '+'"
	case len(name) > maxName:
		return fmt.Sprintf("index name is too long, (%d > %d)", len(name), maxName)
	case name == "." || name == "..":
		return "must not be '.' or '..'"
	}
	return ""
}

// CheckIndexName refuses what cannot be the name of an index. Whether the name is
// taken is another question.
func CheckIndexName(name string) error {
	if why := IndexNameFault(name); why != "" {
		return invalidIndexName(name, why)
	}
	return nil
}

// IndexNameFault says, in the server's words, why this cannot be the name of an
// index; "" when it can.
func IndexNameFault(name string) string {
	why := nameFault(name)
	if why == "" && strings.ToLower(name) != name {
		why = "must be lowercase"
	}
	return why
}

func invalidIndexName(name, why string) *exception.Error {
	return exception.New(exception.InvalidIndexName, "Invalid index name [%s], %s", name, why).
		With("index", name).With("index_uuid", "_na_")
}

// checkAliasName refuses what cannot be the name of an alias.
func checkAliasName(name string) error {
	if strings.TrimSpace(name) == "" {
		return exception.New(exception.IllegalArgument, "alias name is required")
	}
	if why := nameFault(name); why != "" {
		return exception.New(exception.InvalidAliasName, "Invalid alias name [%s]: %s", name, why)
	}
	return nil
}

// checkStreamName refuses what cannot be the name of a data stream.
func checkStreamName(name string) error {
	why := nameFault(name)
	switch {
	case why != "":
	case strings.ToLower(name) != name:
		why = "must be lowercase"
	case name[0] == '.':
		why = "must not start with '.'"
	default:
		return nil
	}
	return exception.New(exception.IllegalArgument, "data_stream [%s] %s", name, why)
}

// Available refuses the name of a new index that somebody has.
func (c Catalog) Available(name string) error {
	if entry, taken := c.Indices[name]; taken {
		return exception.New(exception.ResourceAlreadyExists, "index [%s/%s] already exists", name, entry.UUID).
			With("index", name).With("index_uuid", entry.UUID)
	}
	if _, taken := c.Aliases[name]; taken {
		return invalidIndexName(name, "already exists as alias")
	}
	return nil
}

// isPattern reports whether name holds a wildcard.
func isPattern(name string) bool { return strings.Contains(name, "*") }
