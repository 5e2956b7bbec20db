// Package card reads and writes the JSON of Character Cards, versions 1, 2 and 3.
//
// It is a pure codec of the content studio. Read turns a card into the canonical
// body of a character and keeps the document as its twin; Write lays a canonical
// body over a twin: a value that equals what Read made of it leaves the twin's
// tokens alone, so keys that nobody here knows survive. What a version cannot hold
// is said as data, a Loss, never left out in silence. It does not open files
// (content/carrier does) and does not know other platforms' formats.
package card

import (
	"fmt"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// MaxItems is how many items one list of a card may have: greetings, tags, assets.
const MaxItems = 10_000

// The codes of this package.
const (
	CodeTooMany fault.Code = "CARD_TOO_MANY_ITEMS"     // a list longer than MaxItems
	CodeNotCard fault.Code = "CARD_NOT_A_CARD"         // JSON, and not a character card
	CodeFormat  fault.Code = "CARD_FORMAT_UNSUPPORTED" // a known format that is not read yet
)

// A Version is a version of the Character Card specification.
type Version int

// The versions.
const (
	V1 Version = 1 + iota
	V2
	V3
)

// String is "v1", "v2" or "v3".
func (v Version) String() string { return "v" + strconv.Itoa(int(v)) }

// A Loss is one value that does not cross to a version whole.
type Loss = twin.Loss

// A Card is one card document as it was read.
type Card struct {
	Version     Version
	Doc         *canon.Node // the document, to write over
	Body        *canon.Node // what it means: the canonical body of a character
	BookEntries int         // of the embedded lorebook, which stays in the document
	Warnings    []string
}

// Read reads the JSON of a card.
func Read(text []byte) (Card, error) {
	doc, err := canon.ParseTree(text)
	if err != nil {
		return Card{}, fault.Wrap(err, fault.CodeOf(err), "card.read", "the card cannot be read")
	}
	return ReadTree(doc)
}

// ReadTree is Read of a document that is parsed already.
func ReadTree(doc *canon.Node) (Card, error) {
	c := Card{Doc: doc}
	if err := c.detect(); err != nil {
		return Card{}, err
	}
	for _, f := range fields {
		if n := doc.At(c.Version.root() + f.at[c.Version].ptr).Len(); f.at[c.Version].ptr != "" && n > MaxItems {
			return Card{}, tooMany(f.at[c.Version].ptr, n)
		}
		for _, s := range f.spots(c.Version) {
			for name, list := range doc.At(s.bag).Members() {
				if s.bag != "" && list.Len() > MaxItems {
					return Card{}, tooMany(s.bag+canon.JoinPointer(name), list.Len())
				}
			}
			if n := doc.At(s.ptr).Len(); s.bag != "" && n > MaxItems {
				return Card{}, tooMany(s.ptr, n)
			}
		}
	}
	c.Body, c.Warnings = readBody(doc, c.Version, c.Warnings)
	c.BookEntries = doc.At(c.Version.root() + "/character_book/entries").Len()
	return c, nil
}

func tooMany(ptr string, n int) error {
	return fault.New(CodeTooMany, "card.read", "%s has %d items, the bound is %d", ptr, n, MaxItems)
}

// Book is the node of the embedded lorebook, or nil.
func (c Card) Book() *canon.Node {
	if c.Version == V1 {
		return nil
	}
	return c.Doc.At(c.Version.root() + "/character_book")
}

// root is where the fields of a version stand in its document.
func (v Version) root() string {
	if v == V1 {
		return ""
	}
	return "/data"
}

func (c *Card) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

func readBody(doc *canon.Node, v Version, warnings []string) (*canon.Node, []string) {
	body := canon.NewObject()
	for _, f := range fields {
		val, problems := f.read(doc, v)
		warnings = append(warnings, problems...)
		if val != nil {
			must(body.Set(f.path, val))
		}
	}
	return body, warnings
}

// must is for pointers of our own tables into objects of our own making.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
