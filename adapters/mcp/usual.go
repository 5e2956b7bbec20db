package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// maxUsualID is how many digits a number has at most that is surely a whole one.
const maxUsualID = 15

// usual says that a line is a request or a notification as all clients write them, which
// is looked at once and not three times. What it does not know is for unfit to judge. The
// decoder is one that is kept for it.
func usual(d *jsontext.Decoder, line []byte) bool {
	if nested(line) {
		return false
	}
	d.Reset(bytes.NewBuffer(line))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	version, method := false, false
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return false
		}
		member := string(name)
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		switch member {
		case `"jsonrpc"`:
			version = string(value) == `"2.0"`
		case `"method"`:
			method = value.Kind() == '"'
		case `"id"`:
			if value.Kind() != '"' && (value.Kind() != '0' || len(value) > maxUsualID || bytes.ContainsAny(value, ".eE")) {
				return false
			}
		case `"params"`:
			if value.Kind() != '{' {
				return false
			}
		default:
			return false
		}
	}
	end, err := d.ReadToken()
	return err == nil && end.Kind() == '}' && d.InputOffset() == int64(len(line)) && version && method
}

// maxDepth is how many levels of objects and lists the SDK reads in a line.
const maxDepth = 1000

// nested says that a line could be deeper than maxDepth: it has the brackets for it.
func nested(line []byte) bool {
	return len(line) > 2*maxDepth && bytes.Count(line, []byte{'{'})+bytes.Count(line, []byte{'['}) > maxDepth
}

// deepest is how many levels a line has.
func deepest(d *jsontext.Decoder, line []byte) int {
	d.Reset(bytes.NewBuffer(line))
	most := 0
	for {
		if _, err := d.ReadToken(); err != nil {
			return most
		}
		most = max(most, d.StackDepth())
	}
}
