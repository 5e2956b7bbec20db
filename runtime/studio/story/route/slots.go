package route

import (
	"slices"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

// surroundings are what a value may depend on beside its words.
type surroundings struct {
	lexicon
	today time.Time
}

// A found is a value, and which words it was made of.
type found struct {
	value    value.Value
	from, to int
}

// A parser makes the value of a slot of words; not ok where there is none, or more than
// one.
type parser func(list []word, s *program.Slot, env surroundings) (found, bool)

// parserOf is nil for a type that only a model fills.
func parserOf(s *program.Slot) parser {
	switch s.Type {
	case "int":
		return parseInt
	case "float", "number":
		return parseFloat
	case "money", "$int":
		return parseMoney
	case "bool":
		return parseBool
	case "date":
		return parseDate
	case "enum":
		return parseEnum
	case "string", "":
		if len(s.Values) > 0 {
			return parseEnum
		}
		return parseText
	}
	if inner, ok := strings.CutPrefix(s.Type, "list["); ok && strings.HasSuffix(inner, "]") && !strings.HasPrefix(inner, "list[") {
		item := *s
		item.Type = strings.TrimSuffix(inner, "]")
		if one := parserOf(&item); one != nil {
			return func(list []word, _ *program.Slot, env surroundings) (found, bool) {
				return parseList(list, one, &item, env)
			}
		}
	}
	return nil
}

// parseText takes all words, as they were said but in lower case and without punctuation.
func parseText(list []word, _ *program.Slot, _ surroundings) (found, bool) {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.text
	}
	return found{value.Of(strings.Join(texts, " ")), 0, len(list)}, len(list) > 0
}

// parseBool takes the first yes or no; maybe is neither.
func parseBool(list []word, _ *program.Slot, _ surroundings) (found, bool) {
	for i, w := range list {
		switch w.text {
		case "yes", "y", "true", "sure", "ok", "okay", "affirmative":
			return found{value.Of(true), i, i + 1}, true
		case "no", "n", "false", "nope", "nah", "negative":
			return found{value.Of(false), i, i + 1}, true
		}
	}
	return found{}, false
}

// parseEnum takes the one value whose words are all there, else the one that a synonym of
// the slot names, else the one that is a single edit away. Where a step finds two, it does
// not guess.
func parseEnum(list []word, s *program.Slot, env surroundings) (found, bool) {
	named := func(phrases func(val string) []string) (hits []found) {
		for _, val := range s.Values {
			for _, p := range phrases(val) {
				if from, to, ok := within(stems(env.split(p)), list); ok {
					hits = append(hits, found{value.Of(val), from, to})
					break
				}
			}
		}
		return hits
	}
	for _, phrases := range []func(string) []string{
		func(val string) []string { return []string{val} },
		func(val string) []string { return s.Synonyms[val] },
	} {
		if hits := named(phrases); len(hits) > 0 {
			return hits[0], len(hits) == 1
		}
	}
	return nearest(list, s, env)
}

// nearest takes the one value of a single word that somebody mistyped.
func nearest(list []word, s *program.Slot, env surroundings) (found, bool) {
	var hits []found
	for _, val := range s.Values {
		of := stems(env.split(val))
		if len(of) != 1 {
			continue
		}
		i := slices.IndexFunc(list, func(w word) bool {
			return !w.stop && len(w.stem) <= len(of[0])+4 && fault.Edits(w.stem, of[0]) == 1 // a long word costs nothing
		})
		if i >= 0 {
			hits = append(hits, found{value.Of(val), i, i + 1})
		}
	}
	if len(hits) != 1 {
		return found{}, false
	}
	return hits[0], true
}

// within finds all stems among the words, and the run that they lie in.
func within(want []string, list []word) (from, to int, ok bool) {
	from = len(list)
	for _, stem := range want {
		i := slices.IndexFunc(list, func(w word) bool { return !w.stop && w.stem == stem })
		if i < 0 {
			return 0, 0, false
		}
		from, to = min(from, i), max(to, i+1)
	}
	return from, to, len(want) > 0
}

// parseList takes values that stand beside one another, with or without an and; what comes
// behind the first word that is none is left out.
func parseList(list []word, one parser, item *program.Slot, env surroundings) (found, bool) {
	var items []value.Value
	begin, at := 0, 0
	for at < len(list) {
		end := at
		for end < len(list) && list[end].text != "and" {
			end++
		}
		first := at
		for first < end && list[first].stop {
			first++
		}
		it, ok := oneItem(list[first:end], one, item, env)
		if !ok || len(items) > 0 && it.from > 0 {
			if len(items) == 0 && end < len(list) { // an and before the first says nothing
				at = end + 1
				continue
			}
			break
		}
		if len(items) == 0 {
			begin = first + it.from
		}
		items = append(items, it.value)
		if at = first + it.to; at == end && end < len(list) {
			at++
		}
	}
	if len(items) == 0 {
		return found{}, false
	}
	return found{value.NewList(items...), begin, at}, true
}

// oneItem is the first item of a run of words. An enum reads no more words than it needs:
// two values beside one another are two items and no doubt.
func oneItem(list []word, one parser, item *program.Slot, env surroundings) (found, bool) {
	if item.Type != "enum" {
		return one(list, item, env)
	}
	for end := 1; end <= len(list); end++ {
		if it, ok := one(list[:end], item, env); ok {
			return it, true
		}
	}
	return found{}, false
}
