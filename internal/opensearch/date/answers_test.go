package date

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reshelve/reshelve/internal/opensearch/exception"
)

// testdata/answers.tsv.gz holds answers of OpenSearch 2.19.0: of its own classes
// DateFormatter and DateMathParser (on Java 17 with the locale providers that
// the server sets), called by a small Java program for each line:
//
//	parse  FORMAT  TEXT               → MILLIS NANOS
//	math   FORMAT  TEXT NOW up|down ZONE → MILLIS NANOS
//	write  FORMAT  MILLIS NANOS [ZONE]    → =TEXT
//	format FORMAT                     → ok
//	name   NAME NOW                   → =NAME
//
// or TYPE: REASON, and after each " <- " a cause. TestLiveDates and TestLiveNames ask a
// real server over HTTP for a part of them.
func TestAnswers(t *testing.T) {
	lines, wrong := 0, 0
	told := map[string]int{} // by format
	for _, cells := range questions(t) {
		lines++
		question, want := cells[:len(cells)-1], cells[len(cells)-1]
		if strings.Contains(want, "cannot be printed") {
			continue // we print such years
		}
		if got := answer(question); got != want && unordered(got) != unordered(want) {
			wrong++
			if told[cells[1]]++; told[cells[1]] <= 2 && len(told) <= 40 {
				t.Errorf("%s\n got %s\nwant %s", strings.Join(question, " | "), got, want)
			}
		}
	}
	if wrong > 0 || lines < 1000 {
		t.Errorf("%d of %d answers differ", wrong, lines)
	}
}

// questions are the lines of the file of answers; all cells but the last are
// unescaped.
func questions(t *testing.T) iter.Seq2[int, []string] {
	path := os.Getenv("RESHELVE_DATE_ANSWERS")
	if path == "" {
		path = "testdata/answers.tsv.gz"
	}
	return func(yield func(int, []string) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unpacked)
		for n := 1; lines.Scan(); n++ {
			cells := strings.Split(lines.Text(), "\t")
			for i := range cells[:len(cells)-1] {
				cells[i] = unescape.Replace(cells[i])
			}
			if !yield(n, cells) {
				return
			}
		}
	}
}

// unordered sorts the letters of a message that lists fields: the server gives
// them in an order that changes from start to start.
func unordered(message string) string {
	if !strings.Contains(strings.ToLower(message), "temporal accessor") && !strings.Contains(message, "TemporalAccessor") {
		return message
	}
	letters := []byte(message)
	slices.Sort(letters)
	return string(letters)
}

// answer gives our answer to a line.
func answer(cells []string) string {
	if cells[0] == "name" {
		now, _ := strconv.ParseInt(cells[2], 10, 64)
		name, err := ResolveNameIn(cells[1], now, time.LoadLocation)
		if err != nil {
			return chain(err)
		}
		return "=" + escape.Replace(name)
	}
	f, err := ParseFormat(cells[1])
	if err != nil {
		return chain(err)
	}
	switch cells[0] {
	case "parse":
		return point(f.Parse(cells[2]))
	case "math":
		now, _ := strconv.ParseInt(cells[3], 10, 64)
		location, err := location(cells[5])
		if err != nil {
			return err.Error()
		}
		return point(f.ParseMath(cells[2], now, cells[4] == "up", location))
	case "write":
		millis, _ := strconv.ParseInt(cells[2], 10, 64)
		nanos, _ := strconv.Atoi(cells[3])
		var in *time.Location
		if len(cells) > 4 {
			if in, err = location(cells[4]); err != nil {
				return err.Error()
			}
		}
		return "=" + escape.Replace(string(f.AppendFormat(nil, millis, nanos, in)))
	}
	return "ok"
}

var (
	escape   = strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r")
	unescape = strings.NewReplacer("\\\\", "\\", "\\t", "\t", "\\n", "\n", "\\r", "\r")
)

func location(name string) (*time.Location, error) {
	switch name {
	case "":
		return nil, nil
	case "Z":
		return time.UTC, nil
	}
	if name[0] == '+' || name[0] == '-' {
		t, err := time.Parse("-07:00", name)
		if err != nil {
			return nil, err
		}
		_, east := t.Zone()
		return time.FixedZone(name, east), nil
	}
	return time.LoadLocation(name)
}

func point(millis int64, nanos int, err error) string {
	if err != nil {
		return chain(err)
	}
	return fmt.Sprint(millis, " ", nanos)
}

func chain(err error) string {
	var e *exception.Error
	if !errors.As(err, &e) {
		return "no exception: " + err.Error()
	}
	var parts []string
	for ; e != nil; e = e.Cause {
		parts = append(parts, string(e.Type)+": "+e.Reason)
	}
	return escape.Replace(strings.Join(parts, " <- "))
}
