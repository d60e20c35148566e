package date

import "strings"

// names are the named formats of OpenSearch 2.19, in the notation of compile:
// how each writes, and the ways in which it reads (none: as it writes). "~"
// stands before a layout that moves 31 April to the 30th and knows 24:00, "~~"
// before one that takes the 45th day of a month, "@" before one whose dates are
// of UTC. Seen as the descriptions that the server's own formatters give of
// themselves.
var names = [...]struct {
	name  string
	write string
	read  []string
}{
	{"iso8601", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3}]][XXX]]]", []string{"u{4-10+}[-MM[-dd]]['T'[HH[:mm[:ss[S{.1-9}][,S{1-9}]]]][VV][X]]"}},
	{"rfc3339_lenient", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3}]][XXX]]]", nil},
	{"basic_date", "u{4-}MMdd", []string{"@u{1-4-}M{1-2}d{1-2}"}},
	{"basic_date_time", "u{4-}MMdd'T'HHmmssS{.3}XXX", []string{"u{4-}MMdd'T'HHmmssS{.1-9}VV", "u{4-}MMdd'T'HHmmssS{.1-9}X"}},
	{"basic_date_time_no_millis", "u{4-}MMdd'T'HHmmssXXX", []string{"u{4-}MMdd'T'HHmmssVV", "u{4-}MMdd'T'HHmmssX"}},
	{"basic_ordinal_date", "~uuuuDDD", nil},
	{"basic_ordinal_date_time", "yyyyDDD'T'HHmmssS{.3}XXX", []string{"yyyyDDD'T'HHmmssS{.1-9}VV", "yyyyDDD'T'HHmmssS{.1-9}X"}},
	{"basic_ordinal_date_time_no_millis", "uuuuDDD'T'HHmmssXXX", []string{"uuuuDDD'T'HHmmssVV", "uuuuDDD'T'HHmmssX"}},
	{"basic_time", "HHmmssS{.3}XXX", []string{"HHmmssS{.1-9}VV", "HHmmssS{.1-9}X"}},
	{"basic_time_no_millis", "HHmmssXXX", []string{"HHmmssVV", "HHmmssX"}},
	{"basic_t_time", "'T'HHmmssS{.3}XXX", []string{"'T'HHmmssS{.1-9}VV", "~'T'HHmmssS{.1-9}X"}},
	{"basic_t_time_no_millis", "'T'HHmmssXXX", []string{"'T'HHmmssVV", "'T'HHmmssX"}},
	{"basic_week_date", "IIII'W'J{2}i", []string{"I'W'J{1-2}i"}},
	{"basic_week_date_time", "IIII'W'J{2}i'T'HHmmss.SSSX", []string{"I'W'J{1-2}i'T'HHmmssS{.1-9}VV", "I'W'J{1-2}i'T'HHmmssS{.1-9}X"}},
	{"basic_week_date_time_no_millis", "IIII'W'J{2}i'T'HHmmssX", []string{"I'W'J{1-2}i'T'HHmmssVV", "I'W'J{1-2}i'T'HHmmssX"}},
	{"date", "u{4-10+}-MM-dd", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]"}},
	{"date_hour", "uuuu-MM-dd'T'HH", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}"}},
	{"date_hour_minute", "uuuu-MM-dd'T'HH:mm", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}"}},
	{"date_hour_minute_second", "uuuu-MM-dd'T'HH:mm:ss", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}:s{1-2}"}},
	{"date_hour_minute_second_fraction", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.3}", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}:s{1-2}S{.1-9}"}},
	{"date_hour_minute_second_millis", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.3}", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}:s{1-2}S{.1-3}"}},
	{"date_optional_time", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3}]][XXX]]]", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]['T'[H{1-2}[:m{1-2}[:s{1-2}][S{.1-9}][,S{1-9}][VV][X]]]]"}},
	{"date_time", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3}]][XXX]]]", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}S{.1-9}]XXX", "u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}S{.1-9}]X"}},
	{"date_time_no_millis", "u{4-10+}-MM-dd'T'HH:mm:ssVV", []string{"u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}]XXX", "u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}]X", "u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}][VV]", "u{1-5-}[-M{1-2}[-d{1-2}]]'T'H{1-2}:m{1-2}[:s{1-2}][X]"}},
	{"hour", "HH", []string{"H{1-2}"}},
	{"hour_minute", "HH:mm", []string{"H{1-2}:m{1-2}"}},
	{"hour_minute_second", "HH:mm:ss", []string{"H{1-2}:m{1-2}:s{1-2}"}},
	{"hour_minute_second_fraction", "HH:mm:ssS{.3}", []string{"H{1-2}:m{1-2}:s{1-2}S{.1-9}"}},
	{"hour_minute_second_millis", "HH:mm:ssS{.3}", []string{"H{1-2}:m{1-2}:s{1-2}S{.1-3}"}},
	{"ordinal_date", "u{4-10+}-DDD", []string{"u{4-10+}-D{1-3}"}},
	{"ordinal_date_time", "u{4-10+}-DDD'T'HH:mm[:ssS{.3-9}]XXX", []string{"u{4-10+}-D{1-3}'T'H{1-2}:m{1-2}[:s{1-2}S{.1-9}]VV", "u{4-10+}-D{1-3}'T'H{1-2}:m{1-2}[:s{1-2}S{.1-9}]X"}},
	{"ordinal_date_time_no_millis", "u{4-10+}-DDD'T'HH:mm:ssXXX", []string{"u{4-10+}-D{1-3}'T'H{1-2}:m{1-2}:s{1-2}VV", "u{4-10+}-D{1-3}'T'H{1-2}:m{1-2}:s{1-2}X"}},
	{"time", "HH:mm:ssS{.3}XXX", []string{"H{1-2}:m{1-2}:s{1-2}S{.1-9}VV", "H{1-2}:m{1-2}:s{1-2}S{.1-9}X"}},
	{"time_no_millis", "HH:mm:ssXXX", []string{"H{1-2}:m{1-2}:s{1-2}VV", "H{1-2}:m{1-2}:s{1-2}X"}},
	{"t_time", "'T'HH:mm:ssS{.3}XXX", []string{"'T'H{1-2}:m{1-2}:s{1-2}S{.1-9}VV", "'T'H{1-2}:m{1-2}:s{1-2}S{.1-9}X"}},
	{"t_time_no_millis", "'T'HH:mm:ssXXX", []string{"'T'H{1-2}:m{1-2}:s{1-2}VV", "'T'H{1-2}:m{1-2}:s{1-2}X"}},
	{"week_date", "{i}I{4-10+}'-W'JJ-i{1}", []string{"I{4-10+}'-W'J{1-2}-i{1}"}},
	{"week_date_time", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssS{.3}XXX", []string{"I{4-10+}'-W'J{1-2}-i{1}'T'H{1-2}:m{1-2}:s{1-2}S{.1-9}VV", "I{4-10+}'-W'J{1-2}-i{1}'T'H{1-2}:m{1-2}:s{1-2}S{.1-9}X"}},
	{"week_date_time_no_millis", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssXXX", []string{"I{4-10+}'-W'J{1-2}-i{1}'T'H{1-2}:m{1-2}:s{1-2}VV", "I{4-10+}'-W'J{1-2}-i{1}'T'H{1-2}:m{1-2}:s{1-2}X"}},
	{"week_year", "Y", nil},
	{"weekyear", "Y", nil},
	{"weekyear_week", "Y{4-10+}'-W'ww", []string{"Y'-W'w"}},
	{"weekyear_week_day", "Y{4-10+}'-W'ww-e", []string{"Y'-W'w-e"}},
	{"year", "u", nil},
	{"year_month", "u{4-10+}-MM", []string{"u-M"}},
	{"year_month_day", "u{4-10+}[-MM[-dd]]", []string{"u-M-d"}},
	{"strict_basic_week_date", "IIII'W'J{2}i", []string{"IIII'W'J{1-2}i"}},
	{"strict_basic_week_date_time", "IIII'W'J{2}i'T'HHmmss.SSSX", []string{"IIII'W'J{1-2}i'T'HHmmssS{.1-9}VV", "IIII'W'J{1-2}i'T'HHmmssS{.1-9}X"}},
	{"strict_basic_week_date_time_no_millis", "IIII'W'J{2}i'T'HHmmssXXX", []string{"IIII'W'J{2}i'T'HHmmssVV", "IIII'W'J{2}i'T'HHmmssX"}},
	{"strict_date", "~~u{4-10+}-MM-dd", nil},
	{"strict_date_hour", "~uuuu-MM-dd'T'HH", nil},
	{"strict_date_hour_minute", "~uuuu-MM-dd'T'HH:mm", nil},
	{"strict_date_hour_minute_second", "~uuuu-MM-dd'T'HH:mm:ss", nil},
	{"strict_date_hour_minute_second_fraction", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.3}", []string{"u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.1-9}"}},
	{"strict_date_hour_minute_second_millis", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.3}", []string{"u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.1-9}"}},
	{"strict_date_optional_time", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3}]][XXX]]]", []string{"u{4-10+}[-MM[-dd]]['T'[HH[:mm[:ss[S{.1-9}][,S{1-9}]]][VV][X]]]"}},
	{"strict_date_optional_time_nanos", "u{4-10+}[-MM[-dd]]'T'[HH[:mm[:ss[S{.3-9}]][XXX]]]", []string{"u{4-10+}[-MM[-dd]]['T'HH:mm:ss[S{.1-9}][,S{1-9}][VV][X]]"}},
	{"strict_date_time", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssS{.3-9}XXX", []string{"u{4-10+}[-MM[-dd]]'T'HH:mm:ss[S{.1-9}]VV", "u{4-10+}[-MM[-dd]]'T'HH:mm:ss[S{.1-9}]X"}},
	{"strict_date_time_no_millis", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssXXX", []string{"u{4-10+}[-MM[-dd]]'T'HH:mm:ssVV", "u{4-10+}[-MM[-dd]]'T'HH:mm:ssX"}},
	{"strict_hour", "~HH", nil},
	{"strict_hour_minute", "~HH:mm", nil},
	{"strict_hour_minute_second", "HH:mm:ss", nil},
	{"strict_hour_minute_second_fraction", "HH:mm:ssS{.3}", []string{"HH:mm:ssS{.1-9}"}},
	{"strict_hour_minute_second_millis", "HH:mm:ssS{.3}", []string{"HH:mm:ssS{.1-9}"}},
	{"strict_ordinal_date", "{i}u{4-10+}-DDD", nil},
	{"strict_ordinal_date_time", "u{4-10+}-DDD'T'HH:mm[:ssS{.3-9}]XXX", []string{"u{4-10+}-DDD'T'HH:mm[:ssS{.1-9}]VV", "u{4-10+}-DDD'T'HH:mm[:ssS{.1-9}]X"}},
	{"strict_ordinal_date_time_no_millis", "u{4-10+}-DDD'T'HH:mm:ssXXX", []string{"u{4-10+}-DDD'T'HH:mm:ssVV", "u{4-10+}-DDD'T'HH:mm:ssX"}},
	{"strict_time", "HH:mm:ssS{.3}XXX", []string{"HH:mm:ssS{.1-9}VV", "HH:mm:ssS{.1-9}X"}},
	{"strict_time_no_millis", "HH:mm:ssXXX", []string{"HH:mm:ssVV", "HH:mm:ssX"}},
	{"strict_t_time", "'T'HH:mm:ssS{.3}XXX", []string{"'T'HH:mm:ssS{.1-9}VV", "'T'HH:mm:ssS{.1-9}X"}},
	{"strict_t_time_no_millis", "'T'HH:mm:ssXXX", []string{"'T'HH:mm:ssVV", "'T'HH:mm:ssX"}},
	{"strict_week_date", "{i}I{4-10+}'-W'JJ-i{1}", nil},
	{"strict_week_date_time", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssS{.3}XXX", []string{"{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssS{.1-9}VV", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssS{.1-9}X"}},
	{"strict_week_date_time_no_millis", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssXXX", []string{"{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssVV", "{i}I{4-10+}'-W'JJ-i{1}'T'HH:mm:ssX"}},
	{"strict_weekyear", "Y{4-10+}", nil},
	{"strict_weekyear_week", "Y{4-10+}'-W'ww", nil},
	{"strict_weekyear_week_day", "Y{4-10+}'-W'ww-e", nil},
	{"strict_year", "u{4-10+}", nil},
	{"strict_year_month", "u{4-10+}-MM", nil},
	{"strict_year_month_day", "u{4-10+}[-MM[-dd]]", nil},
}

var namedRows = func() map[string]int {
	m := make(map[string]int, len(names))
	for i := range names {
		m[names[i].name] = i
	}
	return m
}()

// named makes the layouts of a named format.
func named(text string) (parsers []*layout, printer *layout, ok bool) {
	switch text {
	case "epoch_millis":
		l := &layout{kind: millisOfEpoch}
		return []*layout{l, {kind: neverRead}}, l, true
	case "epoch_second":
		l := &layout{kind: secondsOfEpoch}
		return []*layout{l, {kind: neverRead}}, l, true
	}
	i, ok := namedRows[text]
	if !ok && text != "weekYear" && text != "rfc3339Lenient" {
		i, ok = namedRows[snakeCase(text)]
	}
	if !ok {
		return nil, nil, false
	}
	row := names[i]
	printer = notation(row.write)
	for _, pattern := range row.read {
		parsers = append(parsers, notation(pattern))
	}
	if parsers == nil {
		parsers = []*layout{printer}
	}
	switch row.name {
	case "strict_date_optional_time":
		parsers[0].kind = isoForms
	case "rfc3339_lenient":
		l := notation("u{1-5-}[-M{1-2}[-d{1-2}]]['T'H{1-2}:m{1-2}[:s{1-2}[S{.1-9}][,S{1-9}][XXXXX]]]") // rounds up
		l.kind = rfc3339
		parsers = []*layout{l}
	}
	return parsers, printer, true
}

// snakeCase makes strict_date_time of strictDateTime: names of the past, which
// the server still takes.
func snakeCase(text string) string {
	out := make([]byte, 0, len(text)+8)
	for i := range len(text) {
		if c := text[i]; c >= 'A' && c <= 'Z' {
			out = append(out, '_', c|0x20)
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}

// notation compiles a row of the table, which is known to be right: a test
// compiles them all.
func notation(pattern string) *layout {
	rest := strings.TrimLeft(pattern, "~@")
	l, err := compile(rest, true)
	if err != nil {
		panic(err)
	}
	switch marks := pattern[:len(pattern)-len(rest)]; marks {
	case "~":
		l.strict = false
	case "~~":
		l.strict, l.lenient = false, true
	case "@":
		l.utc = true
	}
	return l
}
