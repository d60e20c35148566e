package gateway

import (
	"net/http"
	"strconv"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// fail answers with an exception, whatever was appended so far.
func (c *call) fail(e *exception.Error) {
	status := e.Status()
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		c.w.Header().Set("Retry-After", "1")
	}
	if status == http.StatusRequestEntityTooLarge {
		c.w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	out := append(c.out[:0], `{"error":{"root_cause":[`...)
	out = append(appendException(out, e.Root(), false), ']', ',')
	out = appendExceptionBody(out, e, true)
	out = append(out, `},"status":`...)
	c.out = append(strconv.AppendInt(out, int64(status), 10), '}')
	c.look.filter = nil // errors are told whole
	_ = c.send(status)  // answers; there is no error to it
}

// plainError answers with an error that is a mere text, with or without its status.
func (c *call) plainError(status int, tellStatus bool, text string) error {
	c.out = appendString(append(c.out[:0], `{"error":`...), text)
	if tellStatus {
		c.out = strconv.AppendInt(append(c.out, `,"status":`...), int64(status), 10)
	}
	c.out = append(c.out, '}')
	c.look.filter = nil
	return c.send(status)
}

// appendException appends an exception as an object, with its causes or without.
func appendException(dst []byte, e *exception.Error, causes bool) []byte {
	return append(appendExceptionBody(append(dst, '{'), e, causes), '}')
}

func appendExceptionBody(dst []byte, e *exception.Error, causes bool) []byte {
	dst = appendString(append(dst, `"type":`...), string(e.Type))
	dst = appendString(append(dst, `,"reason":`...), e.Reason)
	for _, field := range e.Fields {
		dst = appendString(append(dst, ','), field.Name)
		dst = appendField(append(dst, ':'), field.Value)
	}
	if causes && e.Cause != nil {
		dst = appendException(append(dst, `,"caused_by":`...), e.Cause, true)
	}
	return dst
}

func appendField(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10)
	case []string:
		dst = append(dst, '[')
		for i, text := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, text)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}
