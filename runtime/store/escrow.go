package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// An EscrowRef is one escrow in what a database keeps of a revision. Its bytes are kept
// once, under their digest.
type EscrowRef struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Digest names the bytes of an original: SHA-256, in hex.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// EscrowList is what a revision says of its escrows as JSON, and the digests in order.
// Two lists are equal exactly when the files are.
func EscrowList(escrow []Escrow) (string, []string) {
	refs, digests := make([]EscrowRef, len(escrow)), make([]string, len(escrow))
	for i, e := range escrow {
		digests[i] = Digest(e.Raw)
		refs[i] = EscrowRef{e.Format, e.Name, digests[i]}
	}
	b, err := json.Marshal(refs)
	if err != nil {
		panic("store: strings do not marshal: " + err.Error())
	}
	return string(b), digests
}
