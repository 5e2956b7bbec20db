package export

import (
	"slices"
	"strings"
)

// The longest parts of a name, in bytes. File systems hold 255.
const (
	maxStem = 120
	maxExt  = 40
)

// split makes a name safe on every system, and cuts it before its extension: from its
// first dot on, as in .charx.jpg.
func split(name string) (stem, ext string) {
	stem, ext, dot := strings.Cut(name, ".")
	if !dot || strings.Trim(ext, ".") == "" {
		return part(name), ""
	}
	ext = part(ext)
	return part(stem), "." + ext[:min(len(ext), maxExt)]
}

// part is one safe part of a path. What a system could take for something else than a
// letter becomes a dash.
func part(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.' && b.Len() > 0:
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
		if b.Len() >= maxStem {
			break
		}
	}
	p := strings.Trim(strings.TrimRight(b.String(), "."), "-")
	if p == "" {
		return "piece"
	}
	if slices.Contains(devices, strings.ToLower(p)) {
		return "_" + p // Windows would open a device, whatever the extension
	}
	return p
}

var devices = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}
