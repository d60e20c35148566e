package translate

import "strings"

// dateFormat translates the format of a date: alternatives with || between them. A dynamic
// one is of those by which texts are taken for dates.
func (t *translation) dateFormat(format, where string, dynamic bool) (string, bool) {
	if format == "" || strings.HasPrefix(format, "{") {
		return format, false
	}
	joda, camel := t.needs("joda-date"), t.needs("date-name")
	parts := strings.Split(format, "||")
	var out []string
	for _, part := range parts {
		name, named := snake(part)
		switch {
		case named && camel && name != part:
			t.tell("date-name", where, part+" becomes "+name)
			out = append(out, name)
		case named || !joda && !strings.HasPrefix(part, "8"):
			out = append(out, part)
		case strings.HasPrefix(part, "8"): // it was java's already
			if !t.needs("java-mark") {
				out = append(out, part)
				continue
			}
			t.tell("java-mark", where, part+" becomes "+part[1:])
			out = append(out, part[1:])
		default:
			out = append(out, t.pattern(part, where)...)
		}
	}
	if !dynamic && t.needs("date-numbers") && !strings.Contains(format, "epoch_") {
		t.tell("date-numbers", where, "epoch_millis is added: numbers were taken")
		out = append(out, "epoch_millis")
	}
	if len(out) == 0 {
		out = []string{"strict_date_optional_time"}
	}
	result := strings.Join(out, "||")
	return result, result != format
}

// pattern translates a pattern of Joda's letters. Where it took numbers of one digit for
// those of two, the second alternative does.
func (t *translation) pattern(part, where string) []string {
	java, short, unknown := javaPattern(part)
	if unknown != "" {
		t.tell("date-letter", where, part+" is left out: java has no letter "+unknown)
		return nil
	}
	if java != part {
		t.tell("joda-date", where, part+" becomes "+java)
	}
	if short == "" {
		return []string{java}
	}
	t.tell("joda-digits", where, short+" is added: one digit was taken for two")
	return []string{java, short}
}

// javaPattern makes of a pattern for Joda-Time one for java.time, by the tables of letters
// in the documentation of both. Short reads what has one digit instead of two; it is empty
// where numbers stand side by side or nothing differs.
func javaPattern(joda string) (java, short, unknown string) {
	var long, brief strings.Builder
	adjacent, differs, number := false, false, false
	for i := 0; i < len(joda); {
		c := joda[i]
		n := 1
		for i+n < len(joda) && joda[i+n] == c {
			n++
		}
		switch {
		case c == '\'':
			end := strings.IndexByte(joda[i+1:], '\'')
			if end < 0 {
				end = len(joda) - i - 2
			}
			text := joda[i : i+end+2]
			long.WriteString(text)
			brief.WriteString(text)
			i += len(text)
			number = false
			continue
		case !isLetter(c):
			text := joda[i : i+n]
			if strings.IndexByte("[]{}#", c) >= 0 {
				text = "'" + text + "'"
			}
			long.WriteString(text)
			brief.WriteString(text)
			i += n
			number = false
			continue
		}
		letters := joda[i : i+n]
		i += n
		was := number
		number = strings.IndexByte("yYuxMdDHhkKmsSwe", c) >= 0 && (c != 'M' || n <= 2)
		adjacent = adjacent || was && number
		letters, ok := javaLetters(c, letters)
		if !ok {
			return "", "", string(c)
		}
		long.WriteString(letters)
		if strings.IndexByte("MdHhkKms", c) >= 0 && n == 2 {
			differs = true
			letters = letters[:1]
		}
		brief.WriteString(letters)
	}
	if adjacent || !differs {
		return long.String(), "", ""
	}
	return long.String(), brief.String(), ""
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// javaLetters is what stands in java.time for letters of Joda-Time.
func javaLetters(c byte, letters string) (string, bool) {
	switch c {
	case 'Y': // year of era
		return strings.Repeat("y", len(letters)), true
	case 'x': // year of the week
		return strings.Repeat("Y", len(letters)), true
	case 'y', 'M', 'd', 'D', 'H', 'h', 'k', 'K', 'm', 's', 'S', 'E', 'a', 'G', 'w', 'e', 'z':
		return letters, true
	case 'Z':
		switch len(letters) {
		case 1:
			return "XX", true
		case 2:
			return "XXX", true
		}
		return "VV", true
	}
	return "", false // C, the century, and what was no letter of Joda's
}

// camels are the named formats that were also written in camel case.
var camels = func() map[string]string {
	names := map[string]string{}
	for _, name := range strings.Fields(`basic_date basic_date_time basic_date_time_no_millis basic_ordinal_date basic_ordinal_date_time
		basic_ordinal_date_time_no_millis basic_time basic_time_no_millis basic_t_time basic_t_time_no_millis basic_week_date basic_week_date_time
		basic_week_date_time_no_millis date date_hour date_hour_minute date_hour_minute_second date_hour_minute_second_fraction
		date_hour_minute_second_millis date_optional_time date_time date_time_no_millis hour hour_minute hour_minute_second
		hour_minute_second_fraction hour_minute_second_millis ordinal_date ordinal_date_time ordinal_date_time_no_millis time time_no_millis
		t_time t_time_no_millis week_date week_date_time week_date_time_no_millis weekyear week_year weekyear_week weekyear_week_day year year_month
		year_month_day epoch_millis epoch_second strict_basic_week_date strict_basic_week_date_time strict_basic_week_date_time_no_millis strict_date
		strict_date_hour strict_date_hour_minute strict_date_hour_minute_second strict_date_hour_minute_second_fraction
		strict_date_hour_minute_second_millis strict_date_optional_time strict_date_optional_time_nanos strict_date_time strict_date_time_no_millis
		strict_hour strict_hour_minute strict_hour_minute_second strict_hour_minute_second_fraction strict_hour_minute_second_millis
		strict_ordinal_date strict_ordinal_date_time strict_ordinal_date_time_no_millis strict_time strict_time_no_millis strict_t_time
		strict_t_time_no_millis strict_week_date strict_week_date_time strict_week_date_time_no_millis strict_weekyear strict_weekyear_week
		strict_weekyear_week_day strict_year strict_year_month strict_year_month_day iso8601 rfc3339_lenient`) {
		names[name] = name
		words := strings.Split(name, "_")
		for i, word := range words[1:] {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
		names[strings.Join(words, "")] = name
	}
	return names
}()

// snake is a named format in snake case.
func snake(format string) (name string, named bool) {
	name, named = camels[format]
	return name, named
}
