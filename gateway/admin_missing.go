package gateway

import "github.com/reshelve/reshelve/exception"

// noSuchIndex is the exception about a name that nobody has.
func noSuchIndex(name string) *exception.Error {
	return exception.New(exception.IndexNotFound, "no such index [%s]", name).
		With("index", name).With("resource.id", name).With("resource.type", "index_or_alias").With("index_uuid", "_na_")
}
