package query

import (
	"slices"
	"strings"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
)

// aggMetric reads a metric that has no more than a field.
func aggMetric(kind string) func(p *parser, name string) (aggregate.Kind, error) {
	return func(p *parser, name string) (aggregate.Kind, error) {
		k := &aggregate.Metric{Of: kind}
		options := p.formatted(&k.Values, name, map[string]option{})
		if kind == "extended_stats" {
			options["sigma"] = option{takesNumber, func() error {
				sigma, err := p.float(64)
				if k.Sigma = &sigma; err == nil && sigma < 0 {
					err = negative("sigma", java.Double(sigma), name)
				}
				return err
			}}
		}
		return k, p.aggObject(kind, &k.Values, options)
	}
}

func (p *parser) aggCardinality(name string) (aggregate.Kind, error) {
	k := &aggregate.Cardinality{}
	options := p.aggValues(&k.Values, name, map[string]option{
		"precision_threshold": {takesNumber, func() error {
			n, err := p.long()
			if err == nil && n < 0 {
				return negative("precisionThreshold", n, name)
			}
			threshold := int(min(n, 40000))
			k.Precision = &threshold
			return err
		}},
		"rehash": {takesString, func() error { return nil }},
	})
	return k, p.aggObject("cardinality", &k.Values, options)
}

func (p *parser) aggPercentiles(name string) (aggregate.Kind, error) {
	k := &aggregate.Percentiles{Keyed: true}
	if err := p.object("percentiles", p.percentileOptions(k, name, "percents")); err != nil {
		return nil, err
	}
	for _, point := range k.Points {
		if !(point >= 0 && point <= 100) {
			return nil, built("percentiles", exception.New(exception.IllegalArgument, "percent must be in [0,100], got [%s]: [%s]", java.Double(point), name))
		}
	}
	if k.Points != nil && len(k.Points) == 0 {
		return nil, built("percentiles", exception.New(exception.IllegalArgument, "[percents] must not be empty: [%s]", name))
	}
	return k, needsField(&k.Values)
}

func (p *parser) aggPercentileRanks(name string) (aggregate.Kind, error) {
	k := &aggregate.Percentiles{Keyed: true, Ranks: true}
	if err := p.object("percentile_ranks", p.percentileOptions(k, name, "values")); err != nil {
		return nil, err
	}
	switch {
	case k.Points == nil:
		return nil, built("percentile_ranks", exception.New(exception.IllegalArgument, "[values] must not be null: [%s]", name))
	case len(k.Points) == 0:
		return nil, built("percentile_ranks", exception.New(exception.IllegalArgument, "[values] must not be an empty array: [%s]", name))
	}
	return k, needsField(&k.Values)
}

// built is about an object that cannot be made of what was read.
func built(what string, cause *exception.Error) error {
	return exception.New(exception.XContentParse, "Failed to build [%s] after last required field arrived", what).CausedBy(cause)
}

func (p *parser) percentileOptions(k *aggregate.Percentiles, name, points string) map[string]option {
	options := p.formatted(&k.Values, name, map[string]option{
		points: {takesNumber | takesArray, func() error {
			k.Points = []float64{}
			err := p.each(func() error {
				f, err := p.float(64)
				k.Points = append(k.Points, f)
				return err
			})
			slices.Sort(k.Points)
			return err
		}},
		"keyed": p.setBoolean(&k.Keyed),
		"tdigest": {takesObject, func() error {
			return p.object("tdigest", map[string]option{
				"compression": {takesNumber, func() (err error) {
					if k.Compression, err = p.float(64); err == nil && k.Compression < 0 {
						err = exception.New(exception.IllegalArgument, "[compression] must be greater than or equal to 0. Found [%s]", java.Double(k.Compression))
					}
					return err
				}},
			})
		}},
		"hdr": {takesObject, func() error { return p.unsupported("[hdr]") }},
	})
	delete(options, "value_type")
	return options
}

func (p *parser) aggWeightedAverage(name string) (aggregate.Kind, error) {
	k := &aggregate.WeightedAverage{}
	valueType := ""
	part := func(into *aggregate.Values) option {
		return option{takesObject, func() error {
			options := p.aggValues(into, name, map[string]option{"time_zone": p.aggZone(into)})
			if err := p.object("field_config", options); err != nil {
				return err
			}
			if into.Field == "" {
				return exception.New(exception.IllegalArgument, "[field] and [script] cannot both be null.  Please specify one or the other.")
			}
			return nil
		}}
	}
	err := p.object("weighted_avg", map[string]option{
		"value": part(&k.Value), "weight": part(&k.Weight), "format": p.setString(&k.Format), "value_type": p.setString(&valueType),
	})
	if err != nil {
		return nil, err
	}
	for _, part := range []struct{ name, field string }{{"value", k.Value.Field}, {"weight", k.Weight.Field}} {
		if part.field == "" {
			return nil, exception.New(exception.IllegalArgument, "Could not find field name [%s] in multiValuesSource", part.name)
		}
	}
	return k, nil
}

func (p *parser) aggGeoCentroid(name string) (aggregate.Kind, error) {
	k := &aggregate.GeoCentroid{}
	return k, p.aggObject("geo_centroid", &k.Values, p.formatted(&k.Values, name, map[string]option{}))
}

func (p *parser) aggTopHits(name string) (aggregate.Kind, error) {
	fetch := &Fetch{}
	k := &aggregate.TopHits{Size: 3, Fetch: fetch}
	count := func(option string, into *int) (err error) {
		if *into, err = p.integer(); err == nil && *into < 0 {
			err = negative(option, *into, name)
		}
		return err
	}
	return k, p.members(func(member string) (err error) {
		scalar := p.kind.IsScalar()
		switch {
		case member == "from" && scalar:
			return count("from", &k.From)
		case member == "size" && scalar:
			return count("size", &k.Size)
		case member == "sort" && p.kind != token.Null:
			k.Sort, err = p.order()
			return err
		}
		known, err := p.fetchOption(member, fetch)
		k.TrackScores = fetch.TrackScores
		if err == nil && !known {
			err = p.fail("Unknown key for a %s in [%s].", p.kind, strings.TrimSpace(member))
		}
		return err
	})
}
