// Package diff compares recordings by meaning: which message, which tool's schema,
// which argument of which call is another one.
//
// It belongs to harness, above cassette and transcript. What a provider makes up anew
// for each answer (ids, signatures), timings, chunks and token counts are no
// difference. It compares; it does not merge, and it prints nothing.
package diff

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/transcript"
)

// A Change is one place that is not as it was.
type Change struct {
	Subject string `json:"subject" jsonschema:"what differs, in words: tool \"add\", message 3 (user), reply"`
	Field   string `json:"field,omitempty" jsonschema:"what of it: text, input /a/b, schema /properties/x"`
	Where   string `json:"where,omitempty" jsonschema:"JSON pointer into the request's body of the newer side, or of the older where it is gone"`
	Old     string `json:"old,omitempty" jsonschema:"clipped around the first difference; none: it was not there"`
	New     string `json:"new,omitempty" jsonschema:"clipped around the first difference; none: it is gone"`
}

// Text is the change on one line.
func (c Change) Text() string {
	what := c.Subject
	if c.Field != "" {
		what += ", " + c.Field
	}
	switch {
	case c.Old == "" && c.New == "":
		return what
	case c.Old == "":
		return what + ": added " + c.New
	case c.New == "":
		return what + ": removed " + c.Old
	}
	return what + ": " + c.Old + " → " + c.New
}

// A Pair is an episode of each side that belong together. Old or New is -1 where the
// other side has none like it.
type Pair struct {
	Old, New int
	Changes  []Change
}

// A Report is how two cassettes differ.
type Report struct {
	Header []Change
	Pairs  []Pair // those that differ, in the order of the newer side
	Same   int    // episodes that mean the same
}

// Equal reports that nothing differs.
func (r *Report) Equal() bool { return len(r.Header) == 0 && len(r.Pairs) == 0 }

// Cassettes compares two files. Episodes are paired by their keys first, then by lane
// and address in order.
func Cassettes(older, newer *cassette.Cassette) (Report, error) {
	a, err := episodes(older)
	if err != nil {
		return Report{}, err
	}
	b, err := episodes(newer)
	if err != nil {
		return Report{}, err
	}
	r := Report{Header: header(older.Header(), newer.Header())}
	for _, p := range align(len(a), len(b),
		func(i, j int) bool { return a[i].Key == b[j].Key },
		func(i, j int) bool { return a[i].Lane == b[j].Lane && address(&a[i]) == address(&b[j]) }) {
		pair := Pair{Old: p[0], New: p[1]}
		switch {
		case p[0] < 0:
			pair.Changes = []Change{{Subject: "episode", New: title(&b[p[1]])}}
		case p[1] < 0:
			pair.Changes = []Change{{Subject: "episode", Old: title(&a[p[0]])}}
		default:
			pair.Changes = Episodes(&a[p[0]], &b[p[1]])
		}
		if len(pair.Changes) == 0 {
			r.Same++
			continue
		}
		r.Pairs = append(r.Pairs, pair)
	}
	return r, nil
}

func episodes(c *cassette.Cassette) ([]cassette.Episode, error) {
	out := make([]cassette.Episode, c.Len())
	for i := range out {
		var err error
		if out[i], err = c.Episode(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func header(a, b cassette.Header) []Change {
	var d differ
	d.text("header", "origin", "", string(a.Origin), string(b.Origin))
	d.text("header", "rules", "", strings.Join(a.Rules, " "), strings.Join(b.Rules, " "))
	d.json("header", "prices", "", string(a.Prices), string(b.Prices))
	return d.found
}

// address is where a request goes, without what may vary from call to call.
func address(e *cassette.Episode) string {
	u, _, _ := strings.Cut(e.Request.URL, "?")
	return e.Kind + " " + e.Request.Method + " " + u
}

func title(e *cassette.Episode) string {
	t := transcript.Read(e)
	text := e.Request.Method + " " + e.Request.URL
	if n := len(t.Messages); n > 0 {
		text += fmt.Sprintf(", %d messages", n)
		for _, p := range t.Messages[n-1].Parts {
			if p.Text != "" {
				text += ", the last " + quoteClip(p.Text)
				break
			}
		}
	}
	return text
}

// Episodes compares two calls of any kind.
func Episodes(a, b *cassette.Episode) []Change {
	var d differ
	d.text("request", "lane", "", a.Lane, b.Lane)
	d.text("request", "method", "", a.Request.Method, b.Request.Method)
	d.text("request", "url", "", a.Request.URL, b.Request.URL)
	d.text("answer", "status", "", fmt.Sprint(a.Response.Status), fmt.Sprint(b.Response.Status))
	d.text("answer", "end", "", cmp.Or(a.Response.End, "whole"), cmp.Or(b.Response.End, "whole"))
	ta, tb := transcript.Read(a), transcript.Read(b)
	if ta.Format != transcript.None && ta.Format == tb.Format && ta.Problem == "" && tb.Problem == "" {
		d.text("request", "model", "/model", a.Model, b.Model)
		d.found = append(d.found, Transcripts(&ta, &tb)...)
		return d.found
	}
	d.json("request", "body", "", string(a.Request.Body), string(b.Request.Body))
	d.json("answer", "body", "", string(a.Response.Body), string(b.Response.Body))
	d.text("answer", "error", "", a.Response.Error, b.Response.Error)
	return d.found
}

// Transcripts compares two model calls of one format.
func Transcripts(a, b *transcript.Transcript) []Change {
	var d differ
	d.parts("system", a.System, b.System)
	d.tools(a.Tools, b.Tools)
	d.settings(a.Settings, b.Settings)
	d.messages(a.Messages, b.Messages)
	for i := range max(len(a.Reply), len(b.Reply)) {
		subject := "reply"
		if i > 0 {
			subject = fmt.Sprintf("reply %d", i+1)
		}
		d.parts(subject, partsAt(a.Reply, i), partsAt(b.Reply, i))
	}
	d.text("reply", "finish", "", a.Finish, b.Finish)
	d.text("reply", "failure", "", a.Failure, b.Failure)
	return d.found
}

func partsAt(messages []transcript.Message, i int) []transcript.Part {
	if i >= len(messages) {
		return nil
	}
	return messages[i].Parts
}

// A differ collects changes.
type differ struct{ found []Change }

func (d *differ) add(c Change) { d.found = append(d.found, c) }

// text compares two texts, "" being none.
func (d *differ) text(subject, field, where, a, b string) {
	if a != b {
		was, is := clipPair(a, b)
		d.add(Change{Subject: subject, Field: field, Where: where, Old: was, New: is})
	}
}

// json compares two JSON texts value by value, and as texts where one is none.
func (d *differ) json(subject, field, where, a, b string) {
	if a == b {
		return
	}
	x, errA := canon.ParseTree([]byte(a))
	y, errB := canon.ParseTree([]byte(b))
	if errA != nil || errB != nil {
		d.text(subject, field, where, a, b)
		return
	}
	d.value(subject, field, where, "", x, y)
}

// opaque members are made up by providers for each answer, or are aliases.
var opaque = map[string]bool{
	"signature": true, "thoughtSignature": true, "encrypted_content": true, "encrypted_index": true, "obfuscation": true,
	"id": true, "item_id": true, "tool_use_id": true, "reasoning_details": true, "native_finish_reason": true,
}

func (d *differ) value(subject, field, where, pointer string, a, b *canon.Node) {
	switch {
	case canon.Equal(a, b):
	case a.Kind() == canon.Object && b.Kind() == canon.Object:
		for name, v := range a.Members() {
			d.member(subject, field, where, pointer+canon.JoinPointer(name), name, v, b.Field(name))
		}
		for name, v := range b.Members() {
			if a.Field(name) == nil {
				d.member(subject, field, where, pointer+canon.JoinPointer(name), name, nil, v)
			}
		}
	case a.Kind() == canon.Array && b.Kind() == canon.Array:
		x, y := items(a), items(b)
		for _, p := range align(len(x), len(y), func(i, j int) bool { return canon.Equal(x[i], y[j]) }, sameShape(x, y)) {
			switch {
			case p[0] < 0:
				d.leaf(subject, field, where, fmt.Sprint(pointer, "/", p[1]), nil, y[p[1]])
			case p[1] < 0:
				d.leaf(subject, field, where, fmt.Sprint(pointer, "/", p[0]), x[p[0]], nil)
			default:
				d.value(subject, field, where, fmt.Sprint(pointer, "/", p[1]), x[p[0]], y[p[1]])
			}
		}
	default:
		d.leaf(subject, field, where, pointer, a, b)
	}
}

func (d *differ) member(subject, field, where, pointer, name string, a, b *canon.Node) {
	switch {
	case opaque[name] && field == "fields":
	case a == nil || b == nil:
		d.leaf(subject, field, where, pointer, a, b)
	default:
		d.value(subject, field, where, pointer, a, b)
	}
}

func (d *differ) leaf(subject, field, where, pointer string, a, b *canon.Node) {
	if pointer != "" {
		field = strings.TrimSpace(field + " " + pointer)
	}
	was, is := shown(a), shown(b)
	if a.Kind() == canon.String && b.Kind() == canon.String {
		was, is = clipPair(a.Text(), b.Text())
	}
	d.add(Change{Subject: subject, Field: field, Where: where, Old: was, New: is})
}

// shown is a value alone; what is not there shows nothing.
func shown(n *canon.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind() == canon.String:
		return strconv.Quote(clip(n.Text()))
	}
	if c, err := canon.JSON(n.Bytes()); err == nil {
		return clip(string(c))
	}
	return clip(string(n.Bytes()))
}

func items(n *canon.Node) []*canon.Node {
	var out []*canon.Node
	for _, it := range n.Items() {
		out = append(out, it)
	}
	return out
}

func sameShape(x, y []*canon.Node) func(i, j int) bool {
	return func(i, j int) bool { return x[i].Kind() == y[j].Kind() }
}
