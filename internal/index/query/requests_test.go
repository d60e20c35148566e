package query

import (
	"strings"
	"testing"
)

// readers are those of bodies that are no search, each with what it checks.
var readers = map[string]func(body []byte) error{
	"count":   func(body []byte) error { _, err := ReadCount(body); return err },
	"caps":    func(body []byte) error { _, err := ReadFieldCaps(body); return err },
	"analyze": func(body []byte) error { _, err := ReadAnalyze(body); return err },
	"multi":   func(body []byte) error { return ReadMulti(body, func(Header, Search) error { return nil }) },
	"scroll": func(body []byte) error {
		s, err := ReadScroll(body)
		if err != nil {
			return err
		}
		return s.Check()
	},
	"delete": func(body []byte) error {
		q, err := ReadDeleteByQuery(body)
		if err != nil {
			return err
		}
		return q.CheckDelete()
	},
	"update": func(body []byte) error {
		q, err := ReadUpdateByQuery(body)
		if err != nil {
			return err
		}
		return q.Check()
	},
	"reindex": func(body []byte) error {
		r, err := ReadReindex(body)
		if err != nil {
			return err
		}
		return r.Check()
	},
}

func TestRequestsAsTheServer(t *testing.T) {
	for _, pair := range answers(t, "requests.gz") {
		kind, body, _ := strings.Cut(pair[0], " ")
		if kind == "multi" {
			body = strings.ReplaceAll(body, `\n`, "\n")
		}
		same(t, pair[0], pair[1], readers[kind]([]byte(body)))
	}
}

func FuzzRequests(f *testing.F) {
	for kind := range readers {
		f.Add(kind, []byte(`{"query":{"match":{"t":"x"}},"max_docs":5,"scroll_id":["a"],"text":"a"}`))
	}
	f.Add("multi", []byte("{\"index\":\"a\"}\n{\"size\":1}\n"))
	f.Add("reindex", []byte(`{"source":{"index":["a","b,c"],"query":{"ids":{"values":["1"]}},"size":5},"dest":{"index":"d","op_type":"create"}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		if read := readers[kind]; read != nil {
			notOurs(t, body, read(body))
		}
	})
}
