package redact

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// A Finding is something secret that Mask did not reach. It never holds the value.
type Finding struct {
	Rule    string // "environment variable OPENAI_API_KEY", "github token"
	Pointer string // a JSON pointer; data[3]/… in an event stream; "byte 120" elsewhere
}

// maxFindings bounds a report: one is enough to refuse.
const maxFindings = 16

// Find looks for secrets in b, which has been through Mask: within decoded JSON
// strings at any depth of escaping, behind percent signs, in short base64, and in
// the texts that the events of a stream add up to. Any finding means that b must
// not be written. Long base64 is media and is not looked into.
func (r *Redactor) Find(b []byte) []Finding {
	f := &finder{r: r, joined: map[string]*pieces{}}
	if !f.document(b, "") {
		if !f.stream(b) {
			f.text(b, func(at int) string { return fmt.Sprintf("byte %d", at) }, maxNesting)
		}
	}
	for _, p := range f.order {
		all, where := f.joined[p], func(int) string { return "data[*]" + p }
		if !all.varied {
			f.known(all.text.Bytes(), where)
			continue
		}
		f.text(all.text.Bytes(), where, maxNesting)
		f.names(all.text.Bytes(), where)
	}
	return f.found
}

// maxNesting is how many layers of encoding are taken off one text.
const maxNesting = 4

type finder struct {
	r      *Redactor
	found  []Finding
	joined map[string]*pieces // pointer in the events of a stream: all its texts
	order  []string           // of joined
}

// pieces are what the events of a stream have in one place. Where all are the same they
// are a label that each event repeats, and no text in parts: together they may look like
// a key that nobody sent.
type pieces struct {
	text   bytes.Buffer
	first  []byte
	varied bool
}

func (f *finder) add(rule, pointer string) {
	n := Finding{Rule: rule, Pointer: pointer}
	if len(f.found) < maxFindings && !slices.Contains(f.found, n) {
		f.found = append(f.found, n)
	}
}

// document walks one JSON text and reports whether b is one.
func (f *finder) document(b []byte, prefix string) bool {
	d := newDecoder(b)
	type leaf struct {
		pointer, text, member string // pointer: only in a stream; member: whose value text is
		end                   int64
		name                  bool
	}
	var leaves []leaf
	for {
		tok, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false
		}
		if k := tok.Kind(); k == '"' || k == '0' {
			kind, n := d.StackIndex(d.StackDepth())
			l := leaf{text: tok.String(), end: d.InputOffset(), name: kind == '{' && n%2 == 1}
			if kind == '{' && !l.name {
				l.member = leaves[len(leaves)-1].text
			}
			if prefix != "" {
				l.pointer = string(d.StackPointer())
			}
			leaves = append(leaves, l)
		}
	}
	for _, l := range leaves {
		where := func(int) string { return prefix + pointerTo(b, l.end) }
		text := []byte(l.text)
		f.text(text, where, maxNesting)
		if l.name {
			continue
		}
		f.member(l.member, text, where)
		if prefix != "" {
			f.join(l.pointer, text)
		}
	}
	return len(leaves) > 0 || len(bytes.TrimSpace(b)) > 0
}

// pointerTo is the pointer to the token that ends at b[end]. It reads b again: there
// are many tokens and few findings.
func pointerTo(b []byte, end int64) string {
	d := newDecoder(b)
	for d.InputOffset() < end {
		if _, err := d.ReadToken(); err != nil {
			break
		}
	}
	return string(d.StackPointer())
}

func newDecoder(b []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// stream walks the data lines of an event stream and reports whether b has any.
func (f *finder) stream(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("data:")) && !bytes.Contains(b, []byte("\ndata:")) {
		return false
	}
	n := 0
	for line := range bytes.Lines(b) {
		if f.data(line, n) {
			n++
			continue
		}
		f.text(line, func(int) string { return fmt.Sprintf("beside data[%d]", n) }, maxNesting)
	}
	return true
}

func (f *finder) data(line []byte, n int) bool {
	payload, ok := bytes.CutPrefix(line, []byte("data:"))
	return ok && f.document(bytes.TrimSpace(payload), fmt.Sprintf("data[%d]", n))
}

func (f *finder) join(pointer string, text []byte) {
	p, ok := f.joined[pointer]
	if !ok {
		p = &pieces{first: text}
		f.joined[pointer] = p
		f.order = append(f.order, pointer)
	}
	p.varied = p.varied || !bytes.Equal(p.first, text)
	p.text.Write(text)
}

// member checks the value of a credential name that was spelled so that Mask did
// not know it ("api\u005fkey").
func (f *finder) member(name string, text []byte, where func(int) string) {
	var buf [64]byte
	name = string(fold(&buf, []byte(name)))
	if !secretNames[name] && !doubtfulNames[name] {
		return
	}
	if v := (namedValue{name: name, to: len(text)}); v.secret(text) {
		f.add("value of "+name, where(0))
	}
}

// names checks text that was put together from pieces for credential names.
func (f *finder) names(text []byte, where func(int) string) {
	eachNamed(text, func(v namedValue) {
		if v.secret(text) {
			f.add("value of "+v.name, where(v.from))
		}
	})
}

// known checks for values of the environment.
func (f *finder) known(b []byte, where func(int) string) {
	for at := 0; ; {
		i, n := f.r.known.next(b, at)
		if n == nil {
			return
		}
		if !n.path {
			f.add(n.rule, where(i))
		}
		at = i + len(n.text)
	}
}

// text checks one text, then what it says once a layer of encoding is taken off.
func (f *finder) text(b []byte, where func(int) string, layers int) {
	f.known(b, where)
	eachPattern(b, func(from, to int, rule string) {
		if !bytes.HasPrefix(b[from:to], []byte("{{")) {
			f.add(rule, where(from))
		}
	})
	if layers == 0 {
		return
	}
	if inner := unescape(b); inner != nil {
		f.text(inner, where, layers-1)
	}
	if bytes.IndexByte(b, '%') >= 0 {
		if inner := unpercent(b); inner != nil {
			f.text(inner, where, layers-1)
		}
	}
	eachBase64(b, func(at int, plain []byte) {
		f.text(plain, func(int) string { return where(at) }, layers-1)
	})
}

// unescape takes JSON escapes off, also where b is not a whole string; nil when
// there are none.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return nil
	}
	out := make([]byte, 0, len(b))
	changed := false
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		if r, n := escaped(b[i:]); n > 0 {
			out = append(out, string(r)...)
			i += n - 1
			changed = true
			continue
		}
		out = append(out, b[i])
	}
	if !changed {
		return nil
	}
	return out
}

// escaped decodes the escape at the start of b and gives its length; 0: none.
func escaped(b []byte) (rune, int) {
	const simple, plain = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(simple, b[1]); i >= 0 {
		return rune(plain[i]), 2
	}
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && len(b) >= 12 {
		if low, ok := hex4(b[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != 0xfffd {
				return pair, 12
			}
		}
	}
	return r, 6
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// unpercent decodes %XX where it can be; nil when nothing changes.
func unpercent(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && i+2 < len(b) && isHex(b[i+1]) && isHex(b[i+2]) {
			s, _ := url.PathUnescape(string(b[i : i+3])) // checked above
			out = append(out, s...)
			i += 2
			continue
		}
		out = append(out, b[i])
	}
	if len(out) == len(b) {
		return nil
	}
	return out
}

// Base64 shorter than a key holds none; longer than this is media, or text that
// nobody hides a key in by accident.
const (
	minBase64 = 16
	maxBase64 = 8 << 10
)

// eachBase64 calls f with the printable texts that stand in b as base64.
func eachBase64(b []byte, f func(at int, plain []byte)) {
	for at := 0; at < len(b); {
		end := at
		for end < len(b) && (isWord(b[end]) || b[end] == '+' || b[end] == '/') {
			end++
		}
		if n := end - at; n >= minBase64 && n <= maxBase64 {
			for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				if plain, err := enc.DecodeString(string(b[at:end])); err == nil && printable(plain) {
					f(at, plain)
					break
				}
			}
		}
		at = end + 1
	}
}
