package engine

import "strings"

// plain is a page as a trace keeps it: without what only a terminal reads, such as links to
// the files of one machine.
func plain(page string) string {
	if !strings.ContainsRune(page, '\x1b') {
		return page
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(page, "\x1b")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		page = rest[sequence(rest):]
	}
}

// sequence is how long what follows an ESC is.
func sequence(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case ']': // up to BEL, or to ESC and a backslash
		for i := 1; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	case '[': // up to its letter
		for i := 1; i < len(s); i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
		}
		return len(s)
	}
	return 1
}
