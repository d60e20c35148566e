package work

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the lease in a few words, the same for the same lease; times are UTC.
//
//	waiting exponent=0 attempts=0
//	w1 until=03:10:00 heard=03:04:55 exponent=1 attempts=1
//	failed attempts=4 cause="no answer"
func (l Lease) String() string {
	words := []string{"waiting"}
	switch {
	case l.State != Waiting:
		words[0] = string(l.State)
	case l.LeaseHolderID != "":
		words = []string{l.LeaseHolderID, "until=" + clock(l.Expiration), "heard=" + clock(l.HeartbeatAt)}
	}
	if l.State != Done {
		words = append(words, fmt.Sprintf("exponent=%d attempts=%d", l.NextAcquisitionLeaseExponent, l.Attempts))
	}
	if l.Cause != "" {
		words = append(words, "cause="+strconv.Quote(l.Cause))
	}
	return strings.Join(words, " ")
}

// String is the item in a line: its name, its range and cursor, its successor, its lease.
//
//	books__0__0 0..1000 at 400 then books__0__400: done
func (i Item) String() string {
	end := "end"
	if i.End != ToEnd {
		end = strconv.FormatInt(i.End, 10)
	}
	s := fmt.Sprintf("%s %d..%s at %d", i.Name(), i.Start, end, i.Cursor)
	if i.Named() {
		s += " then " + strings.Join(i.SuccessorWorkItems, ",")
	}
	return s + ": " + i.Lease.String()
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.999") }
