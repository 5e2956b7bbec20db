package route

import (
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// parseDate takes a day: today, in three days, next monday, last week, march 3, 3 march
// 2027, 2027-03-15, 3/15/2027. The value is a text like 2027-03-15. A day without a year is
// the next one.
func parseDate(list []word, _ *program.Slot, env surroundings) (found, bool) {
	y, m, d := env.today.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	for i := range list {
		for _, read := range []func([]word, time.Time) (time.Time, int){nearDay, inDays, nextDay, monthDay, numericDay} {
			if day, n := read(list[i:], today); n > 0 {
				return found{value.Of(day.Format(time.DateOnly)), i, i + n}, true
			}
		}
	}
	return found{}, false
}

func nearDay(list []word, today time.Time) (time.Time, int) {
	switch list[0].text {
	case "today":
		return today, 1
	case "tomorrow":
		return today.AddDate(0, 0, 1), 1
	case "yesterday":
		return today.AddDate(0, 0, -1), 1
	}
	return today, 0
}

// maxDays is how far a day may lie from now.
const maxDays = 1_000_000

func inDays(list []word, today time.Time) (time.Time, int) {
	if list[0].text != "in" || len(list) < 3 {
		return today, 0
	}
	n, end, ok := 0, 2, false
	if a, err := strconv.Atoi(list[1].text); err == nil && digits(list[1].text) {
		n, ok = a, true
	} else {
		n, end, ok = spelledAt(list, 1)
	}
	if !ok || end >= len(list) || n > maxDays {
		return today, 0
	}
	switch list[end].stem {
	case "day":
		return today.AddDate(0, 0, n), end + 1
	case "week":
		return today.AddDate(0, 0, 7*n), end + 1
	}
	return today, 0
}

func nextDay(list []word, today time.Time) (time.Time, int) {
	if len(list) < 2 {
		return today, 0
	}
	switch list[0].text + " " + list[1].text {
	case "next week":
		return today.AddDate(0, 0, 7), 2
	case "last week":
		return today.AddDate(0, 0, -7), 2
	}
	if list[0].text != "next" {
		return today, 0
	}
	for n := 1; n <= 7; n++ {
		if day := today.AddDate(0, 0, n); strings.EqualFold(day.Weekday().String(), list[1].text) {
			return day, 2
		}
	}
	return today, 0
}

// monthDay reads march 3, march the 3rd 2027, 3 march 2027.
func monthDay(list []word, today time.Time) (time.Time, int) {
	at := func(i int) (word, int) {
		for ; i < len(list); i++ {
			if !list[i].stop {
				return list[i], i + 1
			}
		}
		return word{}, 0
	}
	a, i := at(0)
	b, j := at(i)
	if i != 1 || j == 0 {
		return today, 0
	}
	month, ok := monthOf(a.text)
	day := b
	if !ok {
		if month, ok = monthOf(b.text); !ok {
			return today, 0
		}
		day = a
	}
	n := dayOf(day.text)
	if n == 0 {
		return today, 0
	}
	if c, k := at(j); k > 0 && len(c.text) == 4 && digits(c.text) {
		year, _ := strconv.Atoi(c.text) // they are digits
		return date(year, month, n, k)
	}
	found, end := date(today.Year(), month, n, j)
	if end > 0 && found.Before(today) {
		found, end = date(today.Year()+1, month, n, j)
	}
	return found, end
}

func monthOf(w string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if w == name || w == name[:3] {
			return m, true
		}
	}
	return 0, false
}

func dayOf(w string) int {
	for _, end := range []string{"st", "nd", "rd", "th"} {
		w = strings.TrimSuffix(w, end)
	}
	if n, err := strconv.Atoi(w); err == nil && digits(w) && n <= 31 {
		return n
	}
	return 0
}

// numericDay reads year, month and day, or month, day and year. A year has four digits: 03
// 04 05 might be anything.
func numericDay(list []word, today time.Time) (time.Time, int) {
	if len(list) < 3 {
		return today, 0
	}
	var n [3]int
	for i := range n {
		if !digits(list[i].text) || len(list[i].text) > 4 {
			return today, 0
		}
		n[i], _ = strconv.Atoi(list[i].text) // they are digits
	}
	switch {
	case len(list[0].text) == 4:
		return date(n[0], time.Month(n[1]), n[2], 3)
	case len(list[2].text) == 4:
		return date(n[2], time.Month(n[0]), n[1], 3)
	}
	return today, 0
}

// date is a day that is in the calendar, and length; else nothing.
func date(year int, month time.Month, day, length int) (time.Time, int) {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if year < 1000 || t.Month() != month || t.Day() != day {
		return t, 0
	}
	return t, length
}
