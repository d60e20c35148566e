package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/reshelve/reshelve/internal/fault"
)

// Limits are how fast, and when, a migration may be. They are the rate of its movement, which
// throttle changes while it runs. The zero value limits nothing.
type Limits struct {
	DocumentsPerSecond float64 `json:"documentsPerSecond,omitempty"`
	BytesPerSecond     float64 `json:"bytesPerSecond,omitempty"` // of requests' bodies
	Hours              Hours   `json:"hours,omitzero"`
}

// ReadLimits reads the limits that a movement carries; fault.Usage when they are none.
func ReadLimits(rate json.RawMessage) (l Limits, err error) {
	if len(rate) == 0 {
		return l, nil
	}
	d := json.NewDecoder(bytes.NewReader(rate))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		if fault.Is(err, fault.Usage) {
			return Limits{}, err
		}
		return Limits{}, fault.New(fault.Usage, "the limits are not understood: %w", err)
	}
	return l, l.Check()
}

// Check is fault.Usage for limits under which nothing could be done, or nobody knows what.
func (l Limits) Check() error {
	for _, limit := range []struct {
		name  string
		value float64
	}{{"documents", l.DocumentsPerSecond}, {"bytes", l.BytesPerSecond}} {
		if limit.value < 0 || math.IsNaN(limit.value) || math.IsInf(limit.value, 0) {
			err := fault.New(fault.Usage, "%v %s per second are no limit", limit.value, limit.name)
			return fault.WithNext(err, "name a number above 0; 0 is no limit, and pause stops")
		}
	}
	return nil
}

// Rate is the limit as a rate; 0 where there is none.
func (l Limits) Rate() Rate { return Rate{l.DocumentsPerSecond, l.BytesPerSecond} }

// Share is the part of the limits that a process with mine of all the slots at work may use,
// so that all together keep them. It is pure. Who is alone, or is not counted yet, has all.
func (l Limits) Share(mine, all int) Limits {
	if all > mine && mine > 0 {
		part := float64(mine) / float64(all)
		l.DocumentsPerSecond, l.BytesPerSecond = l.DocumentsPerSecond*part, l.BytesPerSecond*part
	}
	return l
}

// String is the limits for people; "none".
func (l Limits) String() string {
	var words []string
	if l.DocumentsPerSecond > 0 {
		words = append(words, fmt.Sprintf("%.10g documents/s", l.DocumentsPerSecond))
	}
	if l.BytesPerSecond > 0 {
		amount, unit := l.BytesPerSecond/1e6, "MB/s"
		if amount < 1 {
			amount, unit = amount*1e3, "kB/s"
		}
		words = append(words, fmt.Sprintf("%.10g %s", amount, unit))
	}
	if !l.Hours.always() {
		words = append(words, "from "+l.Hours.String())
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, ", ")
}

// Change are limits that are to be others; those that are nil stay.
type Change struct {
	DocumentsPerSecond *float64 `json:"documentsPerSecond,omitempty"` // 0: none
	BytesPerSecond     *float64 `json:"bytesPerSecond,omitempty"`     // 0: none
	Hours              *Hours   `json:"hours,omitempty"`              // the zero value: always
}

// With is the limits after the change; fault.Usage when they would be none.
func (l Limits) With(c Change) (Limits, error) {
	if c.DocumentsPerSecond != nil {
		l.DocumentsPerSecond = *c.DocumentsPerSecond
	}
	if c.BytesPerSecond != nil {
		l.BytesPerSecond = *c.BytesPerSecond
	}
	if c.Hours != nil {
		l.Hours = *c.Hours
	}
	return l, l.Check()
}

// JSON is the limits as a movement carries them: what [ReadLimits] reads.
func (l Limits) JSON() json.RawMessage {
	text, _ := json.Marshal(l) // numbers that Check has passed, and a text
	return text
}
