package clientfile

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// maxTOML bounds such a file, in bytes: people write it by hand.
const maxTOML = 1 << 20

// A tomlFile is TOML. Servers are tables below one table.
type tomlFile struct {
	client Client
	src    []byte
	all    map[string]any
	tables []table
	eol    string
}

// A table is where one begins: its line, and its name.
type table struct {
	line int
	name []string
}

func readTOML(c Client, src []byte) (*tomlFile, error) {
	if len(src) > maxTOML {
		return nil, tooLarge(maxTOML)
	}
	d := &tomlFile{client: c, src: src, eol: lineEnd(src)}
	if at := tooDeepTOML(src); at >= 0 {
		return nil, malformed(src, at, "it nests deeper than %d", maxDepth)
	}
	if err := toml.Unmarshal(src, &d.all); err != nil {
		at := 0
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := bad.Position()
			at = offsetOf(src, line, column)
		}
		return nil, malformed(src, at, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	var p unstable.Parser
	p.Reset(src)
	for p.NextExpression() {
		node := p.Expression()
		if node.Kind != unstable.Table && node.Kind != unstable.ArrayTable {
			continue
		}
		t := table{line: -1}
		for keys := node.Key(); keys.Next(); {
			if t.line < 0 {
				t.line = 1 + bytes.LastIndexByte(src[:keys.Node().Raw.Offset], '\n')
			}
			t.name = append(t.name, string(keys.Node().Data))
		}
		d.tables = append(d.tables, t)
	}
	if err := p.Error(); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "mcp.install", "find the tables")
	}
	return d, nil
}

// tooDeepTOML is where brackets are nested too deep, or -1. It counts those in texts too:
// nobody writes so many.
func tooDeepTOML(src []byte) int {
	depth := 0
	for i, b := range src {
		switch b {
		case '[', '{':
			if depth++; depth > maxDepth {
				return i
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return -1
}

func offsetOf(src []byte, line, column int) int {
	at := 0
	for range line - 1 {
		at += bytes.IndexByte(src[at:], '\n') + 1
	}
	return min(len(src), at+max(0, column-1))
}

func (d *tomlFile) entry(name string) ([]byte, error) {
	servers, ok := d.all[d.client.container].(map[string]any)
	if !ok || servers[name] == nil {
		return nil, nil
	}
	b, err := stdjson.Marshal(servers[name])
	if err != nil { // a NaN
		return []byte("{}"), nil
	}
	return b, nil
}

func (d *tomlFile) insert(e Entry) ([]edit, error) {
	text := ""
	if len(d.src) > 0 {
		text = d.eol
		if !bytes.HasSuffix(d.src, []byte("\n")) {
			text += d.eol
		}
	}
	return []edit{{len(d.src), len(d.src), text + d.text(e)}}, nil
}

func (d *tomlFile) text(e Entry) string {
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		args[i] = tomlText(a)
	}
	return strings.Join([]string{
		fmt.Sprintf("[%s.%s]", d.client.container, tomlKey(e.Name)),
		"command = " + tomlText(e.Command), "args = [" + strings.Join(args, ", ") + "]", "",
	}, d.eol)
}

func tomlKey(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0 {
		return s
	}
	return tomlText(s)
}

// tomlText is a text as JSON writes it, which TOML reads the same way but for one
// character.
func tomlText(s string) string { return strings.ReplaceAll(quote(s), "\x7f", `\u007f`) }

// block is the text of a server's table and of those below it.
func (d *tomlFile) block(name string) (from, end int, err error) {
	path := []string{d.client.container, name}
	from = -1
	for i, t := range d.tables {
		if len(t.name) < 2 || !slices.Equal(t.name[:2], path) {
			continue
		}
		if from >= 0 && t.line != end {
			from = -1
			break // in two places
		}
		if from < 0 {
			from = t.line
		}
		end = len(d.src)
		if i+1 < len(d.tables) {
			end = d.tables[i+1].line
		}
	}
	if from < 0 {
		return 0, 0, fault.New(CodeMalformed, "mcp.install", "the server %q is not written as one table [%s.%s]", name, d.client.container, name).
			WithHint("nothing was written; change or remove it by hand")
	}
	// What stands before the next table is about that.
	for end > from {
		line := 1 + bytes.LastIndexByte(d.src[from:end-1], '\n') + from
		text := bytes.TrimSpace(d.src[line:end])
		if len(text) > 0 && text[0] != '#' {
			break
		}
		end = line
	}
	return from, end, nil
}

func (d *tomlFile) replace(e Entry) ([]edit, error) {
	from, end, err := d.block(e.Name)
	if err != nil {
		return nil, err
	}
	return []edit{{from, end, d.text(e)}}, nil
}

func (d *tomlFile) remove(name string) ([]edit, error) {
	if raw, err := d.entry(name); raw == nil || err != nil {
		return nil, err
	}
	from, end, err := d.block(name)
	if err != nil {
		return nil, err
	}
	if before := d.src[:from]; bytes.HasSuffix(before, []byte(d.eol+d.eol)) {
		from -= len(d.eol)
	}
	return []edit{{from, end, ""}}, nil
}

func (d *tomlFile) rest(name string) string {
	again := map[string]any{} // restOf takes it apart
	if toml.Unmarshal(d.src, &again) != nil {
		return ""
	}
	return restOf(again, d.client.container, name)
}
