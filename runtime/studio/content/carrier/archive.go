package carrier

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The bounds of an archive.
const (
	MaxArchive  = 96 << 20 // bytes of the file
	MaxEntries  = 512      // files in it
	MaxEntry    = 64 << 20 // bytes of one, inflated
	MaxInflated = 96 << 20 // bytes of all, inflated
)

// maxDirectory bounds what is read before the entries are counted.
const maxDirectory = 8 << 20

// The codes of archives.
const (
	CodeArchive   fault.Code = "CARRIER_BAD_ARCHIVE"      // no sound zip
	CodeEntries   fault.Code = "CARRIER_TOO_MANY_ENTRIES" // more than MaxEntries
	CodeDuplicate fault.Code = "CARRIER_DUPLICATE_ENTRY"  // one name twice
	CodeUnsafe    fault.Code = "CARRIER_UNSAFE_ENTRY"     // a name or a link that leads out of the archive
	CodeEncrypted fault.Code = "CARRIER_ENCRYPTED"        // needs a password
)

// CardName is the entry that holds the card; Module is a module of Risu beside it.
const (
	CardName = "card.json"
	Module   = "module.risum"
)

const archiveOp = "carrier.archive"

func readArchive(data []byte, kind Kind) (File, error) {
	z, err := openArchive(data, kind)
	if err != nil {
		return File{}, err
	}
	f := File{Kind: kind, Entries: map[string]bool{}}
	folder := ""
	for _, e := range z.File {
		f.Entries[e.Name] = true
		if path.Base(e.Name) == CardName && folder == "" {
			folder = e.Name
		}
	}
	if !f.Entries[CardName] {
		return File{}, noCard(f.Entries, folder)
	}
	text, err := inflateEntry(z, CardName, MaxText)
	if err != nil {
		return File{}, err
	}
	f.Payloads = []Payload{{Text: bytes.Trim(bytes.TrimPrefix(text, bom), jsonSpace)}}
	return f, nil
}

func noCard(names map[string]bool, folder string) error {
	switch {
	case folder != "":
		return fault.New(CodeNoCard, archiveOp, "the archive has its card at %q and not at its root", folder).
			WithHint("pack the contents of the folder, not the folder")
	case names["manifest.json"]:
		return fault.New(CodeUnsupported, archiveOp, "the archive is of Backyard AI, which is not read").
			WithHint("export the character from there as a PNG")
	}
	return fault.New(CodeNoCard, archiveOp, "the archive has no %q", CardName).
		WithHint("a character in an archive is a .charx file")
}

// openArchive opens a zip, also one behind a picture, and holds it to the bounds by what
// its directory says. Nothing is inflated.
func openArchive(data []byte, kind Kind) (*zip.Reader, error) {
	if err := checkEnd(data, kind); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fault.Wrap(err, CodeArchive, archiveOp, "the archive cannot be read").WithHint("download the original file again")
	}
	if len(z.File) > MaxEntries {
		return nil, tooManyEntries(len(z.File))
	}
	return z, checkEntries(z)
}

// checkEnd reads the end record, which says how many entries there are, before a
// directory of millions is read.
func checkEnd(data []byte, kind Kind) error {
	const size = 22
	tail := data[max(0, len(data)-size-1<<16):]
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	switch {
	case at < 0 && kind == JPEG:
		return fault.New(CodeNoCard, archiveOp, "the picture carries no card: a JPEG can have an archive behind it, and this one has none").
			WithHint("many sites strip the card from a picture; download the original file")
	case at < 0 || len(tail)-at < size:
		return fault.New(CodeArchive, archiveOp, "the archive has no end: it is cut off").WithHint("download the original file again")
	}
	end := tail[at:]
	if n := int(binary.LittleEndian.Uint16(end[10:])); n > MaxEntries {
		return tooManyEntries(n)
	}
	if n := binary.LittleEndian.Uint32(end[12:]); n > maxDirectory {
		return fault.New(CodeTooLarge, archiveOp, "the archive's directory has %d bytes, the bound is %d", n, maxDirectory)
	}
	return nil
}

func tooManyEntries(n int) error {
	return fault.New(CodeEntries, archiveOp, "the archive has %d files, the bound is %d", n, MaxEntries)
}

func checkEntries(z *zip.Reader) error {
	seen := map[string]bool{}
	var unsafe []string
	total := uint64(0)
	for _, e := range z.File {
		name := path.Clean(e.Name)
		switch {
		case leadsOut(e):
			unsafe = append(unsafe, e.Name)
			continue
		case seen[name]:
			return fault.New(CodeDuplicate, archiveOp, "the archive has %q twice, and programs differ in which one counts", clipName(e.Name)).
				WithHint("pack it again with one of them")
		case e.Flags&1 != 0:
			return fault.New(CodeEncrypted, archiveOp, "%q in the archive is encrypted", clipName(e.Name)).WithHint("pack it without a password")
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return fault.New(CodeUnsupported, archiveOp, "%q in the archive is packed by method %d", clipName(e.Name), e.Method).WithHint("pack it with deflate")
		case e.UncompressedSize64 > MaxEntry:
			return fault.New(CodeTooLarge, archiveOp, "%q in the archive has %d bytes, the bound is %d", clipName(e.Name), e.UncompressedSize64, MaxEntry)
		}
		seen[name] = true
		if total += e.UncompressedSize64; total > MaxInflated {
			return fault.New(CodeTooLarge, archiveOp, "the files in the archive have more than %d bytes together", MaxInflated)
		}
	}
	if len(unsafe) > 0 {
		return fault.New(CodeUnsafe, archiveOp, "the archive has %d files whose names or links lead out of it, the first is %q", len(unsafe), clipName(unsafe[0])).
			WithHint("do not unpack it; ask for the card as a PNG")
	}
	return nil
}

// leadsOut reports a name that is a path to somewhere else on one system or another, or
// an entry that is no plain file.
func leadsOut(e *zip.File) bool {
	name := strings.TrimSuffix(e.Name, "/")
	return name == "" || strings.ContainsAny(name, "\\:\x00") || path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") ||
		!e.Mode().IsRegular() && !e.Mode().IsDir()
}

func clipName(s string) string {
	if len(s) <= 120 {
		return s
	}
	return strings.ToValidUTF8(s[:119], "") + "…"
}

func inflateEntry(z *zip.Reader, name string, limit int) ([]byte, error) {
	for _, e := range z.File {
		if e.Name != name {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return nil, fault.Wrap(err, CodeArchive, archiveOp, "%q in the archive cannot be read", name)
		}
		defer r.Close()
		out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
		if len(out) > limit {
			return nil, fault.New(CodeTooLarge, archiveOp, "%q in the archive has more than %d bytes", name, limit)
		}
		if err != nil {
			return nil, fault.Wrap(err, CodeArchive, archiveOp, "%q in the archive cannot be read", name)
		}
		return out, nil
	}
	return nil, fault.New(fault.NotFound, archiveOp, "the archive has no %q", clipName(name))
}

// Entry is a file out of an archive that Read took.
func Entry(data []byte, name string) ([]byte, error) {
	z, err := openArchive(data, Sniff(data))
	if err != nil {
		return nil, err
	}
	return inflateEntry(z, name, MaxEntry)
}

// An Extra is a file that is put into an archive.
type Extra struct {
	Name string
	Data []byte
}

// WriteArchive returns a CHARX with the card. The entries of the original, an archive
// or one behind a JPEG, come along packed as they are; nil begins an empty one. Extras
// that have names which are taken are left out.
func WriteArchive(original, card []byte, extras ...Extra) ([]byte, error) {
	return writeArchive(nil, original, map[string][]byte{CardName: card}, extras)
}

// WriteModule is WriteArchive of an archive with another module too.
func WriteModule(original, card, module []byte) ([]byte, error) {
	return writeArchive(nil, original, map[string][]byte{CardName: card, Module: module}, nil)
}

// RewriteArchive is the archive with another card, behind its picture where it is behind
// one.
func RewriteArchive(original, card []byte) ([]byte, error) {
	z, err := openArchive(original, Sniff(original))
	if err != nil {
		return nil, err
	}
	return writeArchive(pictureOf(original, z), original, map[string][]byte{CardName: card}, nil)
}

// pictureOf is what stands before an archive.
func pictureOf(data []byte, z *zip.Reader) []byte {
	first := int64(len(data))
	for _, e := range z.File {
		if at, err := e.DataOffset(); err == nil {
			first = min(first, at)
		}
	}
	return data[:max(0, bytes.LastIndex(data[:first], []byte("PK\x03\x04")))]
}

// behind begins an archive behind a picture, or at once where there is none.
func behind(out *bytes.Buffer, picture []byte) *zip.Writer {
	out.Write(picture)
	w := zip.NewWriter(out)
	w.SetOffset(int64(len(picture)))
	return w
}

// writeArchive puts others in the place of entries of the original by their names. A card
// that has no place is put in.
func writeArchive(front, original []byte, others map[string][]byte, extras []Extra) ([]byte, error) {
	var out bytes.Buffer
	w := behind(&out, front)
	names := map[string]bool{}
	if original != nil {
		z, err := openArchive(original, Sniff(original))
		if err != nil {
			return nil, err
		}
		for _, e := range z.File {
			names[e.Name] = true
			if other, ok := others[e.Name]; ok {
				err = addEntry(w, zip.FileHeader{Name: e.Name, Method: e.Method, Modified: e.Modified, ExternalAttrs: e.ExternalAttrs, CreatorVersion: e.CreatorVersion}, other)
			} else {
				err = w.Copy(e)
			}
			if err != nil {
				return nil, notPacked(err, e.Name)
			}
		}
	}
	if !names[CardName] {
		extras = append([]Extra{{CardName, others[CardName]}}, extras...)
	}
	for _, x := range extras {
		if names[x.Name] {
			continue
		}
		names[x.Name] = true
		if err := addEntry(w, zip.FileHeader{Name: x.Name, Method: zip.Deflate}, x.Data); err != nil {
			return nil, notPacked(err, x.Name)
		}
	}
	if err := w.Close(); err != nil {
		return nil, notPacked(err, CardName)
	}
	if _, err := openArchive(out.Bytes(), Sniff(out.Bytes())); err != nil {
		return nil, fmt.Errorf("carrier.write: %w", err) // the extras are beyond the bounds
	}
	return out.Bytes(), nil
}

func addEntry(w *zip.Writer, h zip.FileHeader, data []byte) error {
	f, err := w.CreateHeader(&h)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return err
}

func notPacked(err error, name string) error {
	return fault.Wrap(err, CodeArchive, "carrier.write", "%q cannot be packed", clipName(name))
}
