// Package redact finds secrets and the names of a person's folders, and masks
// them before bytes reach a disk.
//
// It is a leaf of harness: cassettes and traces are written through it. Mask
// replaces what is known to be secret; Find looks again, harder, at what Mask left,
// and a finding means that nothing may be written. It reads no environment and no
// file: whoever wires it hands both in as values. It does not encrypt, and it does
// not judge what a person wrote in plain words.
package redact

import (
	"bytes"
	"net/http"
	"strings"
)

// Options is what a Redactor knows. The zero value knows provider key patterns
// and names, and no values.
type Options struct {
	// Env is the process's environment. Values of variables whose names look like
	// credentials, and passwords in values that are URLs, are masked wherever they
	// occur, in every encoding.
	Env map[string]string
	// Home and Work are folders, written as $HOME and $WORK. Either may be empty.
	Home, Work string
	// RequestHeaders and ResponseHeaders are allowed beside the built-in ones.
	RequestHeaders, ResponseHeaders []string
}

// The placeholders of folders.
const (
	HomePlaceholder = "$HOME"
	WorkPlaceholder = "$WORK"
)

// A Redactor is immutable and safe for concurrent use.
type Redactor struct {
	known    *matcher // values and folders, to be replaced
	work     string
	request  map[string]bool // canonical header names
	response map[string]bool
}

// New makes a Redactor. It copies what it keeps.
func New(o Options) *Redactor {
	r := &Redactor{
		known:    newMatcher(append(secretNeedles(o.Env), folderNeedles(o.Home, o.Work)...)),
		work:     o.Work,
		request:  headerSet(requestHeaders, o.RequestHeaders),
		response: headerSet(responseHeaders, o.ResponseHeaders),
	}
	return r
}

// An Edit is one replacement: Old bytes at offset At of the text before it became
// New bytes. Edits are in order and do not overlap.
type Edit struct {
	At, Old, New int
}

// Mask returns b with every known value, every provider key and every value of a
// name that holds a credential replaced by a placeholder, and folders by $HOME and
// $WORK. All other bytes stay as they are, also in text that is not JSON. It
// returns b itself when there is nothing to mask, and never changes b. Masking
// twice is masking once.
func (r *Redactor) Mask(b []byte) []byte {
	return r.MaskRest(r.Known(b, nil))
}

// MaskRest is what Mask does after Known.
func (r *Redactor) MaskRest(known []byte) []byte {
	return maskNames(maskPatterns(known, nil), nil)
}

// MaskString is Mask for a string.
func (r *Redactor) MaskString(s string) string { return string(r.Mask([]byte(s))) }

// MaskEdits is Mask, and what it replaced, in offsets of b.
func (r *Redactor) MaskEdits(b []byte) ([]byte, []Edit) {
	var known, patterns, names []Edit
	out := maskNames(maskPatterns(r.Known(b, &known), &patterns), &names)
	return out, compose(compose(known, patterns), names)
}

// Known is the first part of Mask: values of the environment and folders only.
// It takes some 10 µs for 20 KB, and is what a replay pays for each request. The
// edits are appended to edits unless it is nil.
func (r *Redactor) Known(b []byte, edits *[]Edit) []byte {
	return r.known.replace(b, edits)
}

// Expand replaces $WORK by the work folder, so that a recorded answer names files
// where they are today. $HOME stays: it is too common in shell text to be taken for
// a placeholder. The folder is JSON-escaped, because answers are JSON.
func (r *Redactor) Expand(b []byte) ([]byte, []Edit) {
	if r.work == "" || !bytes.Contains(b, []byte(WorkPlaceholder)) {
		return b, nil
	}
	with := []byte(jsonInner(r.work, false))
	var e editor
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(WorkPlaceholder))
		if i < 0 {
			break
		}
		i += at
		at = i + len(WorkPlaceholder)
		if at == len(b) || !isWord(b[at]) {
			e.replace(b, i, at, with)
		}
	}
	return e.finish(b, nil), e.edits
}

// RequestHeader is a masked copy of the allowed headers of h.
func (r *Redactor) RequestHeader(h http.Header) http.Header { return r.header(h, r.request) }

// ResponseHeader is a masked copy of the allowed headers of h.
func (r *Redactor) ResponseHeader(h http.Header) http.Header { return r.header(h, r.response) }

func (r *Redactor) header(h http.Header, allowed map[string]bool) http.Header {
	out := make(http.Header, 4)
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		if !allowed[name] {
			continue
		}
		for _, v := range values {
			if name == "Location" {
				v = r.URL(v)
			}
			out[name] = append(out[name], r.MaskString(v))
		}
	}
	return out
}

func headerSet(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			set[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	return set
}

// An editor builds a text out of another one.
type editor struct {
	out   []byte
	done  int // bytes of the source that are in out
	edits []Edit
}

// replace puts with in place of src[from:to]. Calls come in order.
func (e *editor) replace(src []byte, from, to int, with []byte) {
	if bytes.Equal(src[from:to], with) {
		return
	}
	e.out = append(append(e.out, src[e.done:from]...), with...)
	e.done = to
	e.edits = append(e.edits, Edit{At: from, Old: to - from, New: len(with)})
}

// finish is the whole text; src itself when nothing was replaced.
func (e *editor) finish(src []byte, edits *[]Edit) []byte {
	if edits != nil {
		*edits = append(*edits, e.edits...)
	}
	if len(e.edits) == 0 {
		return src
	}
	return append(e.out, src[e.done:]...)
}

// compose gives the edits that lead from the text before first to the text after
// second. Where a second edit touches a first one they become one.
func compose(first, second []Edit) []Edit {
	if len(first) == 0 {
		return second
	}
	out := make([]Edit, 0, len(first)+len(second))
	i, shift := 0, 0 // shift: offset after first minus offset before it, up to first[i]
	for _, s := range second {
		for i < len(first) && first[i].At+shift+first[i].New <= s.At {
			out = append(out, first[i])
			shift += first[i].New - first[i].Old
			i++
		}
		from, to, grown := s.At, s.At+s.Old, 0
		start := from - shift
		for i < len(first) && first[i].At+shift < to {
			start = min(start, first[i].At)
			at := first[i].At + shift
			grown += max(0, from-at) + max(0, at+first[i].New-to)
			from, to = min(from, at), max(to, at+first[i].New)
			shift += first[i].New - first[i].Old
			i++
		}
		out = append(out, Edit{At: start, Old: to - shift - start, New: s.New + grown})
	}
	return append(out, first[i:]...)
}

// Remap carries an offset of the text before edits to the text after them. An
// offset within a replaced part goes to that part's end.
func Remap(offset int, edits []Edit) int {
	shift := 0
	for _, e := range edits {
		if offset <= e.At {
			break
		}
		if offset < e.At+e.Old {
			return e.At + shift + e.New
		}
		shift += e.New - e.Old
	}
	return offset + shift
}
