package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/reshelve/reshelve/internal/control"
	"github.com/reshelve/reshelve/internal/movement"
)

// metricsHandler tells the numbers of the movements that have not ended, as Prometheus reads
// them, and how many movements there are.
func metricsHandler(d *control.MovementService) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(gauges{d})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
}

// gauges collects the numbers when it is asked for them.
type gauges struct{ service *control.MovementService }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("reshelve_"+name, help, labels, nil)
}

var (
	gaugeMovements  = gauge("movements", "Movements that are recorded.", "kind", "state")
	gaugeDocuments  = gauge("movement_documents", "Documents of the snapshot, by what became of them; read counts all.", "movement", "result")
	gaugeExpected   = gauge("movement_expected_documents", "Documents that the plan expects.", "movement")
	gaugeBytes      = gauge("movement_bytes", "Bytes of sources that were read.", "movement")
	gaugeItems      = gauge("movement_items", "Pieces of work.", "movement", "state")
	gaugeRetries    = gauge("movement_retries", "Requests and documents that were sent again.", "movement")
	gaugeWorkers    = gauge("movement_workers", "Slots that hold a lease and were heard of.", "movement")
	gaugeDocsRate   = gauge("movement_documents_per_second", "Documents in a second, of all workers.", "movement")
	gaugeBytesRate  = gauge("movement_bytes_per_second", "Bytes of sources in a second, of all workers.", "movement")
	gaugeDone       = gauge("movement_done_ratio", "How much of the copy is done, from 0 to 1.", "movement")
	gaugeLeft       = gauge("movement_time_left_seconds", "Until the last document is acknowledged; absent while it is not known.", "movement")
	gaugeHindrances = gauge("movement_hindrances", "Known reasons for which it does not get to its end.", "movement")
	countRepairs    = gauge("shard_repairs_total", "How often documents were indexed again since the shard was opened, by cause: count (searches showed another number of documents than there were), damage (of a file), order (a rebuild).", "index", "shard", "cause")
	gaugeUnreadable = gauge("movement_unreadable", "Its records cannot be read; see GET of the movement.", "movement")

	allGauges = []*prometheus.Desc{gaugeMovements, gaugeDocuments, gaugeExpected, gaugeBytes, gaugeItems, gaugeRetries, gaugeWorkers,
		gaugeDocsRate, gaugeBytesRate, gaugeDone, gaugeLeft, gaugeHindrances, gaugeUnreadable, countRepairs}
)

// Describe names the gauges.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range allGauges {
		to <- desc
	}
}

// collectWithin is how long reading the records may take.
const collectWithin = 30 * time.Second

// Collect tells their values.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	for _, of := range g.service.Repairs() {
		for cause, n := range map[string]int64{"count": of.Count, "damage": of.Damage, "order": of.Order} {
			to <- prometheus.MustNewConstMetric(countRepairs, prometheus.CounterValue, float64(n), of.Index, strconv.Itoa(int(of.Shard)), cause)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), collectWithin)
	defer cancel()
	all, err := g.service.Movements(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(gaugeMovements, err)
		return
	}
	type group struct {
		kind  movement.Kind
		state movement.State
	}
	count := map[group]int{}
	for i := range all {
		count[group{all[i].Kind, all[i].State}]++
		if all[i].State.Ended() {
			continue
		}
		m, err := g.service.Look(ctx, all[i].ID)
		if err != nil || m.State.Unreadable() {
			// The others are told all the same.
			to <- prometheus.MustNewConstMetric(gaugeUnreadable, prometheus.GaugeValue, 1, all[i].ID)
			continue
		}
		collect(m, func(desc *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{m.ID}, labels...)...)
		})
	}
	for of, n := range count {
		to <- prometheus.MustNewConstMetric(gaugeMovements, prometheus.GaugeValue, float64(n), string(of.kind), string(of.state))
	}
}

// collect tells the numbers of one movement.
func collect(m *control.Movement, tell func(desc *prometheus.Desc, value float64, labels ...string)) {
	p := m.Progress
	if p == nil {
		return
	}
	for result, n := range map[string]int64{"read": p.Read, "acknowledged": p.Acknowledged, "conflict": p.Conflicts, "failed": p.Failed, "dropped": p.Dropped} {
		tell(gaugeDocuments, float64(n), result)
	}
	for state, n := range map[string]int{"waiting": p.Items.Waiting, "leased": p.Items.Leased, "done": p.Items.Done, "failed": p.Items.Failed} {
		tell(gaugeItems, float64(n), state)
	}
	tell(gaugeExpected, float64(p.Expected))
	tell(gaugeBytes, float64(p.Bytes))
	tell(gaugeRetries, float64(p.Retries))
	tell(gaugeWorkers, float64(p.Workers))
	tell(gaugeDocsRate, p.Rate.Documents)
	tell(gaugeBytesRate, p.Rate.Bytes)
	tell(gaugeDone, p.Fraction)
	tell(gaugeHindrances, float64(len(p.Hindrances)))
	if left, known := p.Pace.Left(); known {
		tell(gaugeLeft, left.Seconds())
	}
}
