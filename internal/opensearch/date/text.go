package date

// A name is what a value of a field is called.
type name struct {
	text  string
	value int64
}

var (
	months = []string{"January", "February", "March", "April", "May", "June", "July", "August",
		"September", "October", "November", "December"}
	weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	numbers  = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}
	halves   = []name{{"AM", 0}, {"PM", 1}}
	initials = []name{{"a", 0}, {"p", 1}}
)

// namesOf are the names of a field in the root locale, as the server has them:
// English for months and days. Letters is 3 for short, 4 for full and 5 for
// narrow names.
func namesOf(f field, letters int, standalone bool) []name {
	switch f {
	case month:
		return list(months, numbers, letters)
	case weekday:
		return list(weekdays, []string{"M", "T", "W", "T", "F", "S", "S"}, letters)
	case quarter:
		if standalone || letters == 5 {
			return list(nil, numbers[:4], 5)
		}
		return list([]string{"Q1", "Q2", "Q3", "Q4"}, nil, 4)
	}
	return [...][]name{3: {{"BC", 0}, {"AD", 1}}, 4: {{"BCE", 0}, {"CE", 1}}, 5: {{"B", 0}, {"A", 1}}}[letters]
}

func list(full, narrow []string, letters int) (names []name) {
	from := full
	if letters == 5 {
		from = narrow
	}
	for i, text := range from {
		if letters == 3 {
			text = text[:3]
		}
		names = append(names, name{text, int64(i + 1)})
	}
	return names
}
