package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The parts of the header and of the end line, as they stand in the file.
const (
	topLines   = "---\nversion: 1\n"
	formatLine = "x-format: "
	keyvLine   = "x-keyv: "
	originLine = "x-origin: "
	rulesLine  = "x-rules: "
	pricesLine = "x-prices: "
	listLine   = "interactions:\n"
	noListLine = "interactions: []\n"

	endLineStart = "# end "
	endLineText  = endLineStart + "%d %s\n"

	maxRules = 64

	// The lines at which these stand.
	formatAt = 3
	originAt = 5
)

// encodeHeader writes the header of a file with or without episodes.
func encodeHeader(h *Header, empty bool) ([]byte, error) {
	rules, err := json.Marshal(slices.Concat([]string{}, h.Rules)) // nil is [] and not null
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s%d\n%s%d\n%s%s\n%s%s\n", topLines, formatLine, Format, keyvLine, h.KeyVersion,
		originLine, h.Origin, rulesLine, bytes.ReplaceAll(rules, []byte(`","`), []byte(`", "`)))
	if len(h.Prices) > 0 {
		fmt.Fprintf(&b, "%s%s\n", pricesLine, h.Prices)
	}
	if empty {
		b.WriteString(noListLine)
	} else {
		b.WriteString(listLine)
	}
	if b.Len() > MaxHeader {
		return nil, fmt.Errorf("the header has %d bytes, more than %d", b.Len(), MaxHeader)
	}
	return b.Bytes(), nil
}

// parseHeader reads the header at the start of data and returns what follows it.
// empty is true for a file that says it has no episodes. A newer format is
// returned with newer set and nothing else read.
func parseHeader(data []byte) (h Header, rest []byte, empty bool, err error) {
	r := headerReader{rest: data[:min(len(data), MaxHeader)], looked: 1}
	if !bytes.HasPrefix(r.rest, []byte(topLines)) {
		return h, nil, false, r.fail("the file does not begin with %q", topLines)
	}
	r.rest, r.line = r.rest[len(topLines):], 2
	h.Format, err = r.number(formatLine)
	if err != nil || h.Format > Format {
		return h, nil, false, err
	}
	if h.KeyVersion, err = r.number(keyvLine); err != nil {
		return h, nil, false, err
	}
	origin, ok := r.field(originLine)
	if h.Origin = Origin(origin); !ok || h.Origin.rank() == 0 {
		return h, nil, false, r.fail("x-origin is not live, imported or scripted")
	}
	rules, ok := r.field(rulesLine)
	if !ok || json.Unmarshal([]byte(rules), &h.Rules) != nil {
		return h, nil, false, r.fail("x-rules is not a list of names")
	}
	if prices, ok := r.field(pricesLine); ok {
		h.Prices = []byte(prices)
	}
	switch {
	case bytes.HasPrefix(r.rest, []byte(noListLine)):
		empty, r.rest = true, r.rest[len(noListLine):]
	case bytes.HasPrefix(r.rest, []byte(listLine)):
		r.rest = r.rest[len(listLine):]
	default:
		return h, nil, false, r.fail("the list of interactions does not begin")
	}
	if err := h.check(); err != nil {
		return h, nil, false, r.fail("%v", err)
	}
	return h, data[r.at(data):], empty, nil
}

// A headerReader takes the header apart line by line.
type headerReader struct {
	rest   []byte
	line   int // lines read
	looked int // the line last looked at: it is to blame
}

// A headerError names the line of a header that is wrong.
type headerError struct {
	line int
	what string
}

func (e *headerError) Error() string { return e.what }

// lineOf is the line that an error of parseHeader names.
func lineOf(err error) int {
	if e, ok := errors.AsType[*headerError](err); ok {
		return e.line
	}
	return 1
}

func (r *headerReader) fail(format string, args ...any) error {
	return &headerError{r.looked, fmt.Sprintf(format, args...)}
}

// at is the offset in data at which the rest begins.
func (r *headerReader) at(data []byte) int { return min(len(data), MaxHeader) - len(r.rest) }

// field takes a line that begins with name; ok is false when the next line does
// not.
func (r *headerReader) field(name string) (value string, ok bool) {
	r.looked = r.line + 1
	end := bytes.IndexByte(r.rest, '\n')
	if end < 0 || !bytes.HasPrefix(r.rest, []byte(name)) {
		return "", false
	}
	value = string(r.rest[len(name):end])
	r.rest = r.rest[end+1:]
	r.line++
	return value, true
}

func (r *headerReader) number(name string) (int, error) {
	s, ok := r.field(name)
	n, err := strconv.Atoi(s)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != s {
		return 0, r.fail("%q is not a positive number", name+clip(s))
	}
	return n, nil
}

// check says what is wrong with a header that is to be written or was read.
func (h *Header) check() error {
	if h.KeyVersion < 1 {
		return fmt.Errorf("key version %d is not positive", h.KeyVersion)
	}
	if len(h.Rules) > maxRules {
		return fmt.Errorf("%d rules are more than %d", len(h.Rules), maxRules)
	}
	for _, r := range h.Rules {
		if !isToken(strings.ReplaceAll(r, "/", "-")) {
			return fmt.Errorf("rule %q is not a name like call-ids/1", clip(r))
		}
	}
	if len(h.Prices) == 0 {
		return nil
	}
	return checkPrices(h.Prices)
}

// checkPrices wants one compact JSON object that a YAML reader takes as it is.
func checkPrices(p []byte) error {
	v := jsontext.Value(bytes.Clone(p))
	if err := v.Compact(); err != nil || !v.IsValid() || v.Kind() != '{' || !bytes.Equal(v, p) {
		return fmt.Errorf("prices are not one compact JSON object: %.80q", p)
	}
	if nextUnsafe(p) >= 0 {
		return fmt.Errorf("prices hold a character that YAML does not take as it is")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(p))
	for {
		t, err := dec.ReadToken()
		if err != nil {
			return nil // the end: the value was found valid above
		}
		if t.Kind() == '"' && len(t.String()) > maxName {
			return fmt.Errorf("prices hold a name of more than %d bytes", maxName)
		}
	}
}

// sameRun reports whether episodes of both headers can stand in one file.
func (h *Header) sameRun(o *Header) bool {
	return h.KeyVersion == o.KeyVersion && slices.Equal(h.Rules, o.Rules) && bytes.Equal(h.Prices, o.Prices)
}
