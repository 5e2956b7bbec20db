package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CheckRef says whether ref is well formed. It does not look whether the piece
// exists.
func CheckRef(ref Ref) error {
	if err := checkName("kind", ref.Kind); err != nil {
		return err
	}
	return CheckID(ref.ID)
}

// CheckID says whether id may name a piece: 1 to [MaxID] lower case ASCII letters,
// digits and dashes, with no dash at either end. Such an id is safe as a file name
// and in a URL.
func CheckID(id string) error { return checkName("id", id) }

func checkName(what, s string) error {
	switch {
	case s == "":
		return fault.New(CodeBadRef, "store.ref", "the %s is empty", what).WithHint("write KIND/ID, like character/ada")
	case len(s) > MaxID:
		return fault.New(CodeBadRef, "store.ref", "the %s %q has %d characters, the most is %d", what, clip(s), utf8.RuneCountInString(s), MaxID).
			WithHint("choose a shorter %s", what)
	case s[0] == '-' || s[len(s)-1] == '-':
		return fault.New(CodeBadRef, "store.ref", "the %s %q begins or ends with a dash", what, s).
			WithHint("remove the dash")
	}
	for _, r := range s {
		if !idRune(r) {
			return fault.New(CodeBadRef, "store.ref", "the %s %q holds %q", what, s, r).
				WithHint("use lower case letters, digits and dashes")
		}
	}
	return nil
}

func idRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-'
}

// clip keeps a bad value short enough for a message.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// DeriveID makes an id out of a title: accents dropped, everything that is not a
// letter or digit a dash, cut at [MaxID]. A title without any usable character
// gets an id from its hash, so that the same title always gives the same id. It is
// the only function that decides ids; the caller refuses a derived id that is
// taken and never looks for a free sibling.
func DeriveID(title string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(norm.NFKD.String(strings.ToLower(title))) {
		switch {
		case idRune(r) && r != '-':
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		case isMark(r):
			// The accent of the letter before: dropped, and not a gap.
		default:
			dash = true
		}
	}
	id := b.String()
	if id == "" {
		sum := sha256.Sum256([]byte(title))
		return "x-" + hex.EncodeToString(sum[:5])
	}
	if len(id) > MaxID {
		id = strings.TrimRight(id[:MaxID], "-")
	}
	return id
}
