package formattest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// Table is a table of bytes as Risu has one, and not Risu's: tests spell with it.
func Table() []byte {
	raw := make([]byte, rpack.TableSize)
	for b, to := range rand.New(rand.NewPCG(6, 7)).Perm(256) {
		raw[b], raw[256+to] = byte(to), byte(b)
	}
	return raw
}

// Spelling spells with Table.
func Spelling() *rpack.Speller {
	return rpack.New(func() ([]byte, error) { return Table(), nil })
}

// RisuTable is Risu's own table, which is beside the corpus where a person has put it, and
// never in this repository. A test skips where there is none.
func RisuTable(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "shared", "corpus", "content", "risu", "rpack_map.bin")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Skip("Risu's table of bytes is not beside this repository: ", err)
	}
	return raw
}

// Module is a module with that document, and with assets of these bytes.
func Module(t testing.TB, doc string, assets ...string) []byte {
	t.Helper()
	s := Spelling()
	made, err := s.Spell("made.risum", rpack.Fresh(parse(t, []byte(doc))))
	must(t, err)
	made = made[:len(made)-1]
	for _, a := range assets {
		spelt, err := s.Write("made.risum", "module", []byte(a))
		must(t, err)
		made = append(append(made, 1, byte(len(a)), byte(len(a)>>8), 0, 0), spelt...)
	}
	return append(made, 0)
}

// Archive is a CHARX of that card with that module.
func Archive(t testing.TB, card string, module []byte, extras ...carrier.Extra) []byte {
	t.Helper()
	data, err := carrier.WriteArchive(nil, []byte(card), append(extras, carrier.Extra{Name: carrier.Module, Data: module})...)
	must(t, err)
	return data
}

// ModuleDoc is the document of a module.
func ModuleDoc(t testing.TB, data []byte) *canon.Node {
	t.Helper()
	m, err := Spelling().Module("x.risum", data)
	must(t, err)
	return m.Doc
}
