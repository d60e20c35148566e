package date

import "github.com/reshelve/reshelve/internal/opensearch/exception"

// resolveTime turns the many ways to tell an hour into one.
func (r *resolved) resolveTime() *exception.Error {
	if err := r.resolveHour(); err != nil {
		return err
	}
	if n, ok := r.take(nanoOfDay); ok {
		if err := nanoOfDay.check(n); err != nil {
			return err
		}
		return r.addTime(n)
	}
	if n, ok := r.take(milliOfDay); ok {
		if err := milliOfDay.check(n); err != nil {
			return err
		}
		rest, has := r.get(nano)
		if has {
			n = n/1000*1000 + rest/1e6
		}
		if err := r.addTime(n / 1000 * 1e9); err != nil && !has {
			return err
		}
		if !has {
			r.put(nano, n%1000*1e6)
		}
	}
	if n, ok := r.get(nano); ok {
		if err := nano.check(n); err != nil {
			return err
		}
	}
	if r.has(hour) && r.has(minute) && r.has(second) && r.has(nano) {
		return r.setTime()
	}
	return nil
}

func (r *resolved) resolveHour() *exception.Error {
	if n, ok := r.take(clockHour); ok {
		if r.strict || n != 0 {
			if err := clockHour.check(n); err != nil {
				return err
			}
		}
		if err := r.addFrom(clockHour, hour, n%24); err != nil {
			return err
		}
	}
	if n, ok := r.take(clockHourOfHalf); ok {
		if r.strict || n != 0 {
			if err := clockHourOfHalf.check(n); err != nil {
				return err
			}
		}
		if err := r.addFrom(clockHourOfHalf, hourOfHalf, n%12); err != nil {
			return err
		}
	}
	if !r.has(half) || !r.has(hourOfHalf) {
		return nil
	}
	ap, _ := r.take(half)
	n, _ := r.take(hourOfHalf)
	if err := half.check(ap); err != nil {
		return err
	}
	if err := hourOfHalf.check(n); err != nil {
		return err
	}
	return r.addFrom(half, hour, ap*12+n)
}

// addFrom is add for a value that another field gave.
func (r *resolved) addFrom(source, f field, value int64) *exception.Error {
	if err := r.add(f, value); err != nil {
		return exception.New(exception.DateTime, "%s while resolving  %s", err.Reason, traits[source].name)
	}
	return nil
}

// addTime adds the parts of a time of the day in nanoseconds.
func (r *resolved) addTime(n int64) *exception.Error {
	seconds := n / 1e9
	for _, part := range [...]fieldValue{{hour, seconds / 3600}, {minute, seconds / 60 % 60}, {second, seconds % 60}} {
		if err := r.add(part.field, part.value); err != nil {
			return err
		}
	}
	if rest := n % 1e9; rest != 0 || !r.has(nano) {
		r.put(nano, rest)
	}
	return nil
}

// fillTime makes a time of an hour with or without smaller parts, and checks
// what is left.
func (r *resolved) fillTime() *exception.Error {
	gap := !r.has(minute) && (r.has(second) || r.has(nano)) || r.has(minute) && !r.has(second) && r.has(nano)
	if !r.hasNanos && r.has(hour) {
		if gap {
			return nil // no time, and not looked at
		}
		for _, f := range [...]field{minute, second, nano} {
			if !r.has(f) {
				r.put(f, 0)
			}
		}
		if err := r.setTime(); err != nil {
			return err
		}
	}
	for f := range fields {
		if n, ok := r.get(f); ok && traits[f].timeOfDay && !r.lenient {
			if err := f.check(n); err != nil {
				return err
			}
		}
	}
	if r.hasDay && r.hasNanos {
		r.day += r.extraDays
		r.extraDays = 0
	}
	return nil
}

func (r *resolved) setTime() *exception.Error {
	h, _ := r.take(hour)
	m, _ := r.take(minute)
	s, _ := r.take(second)
	n, _ := r.take(nano)
	if r.lenient {
		total := h*3600 + m*60 + s
		r.extraDays, total = divide(total, secondsOfDay)
		r.nanos, r.hasNanos = total*1e9+n, true
		return nil
	}
	if err := minute.check(m); err != nil {
		return err
	}
	if err := nano.check(n); err != nil {
		return err
	}
	r.hasNanos = true
	if !r.strict && h == 24 && m == 0 && s == 0 && n == 0 {
		r.nanos, r.extraDays = 0, 1
		return nil
	}
	if err := hour.check(h); err != nil {
		return err
	}
	if err := second.check(s); err != nil {
		return err
	}
	r.nanos = (h*3600+m*60+s)*1e9 + n
	return nil
}
