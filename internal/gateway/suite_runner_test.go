package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// endpointSpec is what the upstream suite says of one API: its paths, by the names in them.
type endpointSpec struct {
	URL struct {
		Paths []struct {
			Path    string
			Methods []string
			Parts   map[string]any
		}
	}
	Body *struct{ Serialize string }
}

// suiteRun runs one case against a server of its own.
type suiteRun struct {
	server *Server
	specs  map[string]endpointSpec
	stash  map[string]any
	answer any // of the last request
}

// steps runs steps until a request fails, and tells all that differs.
func (r *suiteRun) steps(list []any) (differs suiteFailure) {
	for _, one := range list {
		for what, of := range one.(map[string]any) {
			if what == "skip" {
				continue
			}
			if err := r.step(what, of); err != nil {
				differs = append(differs, inBrief(err.Error()))
				if what == "do" {
					return differs
				}
			}
		}
	}
	return differs
}

func (r *suiteRun) step(what string, of any) error {
	if what == "do" {
		return r.do(of.(map[string]any))
	}
	if what == "is_true" || what == "is_false" {
		if value, _ := r.at(fmt.Sprint(of)); truthy(value) != (what == "is_true") {
			return fmt.Errorf("%s %v: %s", what, of, inBrief(value))
		}
		return nil
	}
	for path, want := range of.(map[string]any) {
		value, there := r.at(path)
		want = r.filled(want)
		switch what {
		case "set":
			r.stash[fmt.Sprint(want)] = value
			continue
		case "match":
			if !matches(want, value) {
				return fmt.Errorf("%s is %s, want %s", path, inBrief(value), inBrief(want))
			}
			continue
		case "contains":
			list, _ := value.([]any)
			if !slices.ContainsFunc(list, func(v any) bool { return contained(want, v) }) {
				return fmt.Errorf("%s is %s, and lacks %s", path, inBrief(value), inBrief(want))
			}
			continue
		case "length":
			value, want = json.Number(fmt.Sprint(length(value))), json.Number(fmt.Sprint(want))
		case "gt", "gte", "lt", "lte":
		default:
			return fmt.Errorf("the step %s is unknown", what)
		}
		if !there || !compared(what, value, want) {
			return fmt.Errorf("%s of %s: %s, want %s", what, path, inBrief(value), inBrief(want))
		}
	}
	return nil
}

func compared(what string, value, want any) bool {
	a, okA := number(value)
	b, okB := number(want)
	if !okA || !okB {
		return false
	}
	switch what {
	case "gt":
		return a > b
	case "gte":
		return a >= b
	case "lt":
		return a < b
	case "lte":
		return a <= b
	}
	return a == b
}

// statuses are what catch names.
var statuses = map[string]int{"bad_request": 400, "unauthorized": 401, "forbidden": 403, "missing": 404, "request_timeout": 408, "conflict": 409, "unavailable": 503}

// do sends a request.
func (r *suiteRun) do(step map[string]any) error {
	var name string
	var args map[string]any
	header := http.Header{}
	for key, value := range step {
		switch key {
		case "catch", "warnings", "allowed_warnings", "node_selector": // suiteOptions
		case "headers":
			for k, v := range value.(map[string]any) {
				header.Set(k, fmt.Sprint(r.filled(v)))
			}
		default:
			name = key
			args, _ = r.filled(value).(map[string]any)
		}
	}
	catch := fmt.Sprint(cmp.Or[any](step["catch"], ""))
	request, ignored, err := r.request(name, args, header)
	if err != nil {
		if catch == "param" {
			return nil
		}
		return err
	}
	w := httptest.NewRecorder()
	r.server.ServeHTTP(w, request)
	text, _ := io.ReadAll(w.Result().Body)
	r.answer = string(text)
	var value any
	if decoder := json.NewDecoder(bytes.NewReader(text)); strings.Contains(w.Header().Get("Content-Type"), "json") {
		if decoder.UseNumber(); decoder.Decode(&value) == nil {
			r.answer = value
		}
	}
	if request.Method == http.MethodHead {
		r.answer = w.Code == http.StatusOK
		return nil
	}
	if warnings, _ := step["warnings"].([]any); len(warnings) > 0 && len(w.Header().Values("Warning")) == 0 {
		return fmt.Errorf("%s gives no warning: %s", name, inBrief(warnings))
	}
	failed := w.Code >= 400 && !slices.Contains(ignored, fmt.Sprint(w.Code))
	switch status, named := statuses[catch]; {
	case catch == "" && failed, named && w.Code != status:
		return fmt.Errorf("%s answers %d %s", name, w.Code, inBrief(string(text)))
	case catch != "" && !failed:
		return fmt.Errorf("%s answers %d, and is to be refused", name, w.Code)
	case strings.HasPrefix(catch, "/") && !caught(catch, fmt.Sprintf("%d %s", w.Code, unescaped(text))):
		return fmt.Errorf("%s answers %d %s, want %s", name, w.Code, inBrief(string(text)), catch)
	}
	return nil
}

// caught reports whether an error is the one that is expected. Blanks of such a pattern count.
func caught(pattern, said string) bool {
	is, err := regexp.Compile("(?s)" + strings.ReplaceAll(strings.Trim(strings.TrimSpace(pattern), "/"), `\/`, "/"))
	return err == nil && is.MatchString(said)
}

// unescaped is JSON as the suite's patterns see it: quotes of texts without backslashes.
func unescaped(text []byte) string { return strings.ReplaceAll(string(text), `\"`, `"`) }

// request is that of an API with arguments: what is no part of its path is a parameter.
func (r *suiteRun) request(name string, args map[string]any, header http.Header) (_ *http.Request, ignored []string, _ error) {
	spec, known := r.specs[name]
	if !known {
		return nil, nil, fmt.Errorf("the API %s is unknown", name)
	}
	best := -1
	for i, p := range spec.URL.Paths {
		all := true
		for part := range p.Parts {
			all = all && args[part] != nil
		}
		if all && (best < 0 || len(p.Parts) > len(spec.URL.Paths[best].Parts)) {
			best = i
		}
	}
	if best < 0 {
		return nil, nil, fmt.Errorf("%s lacks a part of its path", name)
	}
	chosen := spec.URL.Paths[best]
	path, query := chosen.Path, url.Values{}
	body := ""
	for key, value := range args {
		switch _, part := chosen.Parts[key]; {
		case part:
			path = strings.ReplaceAll(path, "{"+key+"}", url.PathEscape(text(value)))
		case key == "body":
			body = bodyOf(value, spec.Body != nil && spec.Body.Serialize == "bulk")
		case key == "ignore":
			ignored = append(ignored, strings.Split(text(value), ",")...)
		default:
			query.Set(key, text(value))
		}
	}
	method := chosen.Methods[0]
	if body != "" && method == "GET" && slices.Contains(chosen.Methods, "POST") {
		method = "POST"
	}
	request := httptest.NewRequest(method, path+"?"+query.Encode(), strings.NewReader(body))
	request.Header = header
	if body != "" && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return request, ignored, nil
}

func bodyOf(value any, lines bool) string {
	if t, ok := value.(string); ok {
		if lines && !strings.HasSuffix(t, "\n") {
			t += "\n"
		}
		return t
	}
	list, isList := value.([]any)
	if !isList || !lines {
		out, _ := json.Marshal(value)
		return string(out)
	}
	var all strings.Builder
	for _, one := range list {
		all.WriteString(strings.TrimSuffix(bodyOf(one, false), "\n") + "\n")
	}
	return all.String()
}

// text is a value as a URL has it.
func text(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var all []string
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return strings.Join(all, ",")
}

// at is the value under a path in the last answer.
func (r *suiteRun) at(path string) (any, bool) {
	value, there := r.answer, true
	if path == "$body" || path == "" {
		return value, there
	}
	path = strings.TrimPrefix(strings.ReplaceAll(path, `\.`, "\x00"), "$body.")
	for part := range strings.SplitSeq(path, ".") {
		part = fmt.Sprint(r.filled(strings.ReplaceAll(part, "\x00", ".")))
		switch v := value.(type) {
		case map[string]any:
			if part == "_arbitrary_key_" {
				for key := range v {
					part = key
					break
				}
				if _, isMap := v[part].(map[string]any); isMap && strings.HasSuffix(path, "_arbitrary_key_") {
					return part, true
				}
			}
			value, there = v[part]
		case []any:
			var at int
			if _, err := fmt.Sscanf(part, "%d", &at); err != nil || at >= len(v) {
				return nil, false
			}
			value = v[at]
		default:
			return nil, false
		}
	}
	return value, there
}

var stashed = regexp.MustCompile(`\$\{?(\w+)\}?`)

// filled puts what was set into a value.
func (r *suiteRun) filled(value any) any {
	switch v := value.(type) {
	case string:
		if found := stashed.FindStringSubmatch(v); found != nil && found[0] == v {
			if is, ok := r.stash[found[1]]; ok {
				return is
			}
		}
		return stashed.ReplaceAllStringFunc(v, func(name string) string {
			if is, ok := r.stash[strings.Trim(name, "${}")]; ok {
				return fmt.Sprint(is)
			}
			return name
		})
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = r.filled(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[fmt.Sprint(r.filled(key))] = r.filled(one)
		}
		return out
	}
	return value
}

func truthy(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != "" && v != "false" && v != "0"
	case json.Number:
		return v != "0"
	}
	return true
}

func length(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return -1
}

func number(value any) (float64, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// contained: of an object the members that are wanted.
func contained(want, value any) bool {
	w, ok := want.(map[string]any)
	v, ok2 := value.(map[string]any)
	if !ok || !ok2 {
		return matches(want, value)
	}
	for key := range w {
		if !matches(w[key], v[key]) {
			return false
		}
	}
	return true
}

// matches compares as the suite does: a text between slashes is a pattern, 1 and 1.0 are the same.
func matches(want, value any) bool {
	switch w := want.(type) {
	case string:
		if len(w) > 1 && strings.HasPrefix(w, "/") && strings.HasSuffix(strings.TrimSpace(w), "/") {
			w = strings.TrimSpace(w)
			plain := strings.ReplaceAll(uncommented(w[1:len(w)-1]), "*+", "*") // what Java does not give back is given back
			pattern, err := regexp.Compile("(?m)" + plain)
			return err == nil && pattern.MatchString(fmt.Sprint(value))
		}
		got, ok := value.(string)
		return ok && got == w
	case json.Number:
		a, _ := number(want)
		b, ok := number(value)
		return ok && (a == b || string(w) == fmt.Sprint(value))
	case []any:
		v, ok := value.([]any)
		return ok && slices.EqualFunc(w, v, matches)
	case map[string]any:
		v, ok := value.(map[string]any)
		if !ok || len(v) != len(w) {
			return false
		}
		for key := range w {
			if got, there := v[key]; !there || !matches(w[key], got) {
				return false
			}
		}
		return true
	}
	return want == value
}

// uncommented is a pattern without the blanks and comments that Java's flag COMMENTS passes over.
func uncommented(pattern string) string {
	var out strings.Builder
	class, comment := false, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case comment:
			comment = c != '\n'
		case c == '\\' && i+1 < len(pattern):
			if out.WriteByte(c); pattern[i+1] == '/' {
				out.Reset()
				out.WriteString(strings.TrimSuffix(uncommented(pattern[:i]), `\`))
			}
			i++
			out.WriteByte(pattern[i])
		case c == '#' && !class:
			comment = true
		case (c == ' ' || c == '\n' || c == '\t') && !class:
		default:
			class = c == '[' || class && c != ']'
			out.WriteByte(c)
		}
	}
	return out.String()
}

func inBrief(value any) string {
	text, ok := value.(string)
	if !ok {
		out, _ := json.Marshal(value)
		text = string(out)
	}
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 240)]
}
