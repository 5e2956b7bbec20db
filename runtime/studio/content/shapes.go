package content

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/soundstage-dev/soundstage/harness/redact"
)

// mask masks what looks like a credential. It knows none by value.
var mask = redact.New(redact.Options{}).Mask

// folderKeys are what Risu calls folders of a lorebook by, in JSON: {"key": "\uf000folder:6f1c1c7a-93b1-…"}.
// They are as random as a credential, under a name that credentials have.
var folderKeys = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\\u[fF]000|\x{F000})folder:[^"\\]{1,100}`)
})

// asides stand for folder keys while a text is masked.
var asides = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x{F001}[0-9]+\x{F001}`) })

// shapes masks what looks like a credential, and leaves keys of folders.
func shapes(text []byte) []byte {
	out := mask(text)
	if bytes.Equal(out, text) || !bytes.Contains(text, []byte("folder:")) || bytes.ContainsRune(text, '\uf001') {
		return out
	}
	var kept [][]byte
	without := folderKeys().ReplaceAllFunc(text, func(key []byte) []byte {
		if alone := fmt.Appendf(nil, "%q", key); !bytes.Equal(mask(alone), alone) {
			return key // a credential wherever it stands
		}
		kept = append(kept, key)
		return fmt.Appendf(nil, "\uf001%d\uf001", len(kept)-1)
	})
	return asides().ReplaceAllFunc(mask(without), func(aside []byte) []byte {
		if n, err := strconv.Atoi(string(bytes.Trim(aside, "\uf001"))); err == nil && n < len(kept) {
			return kept[n]
		}
		return aside
	})
}
