package exception

// What several packages have to tell in the same words.

// NoSuchIndex is about a name that nobody has.
func NoSuchIndex(name string) *Error { return noSuch(name, "index_or_alias") }

// NoSuchTarget is NoSuchIndex about the one index that a request on documents names.
func NoSuchTarget(name string) *Error { return noSuch(name, "index_expression") }

func noSuch(name, kind string) *Error {
	return New(IndexNotFound, "no such index [%s]", name).
		With("index", name).With("resource.id", name).With("resource.type", kind).With("index_uuid", "_na_")
}

// Closed is about an index that is closed.
func Closed(index, uuid string) *Error {
	return New(IndexClosed, "closed").With("index", index).With("index_uuid", uuid)
}

// NotBoolean is about a text that is neither true nor false.
func NotBoolean(text string) *Error {
	return New(IllegalArgument, "Failed to parse value [%s] as only [true] or [false] are allowed.", text)
}

// NotNumber is what the server's language says of a text that is no number.
func NotNumber(text string) *Error { return New(NumberFormat, "For input string: \"%s\"", text) }

// NotContent is about a body in whose first bytes the server finds none of its formats.
func NotContent() *Error {
	return New(NotXContent, "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes")
}
