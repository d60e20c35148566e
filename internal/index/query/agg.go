package query

import (
	"maps"
	"strings"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// aggParsers read the objects of aggregations, each called when the bracket of its object
// was the last token, and ending with the one that closes it. Nil: the server knows the
// aggregation, and this version does not.
var aggParsers map[string]func(p *parser, name string) (aggregate.Kind, error)

func init() { // not a literal: aggregations hold aggregations
	aggParsers = map[string]func(p *parser, name string) (aggregate.Kind, error){
		"terms": (*parser).aggTerms, "histogram": (*parser).aggHistogram, "date_histogram": (*parser).aggDateHistogram,
		"range": (*parser).aggRange, "date_range": (*parser).aggDateRange, "ip_range": (*parser).aggAddressRange,
		"filter": (*parser).aggFilter, "filters": (*parser).aggFilters, "missing": (*parser).aggMissing, "global": (*parser).aggGlobal,
		"nested": (*parser).aggNested, "reverse_nested": (*parser).aggReverseNested, "composite": (*parser).aggComposite,
		"cardinality": (*parser).aggCardinality, "percentiles": (*parser).aggPercentiles, "percentile_ranks": (*parser).aggPercentileRanks,
		"weighted_avg": (*parser).aggWeightedAverage, "top_hits": (*parser).aggTopHits, "geo_centroid": (*parser).aggGeoCentroid,
	}
	for name := range strings.FieldsSeq(`min max avg sum value_count stats extended_stats`) {
		aggParsers[name] = aggMetric(name)
	}
	for name := range strings.FieldsSeq(`adjacency_matrix auto_date_histogram avg_bucket bucket_script bucket_selector bucket_sort
		children cumulative_sum derivative diversified_sampler extended_stats_bucket geo_bounds geo_distance geohash_grid geotile_grid
		matrix_stats max_bucket median_absolute_deviation min_bucket moving_avg moving_fn multi_terms parent percentiles_bucket
		rare_terms sampler scripted_metric serial_diff significant_terms significant_text stats_bucket sum_bucket
		variable_width_histogram`) {
		aggParsers[name] = nil
	}
}

// metrics are the aggregations that take none below them.
var metrics = map[string]bool{"min": true, "max": true, "avg": true, "sum": true, "value_count": true, "stats": true,
	"extended_stats": true, "cardinality": true, "percentiles": true, "percentile_ranks": true, "weighted_avg": true, "top_hits": true,
	"geo_centroid": true}

// aggregations reads the value of aggs, whose bracket was the last token.
func (p *parser) aggregations() (all []aggregate.Aggregation, err error) {
	err = p.members(func(name string) error {
		if name == "" || strings.ContainsAny(name, "[]>") {
			line, column := p.place(p.key)
			return exception.New(exception.Parsing, "Invalid aggregation name [%s]. Aggregation names can contain any character except '[', ']', and '>'", name).
				With("line", line).With("col", column)
		}
		if p.kind != token.Object {
			return p.fail("Aggregation definition for [%s starts with a [%s], expected a [START_OBJECT].", name, p.kind)
		}
		a, err := p.aggregation(name)
		all = append(all, a)
		return err
	})
	return all, err
}

// aggregation reads the definition of one, whose bracket was the last token.
func (p *parser) aggregation(name string) (aggregate.Aggregation, error) {
	a := aggregate.Aggregation{Name: name}
	kind, below := "", false
	err := p.members(func(member string) (err error) {
		if p.kind != token.Object {
			return p.fail("Expected [START_OBJECT] under [%s], but got a [%s] in [%s]", member, p.kind, name)
		}
		switch {
		case member == "meta":
			a.Meta, err = p.meta(nil)
			return err
		case member == "aggs" || member == "aggregations":
			if below {
				return p.fail("Found two sub aggregation definitions under [%s]", name)
			}
			below = true
			a.Subs, err = p.aggregations()
			return err
		case kind != "":
			return p.fail("Found two aggregation type definitions in [%s]: [%s] and [%s]", name, kind, member)
		}
		kind = member
		read, known := aggParsers[member]
		switch {
		case !known:
			return p.unknownAgg(member)
		case read == nil:
			return p.unsupported("[" + member + "] aggregation")
		}
		a.Kind, err = read(p, name)
		return err
	})
	switch {
	case err != nil:
		return a, err
	case kind == "":
		return a, p.fail("Missing definition for aggregation [%s]", name)
	case len(a.Subs) > 0 && metrics[kind]:
		return a, exception.New(exception.AggregationInit, "Aggregator [%s] of type [%s] cannot accept sub-aggregations", name, kind)
	}
	return a, nil
}

func (p *parser) unknownAgg(kind string) error {
	reason := "Unknown aggregation type [" + kind + "]"
	if proposed := exception.DidYouMean(kind, maps.Keys(aggParsers), 0.5); proposed != "" {
		reason += " " + proposed
	}
	return p.fail("%s", reason).CausedBy(p.notFound(kind))
}

// aggValues are the options about the values of an aggregation.
func (p *parser) aggValues(v *aggregate.Values, name string, more map[string]option) map[string]option {
	more["field"] = option{takesString, func() error { v.Field = p.text(); return nil }}
	more["missing"] = option{takesScalar | takesNull, func() error {
		if p.kind == token.Null {
			return exception.New(exception.IllegalArgument, "[missing] must not be null: [%s]", name)
		}
		value := p.scalar()
		v.Missing = &value
		return nil
	}}
	more["script"] = option{takesObject | takesString, func() error { return p.unsupported("[script]") }}
	return more
}

// formatted are the options of aggValues, with a format and a type.
func (p *parser) formatted(v *aggregate.Values, name string, more map[string]option) map[string]option {
	more["format"] = p.setString(&v.Format)
	more["value_type"] = option{takesString, func() error {
		switch v.Type = p.text(); v.Type {
		case "float", "numeric", "number":
			v.Type = "double"
		case "byte", "short", "integer":
			v.Type = "long"
		case "string", "long", "double", "date", "ip", "boolean", "unsigned_long":
		default:
			return exception.New(exception.IllegalArgument, "Unknown value type [%s]", v.Type)
		}
		return nil
	}}
	return p.aggValues(v, name, more)
}

// aggZone is the option time_zone.
func (p *parser) aggZone(v *aggregate.Values) option {
	return option{takesString | 1<<token.Integer, func() (err error) {
		v.Zone, err = p.zoneOrHours()
		return err
	}}
}

// aggObject reads an aggregation's options, of which one says the field.
func (p *parser) aggObject(kind string, v *aggregate.Values, options map[string]option) error {
	if err := p.object(kind, options); err != nil {
		return err
	}
	return needsField(v)
}

func needsField(v *aggregate.Values) error {
	if v.Field == "" {
		return exception.New(exception.IllegalArgument, "Required one of fields [field, script], but none were specified. ")
	}
	return nil
}

// negative is about an option that is below 0.
func negative(option string, found any, name string) error {
	return exception.New(exception.IllegalArgument, "[%s] must be greater than or equal to 0. Found [%v] in [%s]", option, found, name)
}
