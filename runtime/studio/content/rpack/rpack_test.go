package rpack_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/formattest"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

const doc = `{ "module": {"name": "Ünder", "lorebook": [], "x": 1e2}, "type": "risuModule" }`

func TestTable(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	s := formattest.Spelling()
	spelt, err := s.Write("x", "module", all)
	if err != nil || bytes.Equal(spelt, all) {
		t.Fatalf("%x, %v", spelt, err)
	}
	if back, err := s.Read("x", "module", spelt); err != nil || !bytes.Equal(back, all) {
		t.Errorf("%x, %v", back, err)
	}
	sound := formattest.Table()
	swap := func(i, j int) []byte {
		raw := slices.Clone(sound)
		raw[i], raw[j] = raw[j], raw[i]
		return raw
	}
	double := slices.Clone(sound)
	double[0] = double[1]
	for what, raw := range map[string][]byte{
		"empty": {}, "short": sound[:511], "long": append(slices.Clone(sound), 0), "zero": make([]byte, 512),
		"the first half is another": swap(3, 4), "the second half is another": swap(300, 301), "a byte twice": double,
	} {
		bad := rpack.New(func() ([]byte, error) { return raw, nil })
		if _, err := bad.Read("x", "module", all); fault.CodeOf(err) != rpack.CodeTable || !strings.Contains(err.Error(), rpack.Setting) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The table is opened where it is needed, once; a failure is tried again.
func TestTableIsOpenedLate(t *testing.T) {
	opened, gone := 0, errors.New("gone")
	s := rpack.New(func() ([]byte, error) {
		if opened++; opened == 1 {
			return nil, gone
		}
		return formattest.Table(), nil
	})
	if _, err := s.Module("x.risum", []byte("short")); opened != 0 || fault.CodeOf(err) != rpack.CodeModule {
		t.Errorf("opened %d times for what is no module: %v", opened, err)
	}
	if _, err := s.Read("x", "preset", []byte("a")); !errors.Is(err, gone) {
		t.Error(err)
	}
	for range 3 {
		if _, err := s.Read("x", "preset", []byte("a")); err != nil || opened != 2 {
			t.Errorf("opened %d times, %v", opened, err)
		}
	}
	for _, none := range []*rpack.Speller{nil, rpack.New(nil)} {
		_, err := none.Read("x.risup", "preset", nil)
		if none.Set() || fault.CodeOf(err) != rpack.CodeTable || !strings.Contains(fault.HintOf(err), rpack.Setting) {
			t.Errorf("%v", err)
		}
	}
}

func TestModule(t *testing.T) {
	data := append(formattest.Module(t, doc, "one", ""), "behind"...)
	s := formattest.Spelling()
	m, err := s.Module("a.risum", data)
	if err != nil || m.Assets != 2 || m.Doc.At(rpack.Name).Text() != "Ünder" {
		t.Fatalf("%+v, %v", m, err)
	}
	if again, err := s.Spell("a.risum", m); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%q, %v", again, err)
	}
	if err := m.Doc.Set(rpack.Name, canon.NewText("B")); err != nil {
		t.Fatal(err)
	}
	out, err := s.Spell("a.risum", m)
	if err != nil {
		t.Fatal(err)
	}
	m, err = s.Module("a.risum", out)
	if want := strings.Replace(doc, "Ünder", "B", 1); err != nil || string(m.Doc.Bytes()) != want || m.Assets != 2 || !bytes.HasSuffix(out, []byte("behind")) {
		t.Errorf("%s, %v", m.Doc.Bytes(), err)
	}
}

func TestModuleRefused(t *testing.T) {
	sound := formattest.Module(t, doc, "one")
	with := func(at int, b ...byte) []byte {
		raw := slices.Clone(sound)
		copy(raw[at:], b)
		return raw
	}
	n := int(binary.LittleEndian.Uint32(sound[2:]))
	for what, tt := range map[string]struct {
		data []byte
		says string
	}{
		"empty":                    {nil, "no module"},
		"another file":             {[]byte("PK\x03\x04......"), "no module"},
		"another version":          {with(1, 1), "version 1"},
		"a document beyond bounds": {with(2, 0xff, 0xff, 0xff, 0xff), "the bound"},
		"a document that is short": {with(2, byte(n+200), byte((n+200)>>8)), "cut off"},
		"a shorter document":       {with(2, byte(n-1)), "mark"},
		"no assets and no end":     {sound[:6+n], "no end"},
		"an asset beyond the end":  {with(6+n+1, 4), "cut off"},
		"an asset of 4 GB":         {with(6+n+1, 0xff, 0xff, 0xff, 0xff), "cut off in its asset 1"},
		"half a length":            {sound[:6+n+3], "cut off in its asset 1"},
		"another mark":             {with(6+n, 7), "the mark 7"},
		"too many assets":          {append(sound[:6+n:6+n], bytes.Repeat([]byte{1, 0, 0, 0, 0}, 10_001)...), "more than 10000"},
		"no JSON":                  {formattest.Module(t, `"x"`), "none of a module"},
		"another type":             {formattest.Module(t, `{"module":{},"type":"risuPreset"}`), `"risuPreset"`},
		"a module that is a list":  {formattest.Module(t, `{"module":[],"type":"risuModule"}`), "none of a module"},
		"huge":                     {append([]byte("o\x00"), make([]byte, 64<<20)...), "the bound"},
		"another table's":          {with(6, sound[8]), "does not read"},
	} {
		_, err := formattest.Spelling().Module("x.risum", tt.data)
		if fault.CodeOf(err) != rpack.CodeModule || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", what, err, tt.says)
		}
	}
}

func FuzzModule(f *testing.F) {
	s := formattest.Spelling()
	f.Add(formattest.Module(f, doc, "one", "two"))
	f.Add([]byte("o\x00\xff\xff\xff\xff"))
	f.Add([]byte("o\x00\x00\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := s.Module("x.risum", data)
		if err != nil {
			if fault.CodeOf(err) != rpack.CodeModule {
				t.Fatal(err)
			}
			return
		}
		if again, err := s.Spell("x.risum", m); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q, %v\nwant %q", again, err, data)
		}
	})
}
