package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// minValue is the shortest value of a variable that is masked wherever it
// occurs. A shorter one ("test", "1234", "none") is a placeholder or a setting, and
// is part of ordinary words: masking it would change texts that hold no secret.
const minValue = 8

// credentialWords make a variable's name look like that of a credential.
// "AUTH" alone is a word of it and not a part of one (AUTHOR is none).
var credentialWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "PRIVATE"}

var authWords = []string{"AUTH", "AUTHORIZATION", "PASS", "PWD", "PAT", "BEARER", "JWT", "DSN"}

// IsCredentialName reports whether a variable of this name looks like it holds a
// credential.
func IsCredentialName(name string) bool {
	up := strings.ToUpper(name)
	for _, w := range credentialWords {
		if strings.Contains(up, w) {
			return true
		}
	}
	for part := range strings.FieldsFuncSeq(up, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains(authWords, part) {
			return up != "PWD" && up != "OLDPWD" // the shell's folders
		}
	}
	return false
}

// secretNeedles is every spelling of every credential in env, in order of the
// variables' names.
func secretNeedles(env map[string]string) []needle {
	var out []needle
	for _, name := range slices.Sorted(maps.Keys(env)) {
		values := urlPasswords(env[name])
		if IsCredentialName(name) {
			values = append(values, parts(env[name])...)
		}
		for _, v := range values {
			if tooPlain(v) {
				continue
			}
			with := []byte("{{secret:" + name + "}}")
			for _, text := range spellings(v) {
				out = append(out, needle{text: []byte(text), with: with, rule: "environment variable " + name})
			}
		}
	}
	return out
}

// tooPlain reports a value that is no secret by itself: short, a small number, a
// folder placeholder.
func tooPlain(v string) bool {
	if len(v) < minValue {
		return true
	}
	return len(v) < 16 && strings.Trim(v, "0123456789.,-") == ""
}

// parts is a value, and what it is made of: both halves of "user:password",
// also when the value is its base64 (as in a Basic header), and the token after a
// scheme ("Bearer x").
func parts(value string) []string {
	v := strings.TrimSpace(value)
	if v == "" {
		return nil
	}
	out := []string{v}
	for _, scheme := range []string{"Bearer ", "bearer ", "Basic ", "basic ", "token "} {
		if rest, ok := strings.CutPrefix(v, scheme); ok {
			out = append(out, strings.TrimSpace(rest))
		}
	}
	for _, s := range slices.Clone(out) {
		if plain := decodeBase64(s); plain != "" && strings.Contains(plain, ":") {
			out = append(out, plain)
		}
	}
	for _, s := range slices.Clone(out) {
		if user, pass, ok := strings.Cut(s, ":"); ok && user != "" && !strings.ContainsAny(user, "/ ") && !strings.HasPrefix(pass, "//") {
			out = append(out, pass)
		}
	}
	return out
}

// urlPasswords is the password of a value that is a URL.
func urlPasswords(value string) []string {
	if !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || u.User == nil {
		return nil
	}
	pass, ok := u.User.Password()
	if !ok {
		return nil
	}
	return []string{pass}
}

// decodeBase64 is the printable text that s is the base64 of, or "".
func decodeBase64(s string) string {
	trimmed := strings.TrimRight(s, "=")
	if len(trimmed) < minValue {
		return ""
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := enc.DecodeString(trimmed); err == nil && printable(b) {
			return string(b)
		}
	}
	return ""
}

func printable(b []byte) bool {
	for _, r := range string(b) {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return false
		}
	}
	return true
}

// spellings is v in every encoding that it can take in a request: as it is,
// URL-escaped in both styles and both cases, JSON-escaped in four styles, base64 of
// both alphabets at all three alignments (so also within a longer text, as in Basic
// authentication), and hex.
func spellings(v string) []string {
	out := []string{v, url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(url.QueryEscape(v), "+", "%20")}
	for _, s := range slices.Clone(out) {
		out = append(out, lowerPercent(s), url.QueryEscape(s), url.PathEscape(s)) // twice, as in a URL within a URL
	}
	for _, s := range slices.Clone(out[1:]) {
		if html := jsonInner(s, true); html != s {
			out = append(out, html) // a path keeps its &, and some JSON does not
		}
	}
	out = append(out, allPercent(v), strings.ToLower(allPercent(v)))
	for _, s := range jsonSpellings(v) {
		out = append(out, s, url.QueryEscape(s), url.PathEscape(s)) // JSON in a parameter
	}
	for pad := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if s := alignedBase64(enc, v, pad); len(s) >= minValue {
				out = append(out, s)
			}
		}
	}
	lower := hex.EncodeToString([]byte(v))
	return append(out, lower, strings.ToUpper(lower))
}

// alignedBase64 is the part of the base64 of pad unknown bytes, v, and unknown
// bytes that v alone determines.
func alignedBase64(enc *base64.Encoding, v string, pad int) string {
	s := enc.EncodeToString(append(make([]byte, pad), v...))
	bits := (pad + len(v)) * 8
	return s[(pad*8+5)/6 : bits/6]
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

func allPercent(s string) string {
	var sb strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&sb, "%%%02X", s[i])
	}
	return sb.String()
}

// jsonSpellings is v within a JSON string: escaped as little as possible, with
// <, > and & escaped, with slashes escaped, everything as \u00xx, and each of them
// once more, as it stands in JSON within a JSON string.
func jsonSpellings(v string) []string {
	all := func(format string) string {
		var sb strings.Builder
		for _, r := range v {
			fmt.Fprintf(&sb, format, r)
		}
		return sb.String()
	}
	plain, html := jsonInner(v, false), jsonInner(v, true)
	out := []string{plain, html, strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(html, "/", `\/`), all(`\u%04x`), all(`\u%04X`)}
	for _, s := range slices.Clone(out) {
		out = append(out, jsonInner(s, false))
		if again := jsonInner(s, true); again != out[len(out)-1] {
			out = append(out, again) // two encoders, of which the outer one escapes for HTML
		}
	}
	return out
}

// jsonInner is s as the inside of a JSON string.
func jsonInner(s string, html bool) string {
	var sb strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case r == '\n':
			sb.WriteString(`\n`)
		case r == '\r':
			sb.WriteString(`\r`)
		case r == '\t':
			sb.WriteString(`\t`)
		case r < ' ', html && strings.ContainsRune("<>&", r):
			fmt.Fprintf(&sb, `\u%04x`, r)
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// minFolder is the shortest folder that is masked: "/" and "/x" are in every
// second text.
const minFolder = 4

// folderNeedles is home and work as they stand in text, JSON and URLs, with
// slashes and backslashes.
func folderNeedles(home, work string) []needle {
	var out []needle
	add := func(dir, with string) {
		dir = strings.TrimRight(dir, `/\`)
		if len(dir) < minFolder {
			return
		}
		forms := []string{dir, strings.ReplaceAll(dir, `\`, `/`)}
		if strings.HasPrefix(dir, "/var/") || strings.HasPrefix(dir, "/tmp/") {
			forms = append(forms, "/private"+dir) // where macOS's links lead
		}
		if len(dir) > 1 && dir[1] == ':' {
			forms = append(forms, strings.ReplaceAll(dir, `/`, `\`))
		}
		for _, f := range slices.Clone(forms) {
			escaped := (&url.URL{Path: f}).EscapedPath()
			forms = append(forms, escaped, url.QueryEscape(f), lowerPercent(url.QueryEscape(f)))
			forms = append(forms, jsonSpellings(f)...)
		}
		for _, f := range forms {
			out = append(out, needle{text: []byte(f), with: []byte(with), path: true, rule: with + " folder"})
		}
	}
	add(work, WorkPlaceholder) // first: it wins where home and work are one folder
	add(home, HomePlaceholder)
	return out
}
