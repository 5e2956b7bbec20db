package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A value is JSON with templates in its strings. Keys keep the order and numbers
// the spelling of the script.
type value struct {
	kind    kind
	literal string // of a number, true, false, null
	text    template
	keys    []string
	items   []value
}

type kind uint8

const (
	absent kind = iota
	literal
	text
	list
	object
)

// encode writes v with the values of vars.
func (v value) encode(vars map[string]string) ([]byte, error) {
	var b bytes.Buffer
	err := v.write(&b, vars)
	return b.Bytes(), err
}

func (v value) write(b *bytes.Buffer, vars map[string]string) error {
	switch v.kind {
	case literal:
		b.WriteString(v.literal)
	case text:
		s := v.text.fill(vars)
		if !v.text.json {
			return writeString(b, s)
		}
		if !json.Valid([]byte(s)) {
			return fmt.Errorf("the value of %s is not JSON: %q", v.text.text, clip(s))
		}
		b.WriteString(s)
	case list:
		return v.writeAll(b, '[', ']', vars)
	case object:
		return v.writeAll(b, '{', '}', vars)
	}
	return nil
}

func (v value) writeAll(b *bytes.Buffer, open, shut byte, vars map[string]string) error {
	b.WriteByte(open)
	for i, item := range v.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.kind == object {
			if err := writeString(b, v.keys[i]); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := item.write(b, vars); err != nil {
			return err
		}
	}
	b.WriteByte(shut)
	return nil
}

func writeString(b *bytes.Buffer, s string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	b.Truncate(len(bytes.TrimRight(b.Bytes(), "\n")))
	return err
}

// refs calls f with each name that v uses.
func (v value) refs(f func(string)) {
	for _, r := range v.text.refs {
		f(r)
	}
	for _, item := range v.items {
		item.refs(f)
	}
}

// clip shortens s for a message.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= 200 {
		return s
	}
	return string(r[:200]) + "…"
}
