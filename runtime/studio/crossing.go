package studio

import (
	"context"
	"fmt"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Loss is one value that a format cannot hold whole.
type Loss struct {
	Path    string `json:"path"` // in the body; original: and a pointer for what only the imported file holds
	Value   string `json:"value"`
	Target  string `json:"target"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// A File is a piece as a file of a format.
type File struct {
	Format   string
	Name     string // the piece's id and the format's extension
	Data     []byte
	Losses   []Loss
	Stripped []string // pointers of credentials that are not in Data
	Exact    bool     // the file that the piece came from, byte for byte
}

// A Converter writes pieces as files. One function stands behind previews and exports,
// so that they agree.
type Converter interface {
	// Usual is the format that fits a piece best; "" where nothing writes it.
	Usual(p store.Piece) string
	// Convert writes a piece. linked are the pieces that it names, and that are there.
	Convert(p store.Piece, format string, linked []store.Piece) (File, error)
}

// Exports is the folder of exported files. It only ever makes new ones.
type Exports interface {
	// Save writes one, whole and synced or not at all, and gives its path from the
	// studio's folder on. who is a session, or "" for a person; name is the name wanted.
	Save(ctx context.Context, who, name string, data []byte) (path string, err error)
}

// A Crossing is what becomes of a piece in another format.
type Crossing struct {
	Piece    store.Piece
	File     File
	Warnings []string
}

// Cross writes a stored piece in a format, "" for the usual one, and says what that
// costs. Nothing is saved.
func (d Deps) Cross(ctx context.Context, op string, ref store.Ref, revision int64, format string) (Crossing, error) {
	p, err := d.stored(ctx, op, ref, revision)
	if err != nil {
		return Crossing{}, err
	}
	c := Crossing{Piece: p}
	if format == "" {
		if format = d.Converter.Usual(p); format == "" {
			return c, fault.New(CodeNoFormat, op, "no format holds a piece of kind %q", p.Kind).WithHint("read it with studio.read")
		}
	}
	linked, err := d.linked(ctx, &c)
	if err != nil {
		return c, err
	}
	if c.File, err = d.Converter.Convert(p, format, linked); err != nil {
		return c, err
	}
	if len(c.File.Stripped) > 0 {
		c.Warnings = append(c.Warnings, "credentials are not in the file, and stay in the studio's copy of the original")
	}
	return c, nil
}

// CodeNoFormat says that nothing writes the kind of a piece.
const CodeNoFormat fault.Code = "EXPORT_NO_FORMAT"

// linked are the pieces that the piece names; those that are not there are a warning.
func (d Deps) linked(ctx context.Context, c *Crossing) ([]store.Piece, error) {
	kind, ok := d.Kinds.byName[c.Piece.Kind]
	if !ok {
		return nil, nil
	}
	var found []store.Piece
	seen := map[store.Ref]bool{}
	for _, ref := range kind.Links(c.Piece.Body) {
		if seen[ref] {
			continue
		}
		seen[ref] = true
		p, err := d.Store.Get(ctx, ref, 0)
		switch fault.CodeOf(err) {
		case "":
			found = append(found, p)
		case fault.NotFound:
			c.Warnings = append(c.Warnings, fmt.Sprintf("it names %s, which is not in this studio", ref))
		default:
			return nil, err
		}
	}
	return found, nil
}

// said is the cost of a crossing in a sentence or two, for a question to a person.
func (c Crossing) said() string {
	if c.File.Exact {
		return "It is the file that the piece came from."
	}
	if len(c.File.Losses) == 0 && len(c.File.Stripped) == 0 {
		return "Nothing is lost."
	}
	text := ""
	for i, l := range c.File.Losses {
		if i == maxNamed {
			text += fmt.Sprintf("; and %d more", len(c.File.Losses)-i)
			break
		}
		if i > 0 {
			text += "; "
		}
		text += fmt.Sprintf("%s %s (%s)", l.Verdict, plain.Clip(l.Path, 80), plain.Clip(l.Reason, 120))
	}
	if text != "" {
		text = "It cannot hold all: " + text + "."
	}
	if n := len(c.File.Stripped); n > 0 {
		text += fmt.Sprintf(" Credentials that are left out: %s.", clipped(c.File.Stripped))
	}
	return text
}

func clipped(list []string) string {
	text := ""
	for i, s := range list {
		if i == maxNamed {
			return text + fmt.Sprintf(" and %d more", len(list)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += plain.Clip(s, 80)
	}
	return text
}
