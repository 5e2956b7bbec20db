package rpack

import (
	"encoding/binary"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// The bounds of a module.
const (
	maxModule = carrier.MaxFile // bytes of the file
	maxJSON   = 16 << 20        // of its document, which is small objects in the worst case
	maxAssets = 10_000
)

// CodeModule says that a module does not read.
const CodeModule fault.Code = "RISU_MODULE" // a module that is not well formed, or beyond its bounds

// The lists of a module, in its document.
const (
	Name     = "/module/name"
	About    = "/module/description"
	Lorebook = "/module/lorebook"
	Regex    = "/module/regex"
	Triggers = "/module/trigger"
)

// The bytes of the container. A document follows the first two, with its length; then
// assets, each with a mark and a length, to the end.
const (
	magic   = 'o'
	version = 0
	asset   = 1
	end     = 0
	head    = 2 + 4
)

// A Module is one container. What is behind its document is kept as it lies.
type Module struct {
	Doc    *canon.Node // {"module": {…}, "type": "risuModule"}
	Assets int         // how many files it carries
	text   []byte      // of Doc, as it was
	rest   []byte      // assets, the end, and what is behind it, spelled
}

// Fresh is an empty module with that document.
func Fresh(doc *canon.Node) Module { return Module{Doc: doc, rest: []byte{end}} }

// IsModule reports a file that begins as a module does, and is as long as it says.
func IsModule(data []byte) bool {
	_, _, err := split(data)
	return err == nil
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(CodeModule, "risu.module", format, args...).WithHint("export the module from Risu again")
}

// split gives the document, spelled, and what is behind it.
func split(data []byte) (doc, rest []byte, err error) {
	switch {
	case len(data) > maxModule:
		return nil, nil, fault.New(CodeModule, "risu.module", "the module has %d bytes, the bound is %d", len(data), maxModule)
	case len(data) < head || data[0] != magic:
		return nil, nil, bad("the file is no module of Risu: it begins with %q", data[:min(len(data), 12)])
	case data[1] != version:
		return nil, nil, bad("the module is of the version %d, and 0 is read", data[1])
	}
	n := binary.LittleEndian.Uint32(data[2:])
	switch {
	case n > maxJSON:
		return nil, nil, fault.New(CodeModule, "risu.module", "the document of the module has %d bytes, the bound is %d", n, maxJSON)
	case int(n) > len(data)-head:
		return nil, nil, bad("the module is cut off: its document has %d bytes, and %d are there", n, len(data)-head)
	}
	return data[head : head+int(n)], data[head+int(n):], nil
}

// count walks over the assets.
func count(rest []byte) (n int, err error) {
	for ; ; n++ {
		switch {
		case len(rest) == 0:
			return 0, bad("the module is cut off behind its asset %d: it has no end", n)
		case rest[0] == end:
			return n, nil
		case rest[0] != asset:
			return 0, bad("the module has the mark %d behind its asset %d, where 0 or 1 belongs", rest[0], n)
		case n == maxAssets:
			return 0, fault.New(CodeModule, "risu.module", "the module has more than %d assets", maxAssets)
		case len(rest) < 5 || uint64(binary.LittleEndian.Uint32(rest[1:])) > uint64(len(rest)-5):
			return 0, bad("the module is cut off in its asset %d", n+1)
		}
		rest = rest[5+int(binary.LittleEndian.Uint32(rest[1:])):]
	}
}

// Module reads a container. name is the file's, for people.
func (s *Speller) Module(name string, data []byte) (Module, error) {
	spelt, rest, err := split(data)
	if err != nil {
		if !s.Set() { // what the person can do comes first
			_, err = s.opened(name, "module")
		}
		return Module{}, err
	}
	m := Module{rest: rest}
	if m.text, err = s.Read(name, "module", spelt); err != nil {
		return Module{}, err
	}
	if m.Assets, err = count(rest); err != nil {
		return Module{}, err
	}
	if m.Doc, err = canon.ParseTree(m.text); err != nil {
		return Module{}, fault.Wrap(err, CodeModule, "risu.module", "the document of the module does not read").
			WithHint("see that the file that %s names is the table of this Risu, and that the module is whole", Setting)
	}
	if t := m.Doc.Field("type").Text(); t != "risuModule" || m.Doc.Field("module").Kind() != canon.Object {
		return Module{}, bad("the document of the module is none of a module: its type is %q", t)
	}
	return m, nil
}

// Spell writes a container: of one that was read and not changed, the same bytes.
func (s *Speller) Spell(name string, m Module) ([]byte, error) {
	text := m.Doc.Bytes()
	if m.text != nil {
		text = carrier.WriteJSON(m.text, text)
	}
	if len(text) > maxJSON {
		return nil, fault.New(CodeModule, "risu.module", "the document of the module has %d bytes, the bound is %d", len(text), maxJSON)
	}
	spelt, err := s.Write(name, "module", text)
	if err != nil {
		return nil, err
	}
	out := binary.LittleEndian.AppendUint32([]byte{magic, version}, uint32(len(text)))
	return append(append(out, spelt...), m.rest...), nil
}
