package gateway

import (
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

// param is one parameter of a URL.
type param struct{ name, value string }

// readParams takes the query apart. Of a parameter that comes twice the last counts.
func (c *call) readParams() error {
	for query := c.r.URL.RawQuery; query != ""; {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name == "" { // "=x" is the server's x
			name, value = value, ""
		}
		if name == "" {
			continue
		}
		name, err := unescapeParam(name)
		if err == nil {
			value, err = unescapeParam(value)
		}
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(c.params, func(p param) bool { return p.name == name }); at >= 0 {
			c.params[at].value = value
			continue
		}
		c.params = append(c.params, param{name, value})
	}
	return c.readAppearance()
}

func unescapeParam(text string) (string, error) {
	if !strings.ContainsAny(text, "%+") {
		return wellFormed(text), nil
	}
	plain, err := url.QueryUnescape(text)
	if err != nil {
		reason := "invalid escape sequence in: " + text
		cause := exception.New(exception.IllegalArgument, "%s", reason)
		return "", exception.New(exception.BadParameter, "java.lang.IllegalArgumentException: %s", reason).CausedBy(cause)
	}
	return wellFormed(plain), nil
}

// commonParams are known everywhere.
var commonParams = []string{"pretty", "human", "error_trace", "filter_path", "format"}

// checkParams refuses parameters that the endpoint does not know.
func (c *call) checkParams() error {
	var unknown []string
	for _, p := range c.params {
		if !c.endpoint.known[p.name] && !slices.Contains(commonParams, p.name) {
			unknown = append(unknown, p.name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return unrecognized(c.r.URL.Path, "parameter", unknown, slices.AppendSeq(slices.Clone(commonParams), maps.Keys(c.endpoint.known)))
}

// unrecognized refuses words of a request that are not among the known ones, and
// proposes those that are like them.
func unrecognized(path, what string, unknown, known []string) error {
	slices.Sort(unknown)
	var reason strings.Builder
	reason.WriteString("request [" + path + "] contains unrecognized " + what)
	if len(unknown) > 1 {
		reason.WriteByte('s')
	}
	for i, name := range unknown {
		reason.WriteString([]string{": ", ", "}[min(i, 1)] + "[" + name + "]" + didYouMean(name, known))
	}
	return exception.New(exception.IllegalArgument, "%s", reason.String())
}

// didYouMean proposes the known words that are like the unknown one.
func didYouMean(unknown string, known []string) string {
	if proposed := exception.DidYouMean(unknown, slices.Values(known), 0.5); proposed != "" {
		return " -> " + proposed
	}
	return ""
}

// has reports whether the parameter was given, and its text.
func (c *call) has(name string) (string, bool) {
	for i := range c.params {
		if c.params[i].name == name {
			return c.params[i].value, true
		}
	}
	return "", false
}

// isSet reports whether the parameter was given.
func (c *call) isSet(name string) bool {
	_, ok := c.has(name)
	return ok
}

// text is the parameter, or byDefault when it was not given.
func (c *call) text(name, byDefault string) string {
	if value, ok := c.has(name); ok {
		return value
	}
	return byDefault
}

// list is a parameter of names between commas; nil when it was not given.
func (c *call) list(name string) []string {
	value, _ := c.has(name)
	return splitList(value)
}

// splitList splits at commas and leaves out what is empty.
func splitList(value string) []string {
	if value == "" {
		return nil
	}
	parts := strings.Split(value, ",")
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// boolean reads a parameter that is true or false; given without a value it is true.
func (c *call) boolean(name string, byDefault bool) (bool, error) {
	value, ok := c.has(name)
	if !ok {
		return byDefault, nil
	}
	return parseBoolean(value)
}

func parseBoolean(value string) (bool, error) {
	switch value {
	case "true", "":
		return true, nil
	case "false":
		return false, nil
	}
	return false, exception.NotBoolean(value)
}

// integer reads a parameter of the server's type int or long (bits 32 or 64).
func (c *call) integer(name string, bits int, byDefault int64) (int64, error) {
	value, ok := c.has(name)
	if !ok {
		return byDefault, nil
	}
	n, err := strconv.ParseInt(value, 10, bits)
	if err != nil {
		kind := map[int]string{32: "int", 64: "long"}[bits]
		cause := exception.NotNumber(value)
		return 0, exception.New(exception.IllegalArgument, "Failed to parse %s parameter [%s] with value [%s]", kind, name, value).CausedBy(cause)
	}
	return n, nil
}

// parseLong reads a number of a body; a fraction is cut off, as the server does.
func parseLong(text []byte) (int64, error) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, exception.New(exception.IllegalArgument, "For input string: \"%s\"", text)
	case !(f >= math.MinInt64 && f < math.MaxInt64):
		return 0, exception.New(exception.IllegalArgument, "Numeric value (%s) out of range of long (%d - %d)", text, math.MinInt64, math.MaxInt64)
	}
	return int64(f), nil
}

// duration reads a parameter such as 30s or 1m; negative: without end.
func (c *call) duration(name string, byDefault time.Duration) (time.Duration, error) {
	value, ok := c.has(name)
	if !ok {
		return byDefault, nil
	}
	return catalog.ParseSpan(name, value)
}
