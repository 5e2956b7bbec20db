package route

import (
	"math"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// maxSpelled is how many words a number is spelled in.
const maxSpelled = 16

// unit is the number that one word names below a hundred.
func unit(w string) (n int, ok bool) {
	small := [...]string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	tens := [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	for i, name := range small {
		if w == name {
			return i, true
		}
	}
	for i, name := range tens {
		if w == name {
			return 10 * (i + 2), true
		}
	}
	return 0, false
}

func scale(w string) int {
	switch w {
	case "hundred":
		return 100
	case "thousand":
		return 1_000
	case "million":
		return 1_000_000
	case "billion":
		return 1_000_000_000
	}
	return 0
}

// cardinal is the number that words spell: all of them, and nothing else.
func cardinal(list []word) (n int, ok bool) {
	total, group, tens := 0, 0, false
	for _, w := range list {
		if w.text == "and" {
			if !ok {
				return 0, false
			}
			tens = false
			continue
		}
		if u, is := unit(w.text); is {
			if u >= 20 && tens {
				return 0, false
			}
			group, tens, ok = group+u, u >= 20, true
			continue
		}
		by := scale(w.text)
		if by == 0 || total+max(group, 1) > math.MaxInt/by {
			return 0, false
		}
		tens, ok = false, true
		if by == 100 {
			group = max(group, 1) * by
			continue
		}
		total, group = total+max(group, 1)*by, 0
	}
	return total + group, ok
}

// spelledAt is the longest number that words from i on spell, and where it ends.
func spelledAt(list []word, i int) (n, end int, ok bool) {
	for end = min(len(list), i+maxSpelled); end > i; end-- {
		if list[end-1].text == "and" {
			continue
		}
		if n, ok := cardinal(list[i:end]); ok {
			return n, end, true
		}
	}
	return 0, i, false
}

// parseInt takes the first number in digits, else the first that is spelled.
func parseInt(list []word, _ *program.Slot, _ surroundings) (found, bool) {
	for i, w := range list {
		if n, err := strconv.Atoi(w.text); err == nil && digits(w.text) {
			return found{value.Of(n), i, i + 1}, true
		}
	}
	for i, w := range list {
		if w.stop {
			continue
		}
		if n, end, ok := spelledAt(list, i); ok {
			return found{value.Of(n), i, end}, true
		}
	}
	return found{}, false
}

// parseFloat takes the first number with or without a fraction, else one that is spelled.
func parseFloat(list []word, s *program.Slot, env surroundings) (found, bool) {
	for i, w := range list {
		if f, err := strconv.ParseFloat(w.text, 64); err == nil && w.number() && !math.IsInf(f, 0) {
			return found{value.Of(f), i, i + 1}, true
		}
	}
	return parseInt(list, s, env)
}

// parseMoney takes an amount in whole dollars: the first that says so, else the first
// number.
func parseMoney(list []word, _ *program.Slot, _ surroundings) (found, bool) {
	for i := range list {
		if n, end, ok := amountAt(list, i); ok && end < len(list) && coin(list[end].text) {
			return found{value.Of(n), i, end + 1}, true
		}
	}
	for i, w := range list {
		if n, ok := dollars(w.text); ok {
			return found{value.Of(n), i, i + 1}, true
		}
	}
	return found{}, false
}

func amountAt(list []word, i int) (n, end int, ok bool) {
	if n, ok := dollars(list[i].text); ok {
		return n, i + 1, true
	}
	if list[i].stop {
		return 0, i, false
	}
	return spelledAt(list, i)
}

func coin(w string) bool {
	switch w {
	case "dollar", "dollars", "buck", "bucks":
		return true
	}
	return false
}

// dollars reads digits with or without cents, and rounds.
func dollars(w string) (int, bool) {
	f, err := strconv.ParseFloat(w, 64)
	if err != nil || f > 1e15 || !digits(strings.Replace(w, ".", "", 1)) {
		return 0, false
	}
	return int(math.Round(f)), true
}
