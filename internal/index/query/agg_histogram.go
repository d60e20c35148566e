package query

import (
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/index/aggregate"
	"github.com/reshelve/reshelve/internal/index/fields"
	"github.com/reshelve/reshelve/internal/opensearch/date"
	"github.com/reshelve/reshelve/internal/opensearch/exception"
	"github.com/reshelve/reshelve/internal/opensearch/java"
	"github.com/reshelve/reshelve/internal/opensearch/token"
	"github.com/reshelve/reshelve/internal/store/catalog"
)

func (p *parser) aggHistogram(name string) (aggregate.Kind, error) {
	k := &aggregate.Histogram{}
	options := p.formatted(&k.Values, name, map[string]option{
		"interval": {takesNumber, func() (err error) {
			if k.Interval, err = p.float(64); err == nil && k.Interval <= 0 {
				err = exception.New(exception.IllegalArgument, "[interval] must be >0 for histogram aggregation [%s]", name)
			}
			return err
		}},
		"offset":          {takesNumber, func() (err error) { k.Offset, err = p.float(64); return err }},
		"min_doc_count":   p.minDocCount("minDocCount", name, &k.MinDocCount),
		"keyed":           p.setBoolean(&k.Keyed),
		"order":           p.aggOrder(&k.Order),
		"extended_bounds": {takesObject, func() (err error) { k.Extended, err = p.bounds(); return err }},
		"hard_bounds":     {takesObject, func() (err error) { k.Hard, err = p.bounds(); return err }},
	})
	return k, p.aggObject("histogram", &k.Values, options)
}

// bounds reads the ends of a histogram.
func (p *parser) bounds() (*aggregate.Bounds, error) {
	b := &aggregate.Bounds{}
	end := func(into **float64) option {
		return option{takesNumber | takesNull, func() error {
			if p.kind == token.Null {
				return nil
			}
			f, err := p.float(64)
			*into = &f
			return err
		}}
	}
	if err := p.object("double_bounds", map[string]option{"min": end(&b.Least), "max": end(&b.Greatest)}); err != nil {
		return nil, err
	}
	if b.Least != nil && b.Greatest != nil && *b.Least > *b.Greatest {
		return nil, exception.New(exception.IllegalArgument, "max bound [%s] must be greater than min bound [%s]", java.Double(*b.Greatest), java.Double(*b.Least))
	}
	return b, nil
}

// calendar are the units of calendar_interval by their names.
var calendar = map[string]string{"second": "second", "1s": "second", "minute": "minute", "1m": "minute", "hour": "hour", "1h": "hour",
	"day": "day", "1d": "day", "week": "week", "1w": "week", "month": "month", "1M": "month", "quarter": "quarter", "1q": "quarter",
	"year": "year", "1y": "year"}

func (p *parser) aggDateHistogram(name string) (aggregate.Kind, error) {
	k := &aggregate.DateHistogram{}
	options := p.formatted(&k.Values, name, map[string]option{
		"offset":          {takesString | 1<<token.Integer, func() (err error) { k.Offset, err = p.offset(); return err }},
		"min_doc_count":   p.minDocCount("minDocCount", name, &k.MinDocCount),
		"keyed":           p.setBoolean(&k.Keyed),
		"order":           p.aggOrder(&k.Order),
		"extended_bounds": {takesObject, func() (err error) { k.Extended, err = p.dateBounds(); return err }},
		"hard_bounds":     {takesObject, func() (err error) { k.Hard, err = p.dateBounds(); return err }},
	})
	options["time_zone"] = p.aggZone(&k.Values)
	legacy := p.intervals(k, options)
	if err := p.aggObject("date_histogram", &k.Values, options); err != nil {
		return nil, err
	}
	return k, legacy()
}

// intervals are the three options that say how long an interval is. What is wrong with
// the oldest of them is told when all have been read: legacy tells it.
func (p *parser) intervals(k *aggregate.DateHistogram, options map[string]option) (legacy func() error) {
	given := "" // which of them
	text := ""
	cannot := func(option, with string) error {
		return exception.New(exception.IllegalArgument, "Cannot use [%s] with %s.", option, with)
	}
	options["calendar_interval"] = option{takesString, func() error {
		if k.Calendar = calendar[p.text()]; k.Calendar == "" {
			return exception.New(exception.IllegalArgument, "The supplied interval [%s] could not be parsed as a calendar interval.", p.text())
		}
		if given != "" {
			return cannot("calendar_interval", "["+given+"] configuration option")
		}
		given = "calendar_interval"
		return nil
	}}
	options["fixed_interval"] = option{takesString, func() error {
		span, err := aggSpan("date_histogram.fixedInterval", p.text())
		if err != nil {
			return err
		}
		if given != "" {
			return cannot("fixed_interval", "["+given+"] configuration option")
		}
		k.Fixed, given = span, "fixed_interval"
		return nil
	}}
	options["interval"] = option{takesString | 1<<token.Integer, func() error {
		if given != "" {
			return cannot("interval", "[fixed_interval] or [calendar_interval] configuration options")
		}
		text, given = p.text(), "interval"
		if p.kind == token.Integer {
			text += "ms"
		}
		return nil
	}}
	return func() error { return legacyInterval(k, text) }
}

// legacyInterval is the option interval: a unit of the calendar, or a span of time.
func legacyInterval(k *aggregate.DateHistogram, text string) (err error) {
	if text == "" {
		return nil
	}
	if k.Calendar = calendar[text]; k.Calendar == "" {
		if k.Fixed, err = aggSpan("interval", text); err != nil {
			err = exception.New(exception.IllegalArgument, "Unable to parse interval [%s]", text)
		}
	}
	return err
}

// aggSpan reads a span of time: milliseconds. What is none of them is told later, as 0 is.
func aggSpan(setting, text string) (int64, error) {
	if strings.HasSuffix(text, "M") { // months, and no minutes
		return 0, exception.New(exception.IllegalArgument, "failed to parse setting [%s] with value [%s] as a time value: unit is missing or unrecognized", setting, text)
	}
	below := strings.HasPrefix(text, "-") && text != "-1"
	span, err := catalog.ParseSpan(setting, strings.TrimPrefix(text, map[bool]string{true: "-"}[below]))
	if err == nil && (below || span < time.Millisecond) {
		return -1, nil
	}
	return span.Milliseconds(), err
}

// offset reads the option of that name: milliseconds.
func (p *parser) offset() (int64, error) {
	text := p.text()
	if p.kind == token.Integer {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			err = exception.NotNumber(text)
		}
		return n, err
	}
	unsigned, negative := strings.CutPrefix(text, "-")
	if !negative {
		unsigned = strings.TrimPrefix(text, "+")
	}
	span, err := catalog.ParseSpan("DateHistogramAggregationBuilder.parseOffset", unsigned)
	if negative {
		span = -span
	}
	return span.Milliseconds(), err
}

// dateBounds reads the ends of a histogram of dates.
func (p *parser) dateBounds() (*aggregate.DateBounds, error) {
	b := &aggregate.DateBounds{}
	end := func(into **fields.Value) option {
		return option{takesNumber | takesNull, func() error { *into = p.end(); return nil }}
	}
	return b, p.object("bounds", map[string]option{"min": end(&b.Least), "max": end(&b.Greatest)})
}

// zoneOrHours reads a time zone, or how many hours it is before UTC.
func (p *parser) zoneOrHours() (*time.Location, error) {
	text := p.text()
	if p.kind == token.Integer && !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	return date.ParseZone(text, time.LoadLocation)
}
