package cli

import (
	"bytes"
	"encoding/json"
)

// indent lays JSON out for reading; what is not JSON stays as it is.
func indent(raw []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	return b.Bytes()
}
