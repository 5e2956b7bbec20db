package clientfile

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// maxDepth bounds how deep a file may nest.
const maxDepth = 500

// A jsonFile is JSON, with comments and trailing commas where the client takes them.
type jsonFile struct {
	client  Client
	src     []byte
	root    *hujson.Object // nil where the file is empty
	start   int            // of the root
	servers *hujson.Object // nil where there are none yet
	at      hujson.Value   // that servers is the value of
	eol     string
}

var whereBad = regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)

func readJSON(c Client, src []byte) (*jsonFile, error) {
	d := &jsonFile{client: c, src: src, eol: lineEnd(src)}
	text := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	skip := len(src) - len(text)
	if len(bytes.TrimSpace(text)) == 0 {
		return d, nil
	}
	if at := tooDeep(text); at >= 0 {
		return nil, malformed(src, skip+at, "it nests deeper than %d", maxDepth)
	}
	v, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return nil, malformed(src, skip+badOffset(text, err), "%s", whereBad.ReplaceAllString(err.Error(), ""))
	}
	if c.strict {
		if err := plainJSON(text); err != nil {
			bad, _ := errors.AsType[*jsontext.SyntacticError](err)
			at := 0
			if bad != nil {
				at = int(bad.ByteOffset)
			}
			return nil, malformed(src, skip+at, "%s reads plain JSON, without comments and trailing commas", c.Title)
		}
	}
	shift(&v, skip)
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, malformed(src, v.StartOffset, "the file is not an object")
	}
	d.root, d.start = root, v.StartOffset
	m, err := d.member(root, c.container)
	if err != nil || m == nil {
		return d, err
	}
	if d.servers, ok = m.Value.Value.(*hujson.Object); !ok {
		return nil, malformed(src, m.Value.StartOffset, "%q is not an object", c.container)
	}
	d.at = m.Value
	return d, nil
}

// shift moves all offsets on by what stood before the text.
func shift(v *hujson.Value, by int) {
	for part := range v.All() {
		part.StartOffset += by
		part.EndOffset += by
	}
}

func plainJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	return nil
}

func badOffset(text []byte, err error) int {
	m := whereBad.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	line, _ := strconv.Atoi(m[1])
	column, _ := strconv.Atoi(m[2])
	at := 0
	for range line - 1 {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at + column - 1
}

// tooDeep is where a text nests too deep, or -1. The parser would follow it down.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case b == '/' && bytes.HasPrefix(text[i:], []byte("//")):
			i += to(text[i:], "\n")
		case b == '/' && bytes.HasPrefix(text[i:], []byte("/*")):
			i += 2 + to(text[i+2:], "*/")
		case b == '{', b == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case b == '}', b == ']':
			depth--
		}
	}
	return -1
}

func to(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i
	}
	return len(text)
}

// member is the one of a name; twice is an error, since readers differ on which counts.
func (d *jsonFile) member(o *hujson.Object, name string) (found *hujson.ObjectMember, err error) {
	for i := range o.Members {
		m := &o.Members[i]
		if l, ok := m.Name.Value.(hujson.Literal); !ok || l.String() != name {
			continue
		}
		if found != nil {
			return nil, malformed(d.src, m.Name.StartOffset, "%q is there twice", name)
		}
		found = m
	}
	return found, nil
}

func (d *jsonFile) server(name string) (*hujson.ObjectMember, error) {
	if d.servers == nil {
		return nil, nil
	}
	return d.member(d.servers, name)
}

func (d *jsonFile) entry(name string) ([]byte, error) {
	m, err := d.server(name)
	if err != nil || m == nil {
		return nil, err
	}
	return hujson.Standardize(bytes.Clone(d.src[m.Value.StartOffset:m.Value.EndOffset]))
}

func (d *jsonFile) insert(e Entry) ([]edit, error) {
	switch {
	case d.root == nil:
		return []edit{{len(d.src), len(d.src), d.object("", "  ", d.client.container, d.object("  ", "  ", e.Name, d.pretty(e, "    ", "  "))) + d.eol}}, nil
	case d.servers == nil:
		line, unit := d.style()
		if line == "" {
			return d.add(d.root, d.start, "", "", d.client.container, "{"+quote(e.Name)+":"+d.client.value(e)+"}"), nil
		}
		in := indentOf(line)
		return d.add(d.root, d.start, line, "", d.client.container, d.object(in, unit, e.Name, d.pretty(e, in+unit, unit))), nil
	}
	rootLine, unit := d.style()
	line, base := "", indentOf(rootLine)
	switch {
	case len(d.servers.Members) > 0:
		line, _ = margin(string(d.servers.Members[0].Name.BeforeExtra))
	case rootLine != "":
		line = d.eol + base + unit
	}
	value := d.client.value(e)
	if line != "" {
		value = d.pretty(e, indentOf(line), unit)
	}
	return d.add(d.servers, d.at.StartOffset, line, base, e.Name, value), nil
}

// style is how the members of the root begin their lines, "" where the file is one line,
// and what each level is indented by.
func (d *jsonFile) style() (line, unit string) {
	if len(d.root.Members) == 0 {
		return d.eol + "  ", "  "
	}
	line, _ = margin(string(d.root.Members[0].Name.BeforeExtra))
	if unit = indentOf(line); unit == "" {
		unit = "  "
	}
	return line, unit
}

func indentOf(line string) string { return strings.TrimLeft(line, "\r\n") }

// object is an object with one member, on lines of its own.
func (d *jsonFile) object(in, unit, name, value string) string {
	return "{" + d.eol + in + unit + quote(name) + ": " + value + d.eol + in + "}"
}

// pretty is an entry on lines of its own.
func (d *jsonFile) pretty(e Entry, in, unit string) string {
	var b bytes.Buffer
	_ = stdjson.Indent(&b, []byte(d.client.value(e)), in, unit) // it is JSON of our making
	return strings.ReplaceAll(b.String(), "\n", d.eol)
}

// add puts a member at the end of an object that begins at start.
func (d *jsonFile) add(o *hujson.Object, start int, line, base, name, value string) []edit {
	colon := ":"
	if line != "" || bytes.Contains(d.src, []byte(`": `)) {
		colon = ": "
	}
	text := line + quote(name) + colon + value
	n := len(o.Members)
	if n == 0 {
		at, rest := beyond(string(o.AfterExtra))
		if line != "" && !strings.Contains(rest, "\n") {
			text += d.eol + base
		}
		return []edit{{start + 1 + at, start + 1 + at, text}}
	}
	last := o.Members[n-1].Value
	if line == "" {
		_, space := margin(string(o.Members[0].Name.BeforeExtra))
		if n > 1 {
			_, space = margin(string(o.Members[n-1].Name.BeforeExtra))
		}
		text = space + text
	}
	if last.AfterExtra == nil { // no trailing comma
		at, _ := beyond(string(o.AfterExtra))
		if line == "" {
			at = 0
		}
		if at == 0 {
			return []edit{{last.EndOffset, last.EndOffset, "," + text}}
		}
		return []edit{{last.EndOffset, last.EndOffset, ","}, {last.EndOffset + at, last.EndOffset + at, text}}
	}
	comma := last.EndOffset + len(last.AfterExtra) + 1
	at, _ := beyond(string(o.AfterExtra))
	if line == "" {
		at = 0
	}
	return []edit{{comma + at, comma + at, text + ","}}
}

// beyond is where the comments end that stand on the line of what is before them.
func beyond(extra string) (at int, rest string) {
	for i := 0; i < len(extra); {
		switch {
		case strings.HasPrefix(extra[i:], "//"):
			end := strings.IndexByte(extra[i:], '\n')
			if end < 0 {
				return len(extra), ""
			}
			at = i + end
			if extra[at-1] == '\r' {
				at--
			}
			return at, extra[at:]
		case strings.HasPrefix(extra[i:], "/*"):
			i += 2 + to([]byte(extra[i+2:]), "*/") + 2
			at = i
		case extra[i] == '\n':
			return at, extra[at:]
		default:
			i++
		}
	}
	return at, extra[at:]
}

func (d *jsonFile) replace(e Entry) ([]edit, error) {
	m, err := d.server(e.Name)
	if err != nil {
		return nil, err
	}
	value := d.client.value(e)
	if line, _ := margin(string(m.Name.BeforeExtra)); line != "" {
		_, unit := d.style()
		value = d.pretty(e, indentOf(line), unit)
	}
	return []edit{{m.Value.StartOffset, m.Value.EndOffset, value}}, nil
}

func (d *jsonFile) remove(name string) ([]edit, error) {
	m, err := d.server(name)
	if err != nil || m == nil {
		return nil, err
	}
	list := d.servers.Members
	i := 0
	for &list[i] != m {
		i++
	}
	before := string(m.Name.BeforeExtra)
	line, space := margin(before)
	from := m.Name.StartOffset - len(line) - len(space)
	last, comma := i == len(list)-1, m.Value.EndOffset+len(m.Value.AfterExtra)
	switch {
	case !last || m.Value.AfterExtra != nil:
		return []edit{{from, comma + 1, ""}}, nil
	case i == 0 && strings.TrimSpace(before+string(d.servers.AfterExtra)) == "":
		return []edit{{d.at.StartOffset + 1, d.at.EndOffset - 1, ""}}, nil
	case i == 0:
		return []edit{{from, m.Value.EndOffset, ""}}, nil
	}
	previous := list[i-1].Value
	at := previous.EndOffset + len(previous.AfterExtra)
	return []edit{{at, at + 1, ""}, {from, m.Value.EndOffset, ""}}, nil
}

// rest implements document. A list of servers that is empty is as none.
func (d *jsonFile) rest(name string) string {
	if d.root == nil {
		return restOf(map[string]any{}, "", "")
	}
	plain, err := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(d.src, []byte("\xef\xbb\xbf"))))
	if err != nil {
		return "" // it was parsed before
	}
	dec := stdjson.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	var all map[string]any
	if dec.Decode(&all) != nil {
		return ""
	}
	return restOf(all, d.client.container, name)
}

func restOf(all map[string]any, container, name string) string {
	if servers, ok := all[container].(map[string]any); ok {
		if delete(servers, name); len(servers) == 0 {
			delete(all, container)
		}
	}
	return fmt.Sprintf("%#v", all) // in order of name, and NaN is equal to itself
}
