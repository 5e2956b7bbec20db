package source

import "fmt"

// The bounds of what the YAML reader below is given: it takes the square of the depth in
// time, and of how much one line opens.
const (
	maxOpen  = 512    // brackets within one another
	maxBegun = 1_024  // places of one line that begin something within the last
	maxParts = 50_000 // parts of one line
)

// tangled says why a file is not even looked at, or "". It knows no quotes, so that a text
// counts as what it would be without them: no text that a person writes comes near.
func tangled(raw []byte) (line int, why string) {
	line = 1
	open, begun, parts := 0, 0, 0
	before := byte(' ')
	for _, c := range raw {
		switch c {
		case '\n':
			line++
			begun, parts = 0, 0
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '!', '&', '*', '-', '?':
			if before == ' ' || before == '\n' {
				begun++
			}
		case ',', ':':
			parts++
			if c == ':' && open == 0 { // within brackets there are many, side by side
				begun++
			}
		}
		switch before = c; {
		case open > maxOpen:
			return line, fmt.Sprintf("more than %d brackets stand open", maxOpen)
		case begun > maxBegun:
			return line, fmt.Sprintf("the line begins more than %d things", maxBegun)
		case parts > maxParts:
			return line, fmt.Sprintf("the line has more than %d parts", maxParts)
		}
	}
	return 0, ""
}
