package cassette

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// The bounds of one field. They are far above what providers send. A header's
// name stays below the 1024 characters that YAML allows a key.
const (
	maxName   = 256
	maxField  = 1 << 16
	maxChunks = 1 << 20
)

// check says what is wrong with an episode that is to be written or was read.
func (e *Episode) check() error {
	switch {
	case len(e.Key) != keyLen || !isHex([]byte(e.Key)):
		return fmt.Errorf("key %q is not 64 lower-case hex digits", clip(e.Key))
	case e.Raw != "" && (len(e.Raw) != rawLen || !isHex([]byte(e.Raw)) || e.Raw == noRaw):
		return fmt.Errorf("raw %q is neither empty nor 32 lower-case hex digits", clip(e.Raw))
	case !isToken(e.Kind):
		return fmt.Errorf("kind %q is not a word", clip(e.Kind))
	case e.Origin.rank() == 0:
		return fmt.Errorf("origin %q is not live, imported or scripted", clip(string(e.Origin)))
	case e.At != "" && !isDate(e.At):
		return fmt.Errorf("date %q is not like 2026-01-02", clip(e.At))
	case e.Asked < 0 || e.Asked == 1 || e.Asked > MaxAsked:
		return fmt.Errorf("asked %d times is neither left out nor 2 to %d", e.Asked, MaxAsked)
	case !isToken(e.Request.Method):
		return fmt.Errorf("method %q is not a word", clip(e.Request.Method))
	}
	for _, f := range [...]struct{ name, value string }{
		{"lane", e.Lane}, {"model", e.Model}, {"url", e.Request.URL},
	} {
		if err := checkText(f.name, f.value); err != nil {
			return err
		}
	}
	if err := checkHeader(e.Request.Header); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return e.Response.check()
}

func (r *Response) check() error {
	switch {
	case !slices.Contains([]string{"", "cut", "cancelled", "error"}, r.End):
		return fmt.Errorf("end %q is not cut, cancelled, error or empty", clip(r.End))
	case (r.Status == 0) != (r.End == "error") || (r.Status != 0 && (r.Status < 100 || r.Status > 999)):
		return fmt.Errorf("status %d does not fit end %q", r.Status, r.End)
	case r.Duration < 0:
		return fmt.Errorf("duration %s is negative", r.Duration)
	case len(r.Chunks) > maxChunks:
		return fmt.Errorf("%d chunks are more than %d", len(r.Chunks), maxChunks)
	}
	if err := checkText("error", r.Error); err != nil {
		return err
	}
	if err := checkHeader(r.Header); err != nil {
		return fmt.Errorf("response: %w", err)
	}
	return r.checkChunks()
}

func (r *Response) checkChunks() error {
	if len(r.Chunks) == 0 {
		return nil
	}
	left, last := len(r.Body), int64(0)
	for i, c := range r.Chunks {
		if c.Len < 0 || c.Len > left || c.AtMS < last || c.AtMS > math.MaxInt32 {
			return fmt.Errorf("chunk %d (%d bytes at %d ms) does not fit the body", i, c.Len, c.AtMS)
		}
		left, last = left-c.Len, c.AtMS
	}
	if left > 0 {
		return fmt.Errorf("the chunks leave out the last %d bytes of the body", left)
	}
	return nil
}

func checkHeader(h http.Header) error {
	for name, values := range h {
		if len(name) > maxName || !isToken(name) {
			return fmt.Errorf("header name %q is not a token of at most %d bytes", clip(name), maxName)
		}
		for _, v := range values {
			if err := checkText("header "+name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkText does not show the value: it may be long, and a field that is not
// text may hold anything.
func checkText(name, value string) error {
	if len(value) > maxField {
		return fmt.Errorf("%s has %d bytes, more than %d", name, len(value), maxField)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("%s is not UTF-8", name)
	}
	return nil
}

func isToken(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return true
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// rank orders origins from the weakest; 0 is none.
func (o Origin) rank() int {
	return 1 + slices.Index([]Origin{Scripted, Imported, Live}, o)
}

// weakest is the weaker of two origins; "" is stronger than any.
func weakest(a, b Origin) Origin {
	if a == "" || (b != "" && b.rank() < a.rank()) {
		return b
	}
	return a
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// equal compares what a file can hold: nil and empty are the same.
func (e *Episode) equal(f *Episode) bool {
	return e.Key == f.Key && e.Raw == f.Raw && e.Lane == f.Lane && e.Kind == f.Kind &&
		e.Origin == f.Origin && e.Model == f.Model && e.At == f.At && e.Asked == f.Asked &&
		e.Request.Method == f.Request.Method && e.Request.URL == f.Request.URL &&
		equalHeader(e.Request.Header, f.Request.Header) && bytes.Equal(e.Request.Body, f.Request.Body) &&
		e.Response.equal(&f.Response)
}

func (r *Response) equal(s *Response) bool {
	return r.Status == s.Status && equalHeader(r.Header, s.Header) && bytes.Equal(r.Body, s.Body) &&
		slices.Equal(r.Chunks, s.Chunks) && r.Duration == s.Duration && r.End == s.End && r.Error == s.Error
}

func equalHeader(a, b http.Header) bool {
	if len(a) != len(b) {
		return false
	}
	for name, values := range a {
		other, ok := b[name]
		if !ok || !slices.Equal(values, other) {
			return false
		}
	}
	return true
}
