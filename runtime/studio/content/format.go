package content

import (
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A Loss is one value that an export cannot hold whole.
type Loss = twin.Loss

// A Format is one kind of file of one platform. Formats meet only in the canonical
// body: none knows another.
type Format interface {
	// About is fixed: it says what the format is.
	About() About
	// Score says how sure the format is that the file is one of its own, from 0 to 1.
	// From 0.5 up it takes the file. What is specific says more than what is generic.
	Score(f File) float64
	// Read takes every piece out of the file, or none.
	Read(f File) (Reading, error)
	// Write gives the file that means the body, and what it cannot hold.
	Write(w Writing) (Written, error)
}

// An Unpacker is a Format of files in which there is a document that only it sees.
type Unpacker interface {
	// Unpack gives that document, and its keyword, which is "" where it is the file's only
	// one. Read takes it from the file's Docs where it stands there: a file is read many
	// times to find out what is used of it.
	Unpack(f File) (Doc, error)
}

// About is what a format is.
type About struct {
	Name     string   // stable, and the escrow's: "sillytavern-world"
	Platform string   // for people: "SillyTavern"
	Kinds    []string // of pieces that it holds; those that it writes come from Writes
	Writes   []string // kinds that Write takes; empty for a format that is only read
	Instead  string   // the format that is written in place of this one, where this one is only read
	Closed   error    // why nothing is written, where the person can change that; nil elsewhere
	Ext      string   // of a file that is written: ".json"
	Verbatim bool     // a piece that has not changed may be given back as the file that it came from; never true for files that can hold secrets
}

// A File is a file as formats see it: read once, looked at by all.
type File struct {
	Name    string       // the base name, for people
	Raw     []byte       // all of it
	Carrier carrier.File // what a picture or an archive carries; the zero File where it is neither or does not read
	Doc     *canon.Node  // the JSON document of a JSON file; nil elsewhere
	Docs    []Doc        // the documents that a picture or an archive carries, as they lie in Carrier.Payloads; of a JSON file Doc alone
	Err     error        // why Carrier or Doc could not be read, for a format that knows the file by its first bytes
}

// A Doc is one document that a file carries.
type Doc struct {
	Keyword string      // "ccv3", "chara", …; "" in a JSON file
	Tree    *canon.Node // nil where it is no JSON
	Err     error       // why
}

// Unpacked is the document that an Unpacker's file was opened with, or nil.
func (f File) Unpacked() *canon.Node {
	if f.Carrier.Kind != "" || len(f.Docs) != 1 {
		return nil
	}
	return f.Docs[0].Tree
}

// A Reading is what a format made of a file.
type Reading struct {
	Found    []Found
	Warnings []string // what the reader had to guess or mend
	Inside   []string // files of the archive that were read too, into which only the format sees; such a file is never given back unread
}

// A Found is one piece in a file.
type Found struct {
	Kind     string
	Body     *canon.Node   // canonical; a missing name is filled from the file's
	Original *store.Escrow // the part of the file that is this piece's; nil is the whole file
	Place    string        // where in the document that part stands, as a pointer
	Links    []FoundLink   // to other pieces of the same file
	Notes    Notes
}

// A FoundLink names another piece of the file: the id that it is given goes into the
// list, or the text, at Path of the body.
type FoundLink struct {
	Path string
	List bool
	To   int // index in Found
}

// Notes are figures for people and tests.
type Notes struct {
	Spec        string // of a card: "v2"
	BookEntries int    // of a lorebook inside
	Assets      int    // that it names
	Missing     int    // of those, the ones that the file should carry and does not
}

// A Writing is what a format is asked to write.
type Writing struct {
	Piece  store.Piece
	Body   *canon.Node    // the piece's, parsed; not to be changed
	Linked []store.Piece  // the pieces that the body names and that are there, for files that embed them
	Twin   *store.Escrow  // the original of this format, or nil
	Others []store.Escrow // originals of other formats
}

// A Written is a file.
type Written struct {
	Data     []byte
	Losses   []Loss   // Target is filled by the caller
	Stripped []string // pointers of secrets that were taken out of the file
}

// Formats is the table of formats.
type Formats struct{ list []Format }

// NewFormats makes the table. Two formats of one name are a wiring bug and panic.
func NewFormats(list ...Format) *Formats {
	seen := map[string]bool{}
	for _, f := range list {
		if n := f.About().Name; seen[n] {
			panic("content: the format " + n + " is registered twice")
		}
		seen[f.About().Name] = true
	}
	return &Formats{list: slices.Clone(list)}
}

// All is what each format is, by name.
func (t *Formats) All() []About {
	var all []About
	for _, f := range t.list {
		all = append(all, f.About())
	}
	slices.SortFunc(all, func(a, b About) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Writing are the names of the formats that write a kind; "" is any.
func (t *Formats) Writing(kind string) []string {
	var names []string
	for _, a := range t.All() {
		if len(a.Writes) > 0 && (kind == "" || slices.Contains(a.Writes, kind)) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Named is the format of that name that writes the kind.
func (t *Formats) Named(name, kind string) (Format, error) {
	const op = "content.export"
	i := slices.IndexFunc(t.list, func(f Format) bool { return f.About().Name == name })
	usual := strings.Join(t.Writing(kind), ", ")
	switch {
	case usual == "":
		return nil, fault.New(CodeFormat, op, "no format holds a piece of kind %q", kind).WithHint("read the piece with studio.read")
	case strings.Contains(strings.ToLower(name), "lumiverse"):
		return nil, fault.New(CodeFormat, op, "Lumiverse is not written: its licence forbids to build on it").WithHint("use one of %s", usual)
	case i < 0:
		return nil, fault.New(CodeFormat, op, "there is no format %q", clip(name, 80)).WithHint("use one of %s", usual)
	case t.list[i].About().Closed != nil && slices.Contains(t.list[i].About().Kinds, kind):
		return nil, t.list[i].About().Closed
	case !slices.Contains(t.list[i].About().Writes, kind):
		return nil, fault.New(CodeFormat, op, "the format %q does not hold a piece of kind %q", name, kind).WithHint("use one of %s", usual)
	}
	return t.list[i], nil
}

// of are the formats that a piece came from and that write it; the usual one of its
// kind where there is none.
func (t *Formats) of(p store.Piece) []string {
	if t == nil {
		return nil
	}
	var names []string
	for _, e := range p.Escrow {
		if name := t.written(e.Format); name != "" && !slices.Contains(names, name) {
			if _, err := t.Named(name, p.Kind); err == nil {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		if n := t.Usual(p); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// usual is the format of each kind that most programs read.
var usual = map[string]string{
	KindCharacter: "json-v2", KindLorebook: "sillytavern-world", KindPersona: "sillytavern-personas", KindPreset: "sillytavern-chat",
	KindRegex: "sillytavern-regex", KindQuickReply: "sillytavern-quickreply", KindPack: "soundstage", KindHTMLDoc: "html",
}

// written is the format, or the one that is written in its place.
func (t *Formats) written(name string) string {
	for _, f := range t.list {
		if a := f.About(); a.Name == name && len(a.Writes) == 0 && a.Instead != "" {
			return a.Instead
		}
	}
	return name
}

// Usual is the format that a piece came from, else that of its kind which most programs
// read, else the first; "" where nothing writes it.
func (t *Formats) Usual(p store.Piece) string {
	for _, e := range p.Escrow {
		if name := t.written(e.Format); name != "" {
			if _, err := t.Named(name, p.Kind); err == nil {
				return name
			}
		}
	}
	names := t.Writing(p.Kind)
	switch {
	case slices.Contains(names, usual[p.Kind]):
		return usual[p.Kind]
	case len(names) > 0:
		return names[0]
	}
	return ""
}
