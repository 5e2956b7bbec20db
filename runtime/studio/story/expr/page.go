package expr

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/flosch/pongo2/v6"
	"github.com/muesli/reflow/wordwrap"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// Pages compiles templates of pages. What they extend and include is read through read,
// by a slashed name below the views folder.
type Pages struct {
	set  *pongo2.TemplateSet
	mu   sync.Mutex
	made map[string]*Template // by source: the same texts stand in many views
}

// NewPages makes a Pages. A nil read knows no files.
func NewPages(read func(name string) ([]byte, error)) *Pages {
	register()
	set := pongo2.NewSet("story", loader{read})
	for _, tag := range []string{"ssi", "import"} { // the one reads any file of the machine
		_ = set.BanTag(tag) // nothing is compiled yet
	}
	return &Pages{set: set, made: map[string]*Template{}}
}

type loader struct {
	read func(string) ([]byte, error)
}

// Abs implements pongo2.TemplateLoader: names are seen from the views folder.
func (loader) Abs(_, name string) string { return path.Clean(name) }

// Get implements pongo2.TemplateLoader.
func (l loader) Get(name string) (io.Reader, error) {
	if l.read == nil {
		return nil, fault.New(CodeTemplate, "story.template", "there is no page %q", name)
	}
	raw, err := l.read(name)
	if err != nil {
		return nil, err
	}
	return strings.NewReader(coalesced(string(raw))), nil
}

type page struct {
	template *pongo2.Template
	source   string
	whole    bool // other pages take part: source does not have all names that are read
}

// Page compiles a template of a page.
func (p *Pages) Page(source string) (*Template, error) {
	t := &Template{source: source, plain: !strings.Contains(source, "{{") && !strings.Contains(source, "{%")}
	if t.plain {
		return t, nil
	}
	p.mu.Lock()
	made := p.made[source]
	p.mu.Unlock()
	if made != nil {
		return made, nil
	}
	others := strings.Contains(source, "extends") || strings.Contains(source, "include")
	if err := p.compile(t, others, func() (*pongo2.Template, error) { return p.set.FromString(coalesced(source)) }); err != nil {
		return t, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made[source] = t
	return t, nil
}

// File compiles a page that is a file.
func (p *Pages) File(name string) (*Template, error) {
	t := &Template{source: name}
	return t, p.compile(t, true, func() (*pongo2.Template, error) { return p.set.FromFile(name) })
}

func (p *Pages) compile(t *Template, whole bool, from func() (*pongo2.Template, error)) (err error) {
	defer caught(&err, t.source)
	made, err := from()
	if err != nil {
		return pageError(t.source, err)
	}
	t.page = &page{made, t.source, whole}
	t.reads = pageReads(t.source)
	return nil
}

func pageError(source string, err error) error {
	if e, ok := err.(*pongo2.Error); ok { //nolint:errorlint // the library gives it bare
		if e.Line == 0 { // another page that it names
			return fault.New(CodeTemplate, "story.template", "the page %q: %s", e.Filename, e.OrigError).WithHint("pages lie in the folder views of the story")
		}
		return fault.New(CodeTemplate, "story.template", "line %d, column %d of the page: %s", e.Line, e.Column, e.OrigError).
			WithHint("the page is %q", clip(source))
	}
	return fault.New(CodeTemplate, "story.template", "%s", err).WithHint("the page is %q", clip(source))
}

// caught makes an error of a panic: filters are code of others over texts of others.
func caught(err *error, source string) {
	if r := recover(); r != nil {
		*err = fault.New(CodeTemplate, "story.template", "%v", r).WithHint("the page is %q", clip(source))
	}
}

func (p *page) render(env *Env) (out string, err error) {
	defer caught(&err, p.source)
	b := &bounded{}
	if err := p.template.ExecuteWriterUnbuffered(p.context(env), b); err != nil {
		return "", pageError(p.source, err)
	}
	return b.String(), nil
}

// context is what a page can name. The library looks at and copies all that it is given,
// which costs more than most pages do.
func (p *page) context(env *Env) pongo2.Context {
	if p.whole {
		return env.vars
	}
	c := make(pongo2.Context, 4)
	for name, v := range env.vars {
		if strings.Contains(p.source, name) {
			c[name] = v
		}
	}
	return c
}

// bounded is a buffer that refuses to grow beyond MaxOutput.
type bounded struct{ bytes.Buffer }

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > MaxOutput {
		return 0, fault.New(CodeTooLong, "story.template", "a page gives more than %d bytes", MaxOutput)
	}
	return b.Buffer.Write(p)
}

// WriteString implements io.StringWriter.
func (b *bounded) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// register gives the library the filters of a story, once: it keeps them for the process.
var register = sync.OnceFunc(func() {
	pongo2.SetAutoescape(false)
	for name, f := range map[string]pongo2.FilterFunction{"reverse": reverse, "col": column, "rcol": rightColumn, "reference": reference} {
		if err := pongo2.RegisterFilter(name, f); err != nil {
			panic(err)
		}
	}
	// The library's own wraps after so many words, and fails on short texts.
	if err := pongo2.ReplaceFilter("wordwrap", wrapped); err != nil {
		panic(err)
	}
})

func wrapped(in, width *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	if width.Integer() <= 0 {
		return in, nil
	}
	return pongo2.AsValue(wordwrap.String(in.String(), width.Integer())), nil
}

// column cuts or pads a text to so many runes.
func column(in, width *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	text, pad := fit(in, width)
	return pongo2.AsValue(text + pad), nil
}

// rightColumn is column, with the text at its right end.
func rightColumn(in, width *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	text, pad := fit(in, width)
	return pongo2.AsValue(pad + text), nil
}

func fit(in, width *pongo2.Value) (text, pad string) {
	n := min(max(width.Integer(), 0), 10_000)
	runes := []rune(in.String())
	if len(runes) >= n {
		return string(runes[:n]), ""
	}
	return string(runes), strings.Repeat(" ", n-len(runes))
}

func reverse(in, _ *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	if in.IsNil() || !in.IsString() && !in.CanSlice() {
		return in, nil
	}
	if in.IsString() {
		var b strings.Builder
		for runes := []rune(in.String()); len(runes) > 0; runes = runes[:len(runes)-1] {
			b.WriteRune(runes[len(runes)-1])
		}
		return pongo2.AsValue(b.String()), nil
	}
	out := make([]any, 0, in.Len())
	for i := in.Len() - 1; i >= 0; i-- {
		out = append(out, in.Index(i).Interface())
	}
	return pongo2.AsValue(out), nil
}

// reference shows a text with its lines numbered, and where it is from.
func reference(in, label *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	if in.IsNil() {
		return in, nil
	}
	content := in.String()
	sum := sha256.Sum256([]byte(content))
	var lines []string
	span := "0-0"
	if content != "" {
		lines = strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		span = "1-" + strconv.Itoa(len(lines))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<reference src=%q lines=%q sha256=%q>\n", label.String(), span, hex.EncodeToString(sum[:])[:8])
	width := len(strconv.Itoa(len(lines)))
	for i, line := range lines {
		fmt.Fprintf(&b, "%*d | %s\n", width, i+1, line)
	}
	b.WriteString("</reference>")
	return pongo2.AsValue(b.String()), nil
}

// coalesced writes a ?? b as a|default:b between delimiters, which is how the library
// says it. Quoted texts stay as they are.
func coalesced(src string) string {
	if !strings.Contains(src, "??") {
		return src
	}
	var b strings.Builder
	for src != "" {
		open := strings.IndexAny(src, "{")
		if open < 0 || open+1 == len(src) {
			break
		}
		closing := map[byte]string{'{': "}}", '%': "%}"}[src[open+1]]
		if closing == "" {
			b.WriteString(src[:open+1])
			src = src[open+1:]
			continue
		}
		end := strings.Index(src[open+2:], closing)
		if end < 0 {
			break
		}
		b.WriteString(src[:open+2])
		b.WriteString(withDefault(src[open+2 : open+2+end]))
		b.WriteString(closing)
		src = src[open+2+end+2:]
	}
	b.WriteString(src)
	return b.String()
}

func withDefault(body string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(body):
			b.WriteByte(c)
			i++
			c = body[i]
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '?' && strings.HasPrefix(body[i:], "??"):
			head := strings.TrimRight(b.String(), " \t")
			b.Reset()
			b.WriteString(head + "|default:")
			i++
			for i+1 < len(body) && (body[i+1] == ' ' || body[i+1] == '\t') {
				i++
			}
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// pageReads finds world.name and slots.name between delimiters: the library gives no tree
// of a page to look through.
func pageReads(src string) []string {
	var g guard
	for _, root := range []string{World, Slots} {
		for at := 0; ; {
			i := strings.Index(src[at:], root+".")
			if i < 0 {
				break
			}
			i += at
			at = i + len(root) + 1
			end := at
			for end < len(src) && isName(src[end]) {
				end++
			}
			if end > at && (i == 0 || !isName(src[i-1]) && src[i-1] != '.') {
				g.read(root + "." + src[at:end])
			}
		}
	}
	return g.reads
}
