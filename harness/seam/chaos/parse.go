package chaos

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeFault says that a fault is not written as one.
const CodeFault fault.Code = "CHAOS_FAULT"

// Bounds of a fault's numbers.
const (
	maxText    = 1000               // characters of its text
	maxOrdinal = 1 << 20            // of a call
	maxBytes   = 64 << 20           // of an answer
	maxWait    = 7 * 24 * time.Hour // of one wait

	defaultTimeout = time.Minute
	defaultChunk   = 32
)

// settings are what each kind can be told, and what it must be.
var settings = map[Kind]struct{ may, must []string }{
	Status:   {may: []string{"retry-after"}},
	Timeout:  {may: []string{"after"}},
	Refused:  {},
	Reset:    {must: []string{"chunk"}},
	Truncate: {must: []string{"bytes"}},
	Slow:     {must: []string{"by"}},
	Garbage:  {may: []string{"bytes", "seed"}},
	Rechunk:  {may: []string{"max"}, must: []string{"seed"}},
	Exit:     {must: []string{"code"}},
}

const grammar = "write: WHERE STATUS [retry-after=1s] | timeout [after=1m] | refused | reset chunk=N | truncate bytes=N | slow 50ms | garbage [bytes=N] [seed=N] | rechunk seed=N [max=N] | exit code=N; " +
	"WHERE is 3, *, LANE@3 or https://*/v1/messages@3"

// Parse reads one fault: "3 429 retry-after=1s", "writer@1 reset chunk=5".
func Parse(text string) (Fault, error) {
	f, err := parse(text)
	if err != nil {
		return Fault{}, err.WithHint(grammar)
	}
	return f, nil
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(CodeFault, "chaos.parse", format, args...)
}

func parse(text string) (Fault, *fault.Error) {
	if len(text) > maxText {
		return Fault{}, bad("a fault of %d bytes is longer than %d", len(text), maxText)
	}
	words := strings.Fields(text)
	if len(words) < 2 {
		return Fault{}, bad("%q is no fault: it needs a call, and what goes wrong with it", text)
	}
	where, err := parseWhere(words[0])
	if err != nil {
		return Fault{}, err
	}
	f := Fault{Where: where, Kind: Kind(words[1])}
	rest := words[2:]
	if code, numErr := strconv.Atoi(words[1]); numErr == nil {
		if code < 400 || code > 599 {
			return Fault{}, bad("status %q is not one of 400 to 599", words[1])
		}
		f.Kind, f.Code = Status, code
	} else if _, ok := settings[f.Kind]; !ok || f.Kind == Status {
		return Fault{}, bad("%q is nothing that goes wrong", words[1])
	}
	if f.Kind == Slow && len(rest) > 0 && !strings.Contains(rest[0], "=") {
		rest = slices.Concat([]string{"by=" + rest[0]}, rest[1:])
	}
	return f, f.take(rest)
}

// parseWhere reads "3", "*", "writer@2" or "https://*@2". It is an @ because in a
// scenario a # begins a comment.
func parseWhere(s string) (Where, *fault.Error) {
	var w Where
	ordinal := s
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		of := s[:i]
		ordinal = s[i+1:]
		if strings.Contains(of, "://") {
			w.URL = of
		} else {
			w.Lane = &of
		}
	} else if strings.Contains(s, "://") {
		return w, bad("%q does not say which call: add @1, or @* for each", s)
	}
	if ordinal == "*" {
		return w, nil
	}
	n, err := strconv.Atoi(ordinal)
	if err != nil || n < 1 || n > maxOrdinal || ordinal[0] == '+' {
		if strings.ContainsRune(s, '#') {
			return w, bad("%q names no call: a # begins a comment in a scenario, write %q", s, strings.Replace(s, "#", "@", 1))
		}
		return w, bad("%q is not the number of a call, 1 to %d, or *", ordinal, maxOrdinal)
	}
	w.N = n
	return w, nil
}

// take reads the settings.
func (f *Fault) take(words []string) *fault.Error {
	known := settings[f.Kind]
	given := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains(known.may, name) && !slices.Contains(known.must, name) {
			return bad("%s takes no %q", f.Kind, word)
		}
		if _, twice := given[name]; twice {
			return bad("%q is said twice", name)
		}
		given[name] = value
	}
	for _, name := range known.must {
		if _, ok := given[name]; !ok {
			return bad("%s needs a value for %q", f.Kind, name)
		}
	}
	f.defaults()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := f.set(name, given[name]); err != nil {
			return err
		}
	}
	return nil
}

func (f *Fault) defaults() {
	switch f.Kind {
	case Timeout:
		f.For = defaultTimeout
	case Rechunk:
		f.Max = defaultChunk
	case Garbage:
		f.Seed = 1
	}
}

func (f *Fault) set(name, value string) *fault.Error {
	number := func(low, high int, to *int) *fault.Error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high || value[0] == '+' {
			return bad("%s=%q is not a number from %d to %d", name, value, low, high)
		}
		*to = n
		return nil
	}
	wait := func(to *time.Duration) *fault.Error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > maxWait {
			return bad("%s=%q is not a time such as 50ms, up to %s", name, value, maxWait)
		}
		*to = d
		return nil
	}
	switch name {
	case "retry-after":
		return wait(&f.RetryAfter)
	case "after", "by":
		return wait(&f.For)
	case "chunk":
		return number(0, maxBytes, &f.Chunks)
	case "bytes":
		return number(0, maxBytes, &f.Bytes)
	case "code":
		return number(1, 255, &f.Code)
	case "max":
		return number(1, maxBytes, &f.Max)
	}
	seed, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return bad("%s=%q is not a seed", name, value)
	}
	f.Seed = seed
	return nil
}
