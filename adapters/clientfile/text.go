package clientfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An edit takes the bytes from At to To away and puts Text there.
type edit struct {
	at, to int
	text   string
}

// apply makes the edits, which are in order and do not overlap.
func apply(src []byte, edits []edit) []byte {
	var out []byte
	from := 0
	for _, e := range edits {
		out = append(append(out, src[from:e.at]...), e.text...)
		from = e.to
	}
	return append(out, src[from:]...)
}

// A span is bytes that were put into a file, by their place in what came out.
type span struct {
	At  int `json:"at"`
	Len int `json:"len"`
}

// spans are where the texts of edits that take nothing away are afterwards.
func spans(edits []edit) (out []span) {
	moved := 0
	for _, e := range edits {
		out = append(out, span{e.at + moved, len(e.text)})
		moved += len(e.text)
	}
	return out
}

// without is src without the spans; not ok where they do not fit into it.
func without(src []byte, gone []span) (out []byte, ok bool) {
	from := 0
	for _, s := range gone {
		if s.At < from || s.Len < 0 || s.Len > len(src)-s.At {
			return nil, false
		}
		out = append(out, src[from:s.At]...)
		from = s.At + s.Len
	}
	return append(out, src[from:]...), true
}

// A document is a client's file, taken apart.
type document interface {
	// entry is the server of that name as JSON; nil where there is none.
	entry(name string) ([]byte, error)
	// insert adds a server that there is not. Nothing is taken away.
	insert(e Entry) ([]edit, error)
	// replace puts another server in the place of one.
	replace(e Entry) ([]edit, error)
	remove(name string) ([]edit, error)
	// rest is all but one server, in a form that can be compared.
	rest(name string) string
}

// read takes a file apart.
func (c Client) read(src []byte) (document, error) {
	if c.toml {
		return readTOML(c, src)
	}
	return readJSON(c, src)
}

// lineEnd is how the lines of a text end.
func lineEnd(src []byte) string {
	if bytes.Contains(src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// position is an offset as people count.
func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

func malformed(src []byte, offset int, format string, args ...any) *fault.Error {
	line, column := position(src, offset)
	return fault.New(CodeMalformed, "mcp.install", "line %d, column %d: "+format, slices.Concat([]any{line, column}, args)...).
		WithHint("nothing was written; mend the file, or use --print and add the entry by hand")
}

// margin is the line end and the white space that stand last in an extra, with which a
// line begins; "" where there is no line end. Other white space is in rest.
func margin(extra string) (line, rest string) {
	body := strings.TrimRight(extra, " \t")
	if !strings.HasSuffix(body, "\n") {
		return "", extra[len(body):]
	}
	from := len(body) - 1
	if from > 0 && body[from-1] == '\r' {
		from--
	}
	return extra[from:], ""
}
