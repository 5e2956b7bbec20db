package content

import (
	"encoding/base64"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

const (
	inlinePNG = "data:image/png;base64,"
	// OriginalPrefix begins a portrait that is the picture of an imported file; the name
	// of its format follows.
	OriginalPrefix = "original:"
)

// InlinePNG is the picture in a data: URI; nil where that holds no PNG.
func InlinePNG(ref string) []byte {
	data, ok := strings.CutPrefix(ref, inlinePNG)
	if !ok {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || carrier.Sniff(raw) != carrier.PNG {
		return nil
	}
	return raw
}

// Inlined is a portrait as a data: URI that means the same without the originals: of the
// picture of an imported file its bytes, without the card. It is "" where those are not
// at hand, and what needs no original stays as it is.
func Inlined(ref string, originals []store.Escrow) string {
	format, ok := strings.CutPrefix(ref, OriginalPrefix)
	if !ok {
		return ref
	}
	for _, e := range originals {
		if e.Format != format || carrier.Sniff(e.Raw) != carrier.PNG {
			continue
		}
		if bare, err := carrier.Bare(e.Raw); err == nil {
			return inlinePNG + base64.StdEncoding.EncodeToString(bare)
		}
	}
	return ""
}
