package content

import "strings"

// KeyFlags are the flags that a pattern among the keys of a lorebook can have.
const KeyFlags = "gimsuy"

// ReadKey is a key as the files of most platforms spell it: a word, or a pattern
// between slashes. A slash inside of a pattern is written with a backslash there, and
// without one here.
func ReadKey(text string) LoreKey {
	end := strings.LastIndexByte(text, '/')
	if end < 2 || text[0] != '/' || strings.Trim(text[end+1:], KeyFlags) != "" {
		return LoreKey{Text: text}
	}
	body, ok := unslash(text[1:end])
	if !ok {
		return LoreKey{Text: text} // "/a/b/" is no pattern
	}
	return LoreKey{Text: body, Regex: true, Flags: text[end+1:]}
}

// Spelled is the key as such files spell it. ReadKey of it is the key again, unless it
// has a probability, flags that they do not have, a word that looks like a pattern, or
// a pattern that ends in a backslash or is empty.
func (k LoreKey) Spelled() string {
	if !k.Regex {
		return k.Text
	}
	flags := strings.Map(func(r rune) rune {
		if strings.ContainsRune(KeyFlags, r) {
			return r
		}
		return -1
	}, k.Flags)
	return "/" + slash(k.Text) + "/" + flags
}

// unslash takes the backslash from before each slash; false where a slash has none.
func unslash(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '/':
			return "", false
		case s[i] == '\\' && i+1 == len(s):
			return "", false // it escapes the slash that ends the pattern
		case s[i] == '\\' && s[i+1] == '/':
			b.WriteByte('/')
			i++
		case s[i] == '\\':
			b.WriteString(s[i : i+2])
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// slash puts a backslash before each slash that has none.
func slash(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '/':
			b.WriteString(`\/`)
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
