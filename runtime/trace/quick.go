package trace

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// quickNames are the names of fields that quick writes.
var quickNames = []string{"call", "code", "handle", "index", "input", "not_run", "ok", "round", "text", "tool"}

// namesStay says that mask changes none of quickNames, as it does where one is a secret.
func namesStay(mask func([]byte) []byte) bool {
	for _, name := range quickNames {
		if mask != nil && string(mask([]byte(name))) != name {
			return false
		}
	}
	return true
}

// quick is the canonical JSON of a payload that a client waits for, where nothing in it is
// masked: what encode makes of it, without making JSON of it twice. ok is false for every
// other payload, and encode takes the long way. It is for masks with namesStay.
func quick(p Payload, mask func([]byte) []byte) (data []byte, ok bool) {
	w := quickWriter{mask: mask}
	switch p := p.(type) { // the names in their canonical order
	case ToolCalled:
		w.begin(len(p.Input))
		w.text("call", p.Call)
		w.number("index", p.Index)
		w.text("input", p.Input)
		if p.Round != 0 {
			w.number("round", p.Round)
		}
		w.text("tool", p.Tool)
	case ToolFinished:
		if p.Images != nil || p.Review != nil || p.Reviews != nil || p.Show != nil || p.Reveal != nil {
			return nil, false
		}
		w.begin(len(p.Text))
		w.text("call", p.Call)
		w.some("code", p.Code)
		w.some("handle", p.Handle)
		if p.NotRun {
			w.yes("not_run", true)
		}
		w.yes("ok", p.OK)
		w.text("text", p.Text)
		w.text("tool", p.Tool)
	default:
		return nil, false
	}
	return w.end()
}

// A quickWriter appends the fields of one object. It stops at the first text that is not
// UTF-8, or in which something is masked.
type quickWriter struct {
	b      []byte
	mask   func([]byte) []byte // nil: nothing is masked
	masked []byte              // for mask, which may change what it gets
	other  bool                // it is not for this writer
}

// begin makes room for an object with a text of n bytes among its fields.
func (w *quickWriter) begin(n int) {
	w.b = append(make([]byte, 0, n+n/8+256), '{')
}

func (w *quickWriter) name(name string) {
	if len(w.b) > 1 {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), `":`...)
}

func (w *quickWriter) text(name, value string) {
	w.name(name)
	w.quote(value)
}

// some is text for a field that is left out where it is empty.
func (w *quickWriter) some(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *quickWriter) number(name string, n int) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

func (w *quickWriter) yes(name string, is bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, is)
}

// quote appends a text, unless it is masked.
func (w *quickWriter) quote(s string) {
	if w.other {
		return
	}
	if w.mask != nil {
		w.masked = append(w.masked[:0], s...)
		if string(w.mask(w.masked)) != s {
			w.other = true
			return
		}
	}
	b, err := jsontext.AppendQuote(w.b, s)
	if err != nil { // encode has a way with what is not UTF-8
		w.other = true
		return
	}
	w.b = b
}

// end is the whole object, unless something in it is masked that stands in no text of
// it alone.
func (w *quickWriter) end() ([]byte, bool) {
	if w.other {
		return nil, false
	}
	w.b = append(w.b, '}')
	if w.mask != nil {
		w.masked = append(w.masked[:0], w.b...)
		if !bytes.Equal(w.mask(w.masked), w.b) {
			return nil, false
		}
	}
	return w.b, true
}
