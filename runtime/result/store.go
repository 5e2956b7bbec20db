package result

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A Handle names one result within its session: "result-3".
type Handle string

// A Store keeps the long results of one session. The oldest go first when a bound
// is reached. It is safe for concurrent use. Make one with New.
type Store struct {
	mu    sync.Mutex
	made  int     // handles given out
	lost  int     // of those, how many went with an earlier run of the program
	first int     // number of the oldest that is kept; 1 at first
	kept  []entry // from first on
	total int     // bytes kept
	ended bool
}

type entry struct {
	text  string
	runes int
}

// New returns an empty Store.
func New() *Store { return &Store{first: 1} }

// A Stat says how long a result is.
type Stat struct {
	Handle     Handle `json:"handle"`
	Characters int    `json:"characters"`
	Bytes      int    `json:"bytes"`
}

// Put keeps text and returns its handle. A text of more than [MaxBytes] is
// fault.TooLarge and pushes nothing out. What is not UTF-8 becomes U+FFFD.
func (s *Store) Put(text string) (Handle, error) {
	const op = "result.put"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > MaxBytes {
		return "", fault.New(fault.TooLarge, op, "the result has %d bytes, the most is %d", len(text), MaxBytes).
			WithHint("ask for less, or page through it with an offset")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return "", expired(op, "")
	}
	for len(s.kept) >= MaxResults || s.total+len(text) > MaxTotal {
		s.total -= len(s.kept[0].text)
		s.kept[0] = entry{} // the text is free at once, not when the slice grows
		s.kept = s.kept[1:]
		s.first++
	}
	s.made++
	s.kept = append(s.kept, entry{text, utf8.RuneCountInString(text)})
	s.total += len(text)
	return Handle(fmt.Sprintf("result-%d", s.made)), nil
}

// Text is the whole result.
func (s *Store) Text(h Handle) (string, error) {
	e, err := s.entry("result.text", h)
	return e.text, err
}

// Stat says how long a result is.
func (s *Store) Stat(h Handle) (Stat, error) {
	e, err := s.entry("result.stat", h)
	if err != nil {
		return Stat{}, err
	}
	return Stat{Handle: h, Characters: e.runes, Bytes: len(e.text)}, nil
}

// entry finds what h names, or says by its code why it is not there.
func (s *Store) entry(op string, h Handle) (entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := h.number()
	if n < 1 || n > s.made {
		return entry{}, fault.New(CodeUnknown, op, "there was no result %q in this session", clip(string(h))).
			WithHint("use a handle exactly as it was given")
	}
	switch {
	case s.ended || n <= s.lost:
		return entry{}, expired(op, h)
	case n < s.first:
		return entry{}, fault.New(CodeEvicted, op, "the result %q was dropped for newer ones", h).
			WithHint("run the call again that gave it")
	}
	return s.kept[n-s.first], nil
}

// number is the place of a handle in its session, 0 where it is none of ours.
func (h Handle) number() int {
	n := 0
	if _, err := fmt.Sscanf(string(h), "result-%d", &n); err != nil || h != Handle(fmt.Sprintf("result-%d", n)) {
		return 0
	}
	return n
}

func expired(op string, h Handle) error {
	return fault.New(CodeExpired, op, "the result %q is gone: the run of the program that kept it has ended", h).
		WithHint("run the call again that gave it")
}

// A Page is a part of a result.
type Page struct {
	Stat
	Offset int    `json:"offset"` // in characters
	Text   string `json:"text"`
	Next   int    `json:"next,omitempty"` // offset of what follows; 0 at the end
}

// Read gives up to limit characters from offset on; limit 0 is [MaxRead], which is
// also the most. An offset at the end gives an empty page, one behind it is
// fault.Invalid.
func (s *Store) Read(h Handle, offset, limit int) (Page, error) {
	const op = "result.read"
	e, err := s.entry(op, h)
	switch {
	case err != nil:
		return Page{}, err
	case offset < 0 || offset > e.runes:
		return Page{}, fault.New(fault.Invalid, op, "the offset %d is not within the %d characters of %q", offset, e.runes, h).
			WithHint("begin at 0")
	case limit < 0 || limit > MaxRead:
		return Page{}, fault.New(fault.Invalid, op, "the limit %d is not between 0 and %d", limit, MaxRead)
	case limit == 0:
		limit = MaxRead
	}
	p := Page{Stat: Stat{h, e.runes, len(e.text)}, Offset: offset}
	from := byteOf(e.text, offset)
	to := from + byteOf(e.text[from:], limit)
	p.Text = e.text[from:to]
	if to < len(e.text) {
		p.Next = offset + limit
	}
	return p, nil
}

// byteOf is where character n begins; the end if there are fewer.
func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// A Row is one place where a search found its text.
type Row struct {
	Offset int    `json:"offset"` // in characters, for Read
	Text   string `json:"text"`   // the line it stands in, clipped around it
}

// A Found is the answer of a search.
type Found struct {
	Stat
	Rows []Row `json:"rows"`
	More bool  `json:"more,omitempty"` // there are more places than MaxRows
}

// Search finds literal, upper and lower case alike, in order, at most [MaxRows]
// places; they do not overlap.
func (s *Store) Search(h Handle, literal string) (Found, error) {
	const op = "result.search"
	e, err := s.entry(op, h)
	switch n := utf8.RuneCountInString(literal); {
	case err != nil:
		return Found{}, err
	case n == 0 || n > maxLiteral:
		return Found{}, fault.New(fault.Invalid, op, "the text to look for has %d characters, it must have 1 to %d", n, maxLiteral)
	}
	f := Found{Stat: Stat{h, e.runes, len(e.text)}, Rows: []Row{}}
	text := []rune(e.text)
	in, want := string(folded(text)), string(folded([]rune(literal)))
	width := utf8.RuneCountInString(literal)
	at := 0 // in characters, of what stands before in
	for {
		i := strings.Index(in, want)
		if i < 0 {
			return f, nil
		}
		if len(f.Rows) == MaxRows {
			f.More = true
			return f, nil
		}
		at += utf8.RuneCountInString(in[:i])
		f.Rows = append(f.Rows, Row{Offset: at, Text: around(text, at, width)})
		at += width
		in = in[i+len(want):]
	}
}

const (
	maxLiteral = 1000 // characters of a text to look for
	rowWidth   = 160  // characters of a row, about
)

// folded maps each rune to one of those that differ from it in case only, the same
// for all of them, so that the places stay the same.
func folded(text []rune) []rune {
	out := make([]rune, len(text))
	for i, r := range text {
		out[i] = fold(r)
	}
	return out
}

func fold(r rune) rune {
	if r >= utf8.RuneSelf {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		r = least
	}
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// around is the line of the place, clipped to about rowWidth.
func around(text []rune, at, n int) string {
	room := max(rowWidth-n, 0) / 2
	from, to := at, min(at+n, len(text))
	for from > 0 && text[from-1] != '\n' && at-from < room {
		from--
	}
	for to < len(text) && text[to] != '\n' && to-at-n < room {
		to++
	}
	row := string(text[from:to])
	if from > 0 && text[from-1] != '\n' {
		row = "…" + row
	}
	if to < len(text) && text[to] != '\n' {
		row += "…"
	}
	return row
}

func clip(s string) string {
	shown, cut := Inline(s, 40)
	if cut {
		shown += "…"
	}
	return shown
}

// Inline is the first limit characters of text, and whether anything was cut.
func Inline(text string, limit int) (shown string, cut bool) {
	if len(text) <= limit { // no text has more characters than bytes
		return text, false
	}
	end := byteOf(text, max(limit, 0))
	return text[:end], end < len(text)
}
