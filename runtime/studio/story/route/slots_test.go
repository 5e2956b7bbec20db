package route

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/value"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want, lead, sign string }{
		{"Let's wade ACROSS the river!", "let's* wade across the* river", "wade", "rivers, wading across"},
		{"ﬁve １２ oxen", "five 12 oxen", "oxen", "oxen 5 twelve"},
		{"please only do it", "please* only* do* it*", "", ""},
		{"héllo wörld, 3.5 $120", "héllo wörld 3.5 120", "héllo", ""},
		{"\xff\x00 bad", "bad", "bad", "bad"},
	} {
		var got []string
		list := lexicon{}.split(c.text)
		for _, w := range list {
			if w.stop {
				w.text += "*"
			}
			got = append(got, w.text)
		}
		if s := strings.Join(got, " "); s != c.want || lead(list) != c.lead {
			t.Errorf("%q: %q, lead %q", c.text, s, lead(list))
		}
		if c.sign != "" && signature(list) != signature(lexicon{}.split(c.sign)) {
			t.Errorf("%q and %q have other signatures", c.text, c.sign)
		}
	}
	if signature(lexicon{}.split("please only")) != "" {
		t.Error("a text that says nothing has a signature")
	}
}

func TestValues(t *testing.T) {
	colours := &program.Slot{Type: "enum", Values: []string{"red", "dark blue", "lord of the rings"}, Synonyms: map[string][]string{"red": {"like blood"}, "dark blue": {"navy", "at night"}}}
	of := func(typ string) *program.Slot { s := *colours; s.Type = typ; return &s }
	for _, c := range []struct {
		slot       *program.Slot
		text, want string // "" is no value
	}{
		{of("int"), "six purple", "6"},
		{of("int"), "please buy 240 of them", "240"},
		{of("int"), "twenty five", "25"},
		{of("int"), "one million two hundred thousand", "1200000"},
		{of("int"), "twenty thirty", "20"},
		{of("int"), "200lbs", ""},
		{of("int"), "and", ""},
		{of("int"), "99999999999999999999", ""},
		{of("int"), "billion billion", "2000000000"},
		{of("float"), "about 3.5 miles", "3.5"},
		{of("number"), "seven", "7"},
		{of("float"), "infinity", ""},
		{of("money"), "$120.50", "121"},
		{of("money"), "6 oxen for 240 dollars", "240"},
		{of("money"), "a few hundred bucks", "100"},
		{of("$int"), "12", "12"},
		{of("money"), "lots", ""},
		{of("bool"), "sure thing", "true"},
		{of("bool"), "nah", "false"},
		{of("bool"), "maybe", ""},
		{of("enum"), "the red one", `"red"`},
		{of("enum"), "blue and dark", `"dark blue"`},
		{of("enum"), "something like blood", `"red"`},
		{of("enum"), "navx", ""},
		{of("enum"), "the lord of the manor", ""},
		{of("enum"), "rde", `"red"`},
		{of("enum"), "red or dark blue", ""},
		{of("enum"), "green", ""},
		{of(""), "red", `"red"`},
		{of("list[enum]"), "red, dark blue and red", `["red","dark blue","red"]`},
		{of("list[int]"), "6 12 blue 3", "[6,12]"},
		{of("list[int]"), "and six and seven", "[6,7]"},
		{of("list[int]"), "none", ""},
		{of("list[money]"), "$5 and $7", "[5,7]"},
		{&program.Slot{}, "Name the Wagon, please", `"name the wagon please"`},
		{&program.Slot{Type: "string"}, "", ""},
		{of("date"), "in three weeks", `"2026-03-23"`},
		{of("date"), "in 2 days", `"2026-03-04"`},
		{of("date"), "yesterday", `"2026-03-01"`},
		{of("date"), "next monday", `"2026-03-09"`},
		{of("date"), "next sunday", `"2026-03-08"`},
		{of("date"), "last week", `"2026-02-23"`},
		{of("date"), "march 3", `"2026-03-03"`},
		{of("date"), "march 1", `"2027-03-01"`},
		{of("date"), "the 15th of april 2027", `"2027-04-15"`},
		{of("date"), "apr 15, 2027", `"2027-04-15"`},
		{of("date"), "2026-12-24", `"2026-12-24"`},
		{of("date"), "12/24/2026", `"2026-12-24"`},
		{of("date"), "feb 31", ""},
		{of("date"), "03 04 05", ""},
		{of("date"), "some day", ""},
		{of("date"), "in 99999999999 days", ""},
	} {
		parse := parserOf(c.slot)
		got := ""
		if it, ok := parse(lexicon{}.split(c.text), c.slot, surroundings{today: time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)}); ok {
			got = it.value.JSON()
		}
		if got != c.want {
			t.Errorf("%s %q: %s, want %s", c.slot.Type, c.text, got, c.want)
		}
	}
	for _, typ := range []string{"object", "list[list[int]]", "list[object]", "any"} {
		if parserOf(of(typ)) != nil {
			t.Errorf("type %s is read from words", typ)
		}
	}
}

// Words are parts of a text as it is normalised, and the same each time.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"let's wade across", "１２ ﬁne", "\xff", "a\u0301b", "$120.50, 3/15/2026", "日本語 text"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := lexicon{}.split(s)
		for _, w := range list {
			if w.text == "" || w.stem == "" || !utf8.ValidString(w.text) || strings.ContainsAny(w.text, " \t\n") {
				t.Fatalf("%q: the word %+v", s, w)
			}
		}
		if a, b := signature(list), signature(lexicon{}.split(s)); a != b {
			t.Fatalf("%q: %s and %s", s, a, b)
		}
		slices.Reverse(list)
		if signature(list) != signature(lexicon{}.split(s)) {
			t.Fatalf("%q: the signature depends on the order", s)
		}
	})
}

// A template is refused or holds what it says: what it captured are slots that it names.
func FuzzTemplate(f *testing.F) {
	for _, s := range [][2]string{{"buy {n} for {price}", "buy six for $3"}, {"{a}{b}", "x"}, {"{", "}"}, {"go {when}", "go march 3"}, {"{list} and {n}", "1 2 and 3 and 4"}, {"be {job}", "be bankr"}} {
		f.Add(s[0], s[1])
	}
	in := &program.Intent{Slots: map[string]*program.Slot{}}
	for name, typ := range map[string]string{"n": "int", "price": "money", "a": "string", "b": "bool", "when": "date", "list": "list[int]", "job": "enum", "x": "object", "f": "float", "jobs": "list[enum]"} {
		in.Slots[name] = &program.Slot{Name: name, Type: typ, Values: []string{"banker", "one two"}}
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(text) > 500 {
			return
		}
		tpl, err := lexicon{}.compile(in, source)
		if err != nil {
			return
		}
		got, ok := tpl.match(lexicon{}.split(text), surroundings{today: time.Unix(0, 0)})
		if !ok {
			return
		}
		if len(got.slots)+len(got.missing) > tpl.slots {
			t.Fatalf("%q on %q: %v and %v", source, text, got.slots, got.missing)
		}
		for name, v := range got.slots {
			if !strings.Contains(source, name) || v.Kind() == value.Nil {
				t.Fatalf("%q on %q: slot %q is %s", source, text, name, v.JSON())
			}
		}
	})
}
