package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/reshelve/reshelve/internal/movement"
	"github.com/reshelve/reshelve/internal/movement/migrate"
)

// limits are what an operator has allowed, and what came to the target under them.
type limits struct {
	world     *migration
	rate      float64       // documents a second; 0: any number
	from, to  time.Duration // of the hours, since the run began; both 0: always
	since     time.Time     // when that was asked for
	documents int           // that came since then
}

// change asks for other limits. What an operator asked for before stays, as the faces do it.
func (l *limits) change(m Mishap) {
	l.settle()
	var hours migrate.Hours
	if m.What == "limit" {
		l.rate, _ = strconv.ParseFloat(m.Whom, 64)
	} else {
		from, to, _ := strings.Cut(m.Whom, "-")
		l.from, l.to = clock(from), clock(to)
	}
	if l.to > 0 {
		_ = hours.UnmarshalText([]byte(clockText(l.from) + "-" + clockText(l.to))) // the script was checked
	}
	l.since, l.documents = time.Now(), 0
	l.world.operator.ask(movement.Throttle, migrate.Limits{DocumentsPerSecond: l.rate, Hours: hours}.JSON())
}

func clock(text string) time.Duration {
	at, _ := time.Parse("15:04", text)
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
}

func clockText(d time.Duration) string { return time.Time{}.Add(d).Format("15:04") }

// calm tells whether nothing befalls the fleet that would let it hear late of new limits.
func (l *limits) calm() bool {
	for _, m := range l.world.script.Mishaps {
		switch m.What {
		case "pause", "store", "clock", "skew", "crash", "stop", "crash-before", "crash-after":
			return false
		}
	}
	return true
}

// grace is until when a worker may not have heard of a change: three heartbeats, and what was on its way.
func (l *limits) grace() time.Duration {
	return 3*l.world.script.Heartbeat + 4*l.world.script.Takes + 10*time.Second
}

// sent looks at a bulk request that comes to the target.
func (l *limits) sent(documents int) {
	w, now := l.world, time.Since(l.world.began)
	if l.since.IsZero() || time.Since(l.since) < l.grace() || !l.calm() {
		return
	}
	l.documents += documents
	if l.to > 0 && (now < l.from || now > l.to+l.grace()) {
		w.violate("limits", "documents come outside of the hours from %s to %s", l.from, l.to)
	}
}

// settle is asked when the limits change, and at the end: no more came than was allowed. Each
// slot may have had a request in its hands.
func (l *limits) settle() {
	if l.rate == 0 || l.since.IsZero() || !l.calm() {
		return
	}
	s := l.world.script
	most := l.rate*time.Since(l.since).Seconds()*1.1 + float64(s.Workers*s.Slots*2)
	if float64(l.documents) > most {
		l.world.violate("limits", "%d documents came within %s, and %v a second were allowed", l.documents, time.Since(l.since), l.rate)
	}
}
