package query

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/reshelve/reshelve/internal/index/search"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// scoreFunctions read the objects of functions, whose brackets were the last token. Nil:
// this version does not support the function.
var scoreFunctions = map[string]func(p *parser, f *search.Function) error{
	"random_score":       (*parser).randomScore,
	"field_value_factor": (*parser).fieldFactor,
	"gauss":              func(p *parser, f *search.Function) error { return p.decay("gauss", f) },
	"exp":                func(p *parser, f *search.Function) error { return p.decay("exp", f) },
	"linear":             func(p *parser, f *search.Function) error { return p.decay("linear", f) },
	"script_score":       nil,
}

// functionReader reads one function_score.
type functionReader struct {
	*parser
	q      *search.FunctionScore
	single string // the name of the function outside of the list; "": none
	listed bool   // there is a list
}

func (p *parser) functionScore() (search.Query, error) {
	q := &search.FunctionScore{Common: plain(), ScoreMode: "multiply", BoostMode: "multiply"}
	r := functionReader{parser: p, q: q}
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Null:
			return nil
		case p.kind == token.Array && name == "functions":
			if err := r.alone(name); err != nil {
				return err
			}
			r.listed = true
			return p.elements(r.listedFunction)
		case p.kind == token.Array:
			return p.fail("failed to parse [function_score] query. array [%s] is not supported", name)
		case p.kind == token.Object && name == "query":
			if q.Query != nil {
				return p.fail("failed to parse [function_score] query. [query] is already defined.")
			}
			q.Query, err = p.query()
			return err
		case p.kind == token.Object:
			return r.singleFunction(name)
		}
		return r.scalarOption(name)
	})
	if q.Query == nil {
		q.Query = &search.MatchAll{Common: plain()}
	}
	return q, err
}

// alone refuses a function, or a list of them, where there is one already.
func (r *functionReader) alone(name string) error {
	switch {
	case r.listed:
		return r.fail("failed to parse [function_score] query. [you can either define [functions] array or a single function, not both. already found [functions] array, now encountering [%s].]", name)
	case r.single != "" && name == "functions":
		return r.fail("failed to parse [function_score] query. [you can either define [functions] array or a single function, not both. already found [%s], now encountering [functions].]", r.single)
	case r.single != "":
		return r.fail("failed to parse [function_score] query. already found function [%s], now encountering [%s]. use [functions] array if you want to define several functions.", r.single, name)
	}
	return nil
}

func (r *functionReader) singleFunction(name string) error {
	if err := r.alone(name); err != nil {
		return err
	}
	r.single = name
	f := search.Function{}
	err := r.function(name, &f)
	r.q.Functions = []search.Function{f}
	return err
}

func (r *functionReader) scalarOption(name string) (err error) {
	if known, err := r.commonOption("function_score", name, &r.q.Common); known || err != nil {
		return err
	}
	switch name {
	case "weight":
		err = r.singleWeight()
	case "score_mode":
		if r.q.ScoreMode, err = r.str(); err == nil {
			err = r.enum(&r.q.ScoreMode, "common.lucene.search.function.FunctionScoreQuery.ScoreMode", "first", "avg", "max", "sum", "min", "multiply")
		}
	case "boost_mode":
		if r.q.BoostMode, err = r.str(); err == nil {
			err = r.enum(&r.q.BoostMode, "common.lucene.search.function.CombineFunction", "multiply", "replace", "sum", "avg", "min", "max")
		}
	case "max_boost":
		r.q.MaxBoost, err = r.float32()
	case "min_score":
		r.q.MinScore, err = r.optionalFloat()
	default:
		err = r.fail("failed to parse [function_score] query. field [%s] is not supported", name)
	}
	return err
}

// singleWeight is a weight outside of the list, as the only function.
func (r *functionReader) singleWeight() error {
	if err := r.alone("weight"); err != nil {
		return err
	}
	weight, err := r.weight()
	r.single, r.q.Functions = "weight", []search.Function{{Weight: weight}}
	return err
}

// enum makes a name of an enumeration lower case, and refuses others.
func (p *parser) enum(text *string, class string, names ...string) error {
	lower := strings.ToLower(*text)
	if !slices.Contains(names, lower) {
		return noConstant(class, strings.ToUpper(*text))
	}
	*text = lower
	return nil
}

func (p *parser) weight() (*float32, error) {
	weight, err := p.float32()
	if err == nil && weight < 0 {
		err = exception.New(exception.IllegalArgument, "[weight] cannot be negative for a filtering function")
	}
	return &weight, err
}

// listedFunction reads an element of the list.
func (r *functionReader) listedFunction() error {
	if r.kind != token.Object { // the server's words, with its arguments in their order
		return r.fail("failed to parse [START_OBJECT]. malformed query, expected a [%s] while parsing functions but got a [function_score] instead", r.kind)
	}
	f := search.Function{}
	found := ""
	err := r.tokens(func(name string) (err error) {
		switch {
		case r.kind == token.Null:
			return nil
		case r.kind == token.Object && name == "filter":
			f.Filter, err = r.query()
			return err
		case r.kind == token.Object && found != "":
			return r.fail("failed to parse function_score functions. already found [%s], now encountering [%s].", found, name)
		case r.kind == token.Object:
			found = name
			return r.function(name, &f)
		case r.isValue() && name == "weight":
			f.Weight, err = r.weight()
			return err
		case r.isValue():
			return r.fail("failed to parse [function_score] query. field [%s] is not supported", name)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case found == "" && f.Weight == nil:
		return r.fail("failed to parse [function_score] query. an entry in functions list is missing a function.")
	}
	r.q.Functions = append(r.q.Functions, f)
	return nil
}

// function reads the object of a function.
func (p *parser) function(name string, f *search.Function) error {
	read, known := scoreFunctions[name]
	switch {
	case !known: // the server takes its own name for the unknown one when it looks what is like it
		return p.fail("unknown query [function_score] did you mean any of [random_score, script_score]?").CausedBy(p.notFound(name))
	case read == nil:
		return p.unsupported("[" + name + "] function")
	}
	return read(p, f)
}

func (p *parser) randomScore(f *search.Function) error {
	f.Random = &search.RandomScore{}
	return p.tokens(func(name string) error {
		switch name {
		case "seed":
			return p.seed(f.Random)
		case "field":
			text, err := p.str()
			f.Random.Field = text
			return err
		}
		return p.fail("random_score query does not support [%s]", name)
	})
}

// seed reads a number, where one of 64 bits and a text stand for their hashes: 32 bits,
// as Long.hashCode and String.hashCode have them.
func (p *parser) seed(r *search.RandomScore) error {
	switch p.kind {
	case token.Null:
		return nil
	case token.Integer:
		n, err := p.long()
		if err != nil {
			return err
		}
		if n != int64(int32(n)) {
			n = int64(int32(n ^ int64(uint64(n)>>32)))
		}
		r.Seed = &n
		return nil
	case token.Float:
		return p.fail("random_score seed must be an int, long or string, not '%s'", p.kind)
	case token.String:
		hash := int32(0)
		for _, unit := range utf16.Encode([]rune(p.text())) {
			hash = 31*hash + int32(unit)
		}
		n := int64(hash)
		r.Seed = &n
		return nil
	}
	return p.fail("random_score seed must be an int/long or string, not '%s'", p.kind)
}

func (p *parser) fieldFactor(f *search.Function) error {
	v := &search.FieldFactor{Factor: 1, Modifier: "none"}
	f.Factor = v
	given := false
	err := p.tokens(func(name string) (err error) {
		if !p.isValue() {
			return nil
		}
		switch name {
		case "field":
			v.Field, given = p.text(), true
		case "factor":
			var factor float32
			factor, err = p.float32()
			v.Factor = float64(factor)
		case "modifier":
			v.Modifier = p.text()
			err = p.enum(&v.Modifier, "common.lucene.search.function.FieldValueFactorFunction.Modifier",
				"none", "log", "log1p", "log2p", "ln", "ln1p", "ln2p", "square", "sqrt", "reciprocal")
		case "missing":
			var missing float64
			missing, err = p.float(64)
			v.Missing = &missing
		default:
			err = p.fail("field_value_factor query does not support [%s]", name)
		}
		return err
	})
	if err == nil && !given {
		err = p.fail("[field_value_factor] required field 'field' missing")
	}
	return err
}

// decay reads {"field": {"origin": …, "scale": …}, "multi_value_mode": "min"}.
func (p *parser) decay(shape string, f *search.Function) error {
	d := &search.Decay{Shape: shape, Decay: 0.5, Mode: "min"}
	f.Decay = d
	found := false
	err := p.tokens(func(name string) (err error) {
		switch {
		case p.kind == token.Object:
			d.Field, found = name, true
			return p.decayOptions(d)
		case name == "multi_value_mode" && p.isValue():
			text := p.text()
			d.Mode = strings.ToLower(text)
			if !slices.Contains([]string{"sum", "avg", "median", "min", "max"}, d.Mode) {
				err = exception.New(exception.IllegalArgument, "Illegal sort mode: %s", text)
			}
			return err
		}
		return p.fail("malformed score function score parameters.")
	})
	if err == nil && !found {
		err = p.fail("malformed score function score parameters.")
	}
	return err
}

// decayOptions reads the values of a decay. The server keeps them as they are, until it
// knows the type of the field: what is missing or wrong is told then.
func (p *parser) decayOptions(d *search.Decay) error {
	return p.members(func(name string) (err error) {
		switch name {
		case "decay":
			d.Decay, err = p.float(64)
			return err
		case "origin", "scale", "offset":
			raw, err := p.skip()
			if err == nil && p.kind != token.Null {
				*map[string]*string{"origin": &d.Origin, "scale": &d.Scale, "offset": &d.Offset}[name] = string(raw)
			}
			return err
		}
		return exception.New(exception.OpenSearchParse, "parameter [%s] not supported!", name)
	})
}
