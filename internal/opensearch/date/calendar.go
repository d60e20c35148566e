package date

// Arithmetic of the proleptic ISO calendar in days since 1970-01-01.

const secondsOfDay = 86400

// divide rounds towards negative infinity; the rest is never negative.
func divide(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}

func leap(y int64) bool { return y&3 == 0 && (y%100 != 0 || y%400 == 0) }

func daysOfMonth(y, m int64) int64 {
	switch {
	case m == 2 && leap(y):
		return 29
	case m == 2:
		return 28
	case m == 4 || m == 6 || m == 9 || m == 11:
		return 30
	}
	return 31
}

func daysOfYear(y int64) int64 {
	if leap(y) {
		return 366
	}
	return 365
}

// epochDay is the day of a date whose month and day are in range. The year is
// counted from March, so that the leap day ends it; 400 years are 146097 days.
func epochDay(y, m, d int64) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	cycle, y := divide(y, 400)
	return cycle*146097 + y*365 + y/4 - y/100 + (153*(m-3)+2)/5 + d - 1 - 719468
}

// civil is the date of a day.
func civil(epochDay int64) (y, m, d int64) {
	cycle, days := divide(epochDay+719468, 146097)
	years := (days - days/1460 + days/36524 - days/146096) / 365
	days -= years*365 + years/4 - years/100
	march := (5*days + 2) / 153
	y, m, d = cycle*400+years, march+3, days-(153*march+2)/5+1
	if m > 12 {
		y, m = y+1, m-12
	}
	return y, m, d
}

// weekdayOf is 1 on Mondays and 7 on Sundays.
func weekdayOf(epochDay int64) int64 {
	_, rest := divide(epochDay+3, 7)
	return rest + 1
}

// weekOf is the week-based year and the week of a day: weeks begin on Monday
// and belong to the year that has four of their days or more.
func weekOf(epochDay_ int64) (y, w int64) {
	thursday := epochDay_ - weekdayOf(epochDay_) + 4
	y, _, _ = civil(thursday)
	return y, (thursday-epochDay(y, 1, 1))/7 + 1
}

// weeksOf is the number of weeks of a week-based year.
func weeksOf(y int64) int64 {
	_, w := weekOf(epochDay(y, 12, 28))
	return w
}

// mondayOf is the first day of a week of a week-based year.
func mondayOf(y, w int64) int64 {
	fourth := epochDay(y, 1, 4)
	return fourth - weekdayOf(fourth) + 1 + (w-1)*7
}

// plusMonths moves a date, and its day down to the last of the month.
func plusMonths(y, m, d, months int64) int64 {
	years, m := divide(m-1+months, 12)
	y, m = y+years, m+1
	return epochDay(y, m, min(d, daysOfMonth(y, m)))
}
