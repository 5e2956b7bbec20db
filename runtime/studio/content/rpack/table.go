// Package rpack reads and writes what Risu spells with its own table of bytes: a packed
// preset, and the container of a module.
//
// It is a pure codec of the content studio, below the formats. The table's licence does
// not let it be built in: a person names a file that has it, and the file is opened where
// something spelled with it is read or written, never before. The package knows what a
// module is made of, and not what its lists mean; it runs nothing.
package rpack

import (
	"sync"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// TableSize is the bytes of a table: how each byte is spelled, and how it is read again.
const TableSize = 512

// CodeTable says that there is no table to read or write with.
const CodeTable fault.Code = "RISU_TABLE" // spelled with Risu's own table of bytes, and none is set, or it is not sound

// Setting is the key of the settings that names the table's file.
const Setting = "risuTable"

// A table is one spelling.
type table struct{ spelt, read [256]byte }

// parseTable takes a table whose halves undo one another.
func parseTable(raw []byte) (*table, error) {
	switch {
	case len(raw) > TableSize:
		return nil, unsound("the file that %s names is no table: it has more than %d bytes", Setting, TableSize)
	case len(raw) < TableSize:
		return nil, unsound("the file that %s names is no table: it has %d bytes, and a table %d", Setting, len(raw), TableSize)
	}
	t := &table{spelt: [256]byte(raw[:256]), read: [256]byte(raw[256:])}
	for b := range 256 {
		if got := t.read[t.spelt[b]]; int(got) != b {
			return nil, unsound("the file that %s names is no table: the byte %d is spelled %d, and that is read as %d", Setting, b, t.spelt[b], got)
		}
	}
	return t, nil // what undoes every byte spells no two alike
}

func unsound(format string, args ...any) error {
	return fault.New(CodeTable, "risu.table", format, args...).
		WithHint("let %s name the file rpack_map.bin of Risu, of %d bytes", Setting, TableSize)
}

// A Speller spells and reads, with a table that it opens when it first needs it.
type Speller struct {
	open  func() ([]byte, error)
	mu    sync.Mutex
	table *table // nil until it was opened, and sound
}

// New gives a speller whose table open gives; of a nil open it has none.
func New(open func() ([]byte, error)) *Speller { return &Speller{open: open} }

// Set reports that a person has named a table. It is not opened, and may not be sound.
func (s *Speller) Set() bool { return s != nil && s.open != nil }

// Read is what data says. name is the file's, and what says what is in it, for people.
func (s *Speller) Read(name, what string, data []byte) ([]byte, error) {
	t, err := s.opened(name, what)
	if err != nil {
		return nil, err
	}
	return swapped(data, &t.read), nil
}

// Write spells data; name and what are as in Read.
func (s *Speller) Write(name, what string, data []byte) ([]byte, error) {
	t, err := s.opened(name, what)
	if err != nil {
		return nil, err
	}
	return swapped(data, &t.spelt), nil
}

func swapped(data []byte, by *[256]byte) []byte {
	out := make([]byte, len(data))
	for i, b := range data {
		out[i] = by[b]
	}
	return out
}

const (
	notBuiltIn = "which is not built in: its licence forbids it"
	setIt      = "let %s in soundstage.yaml name the file rpack_map.bin of Risu"
)

// Closed says why no file with that extension can be written; nil where one can.
func (s *Speller) Closed(what, ext string) error {
	if s.Set() {
		return nil
	}
	return fault.New(CodeTable, "risu.table", "a %s in a %s is spelled with Risu's own table of bytes, "+notBuiltIn, what, ext).
		WithHint(setIt, Setting)
}

// opened is the table. A failure is not kept: the person may mend it while the program
// runs.
func (s *Speller) opened(name, what string) (*table, error) {
	if !s.Set() {
		return nil, fault.New(CodeTable, "risu.table", "%q is a %s spelled with Risu's own table of bytes, "+notBuiltIn, name, what).
			WithHint(setIt+", or export it from Risu %s", Setting, instead[what])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table != nil {
		return s.table, nil
	}
	raw, err := s.open()
	if err != nil {
		return nil, err
	}
	s.table, err = parseTable(raw)
	return s.table, err
}

// instead is how Risu gives the same without the table.
var instead = map[string]string{"preset": "as JSON, or as a .risupreset", "module": "in parts: its lorebook and its regex scripts"}
