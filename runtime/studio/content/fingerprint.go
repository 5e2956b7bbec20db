package content

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/soundstage-dev/soundstage/harness/canon"
)

// Fingerprint is the same for two bodies of a kind that mean the same content: their
// canonical forms are equal but for the ids of linked pieces, which are this studio's.
func Fingerprint(body []byte) string {
	n, err := canon.ParseTree(body)
	if err == nil && n.Kind() == canon.Object {
		var raw []byte
		if raw, err = canon.JSON(withoutLinks(n).Bytes()); err == nil {
			body = raw
		}
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
