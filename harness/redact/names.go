package redact

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// requestHeaders are kept of a request. All others are dropped: a name that nobody
// thought of is more likely a credential than part of the question.
var requestHeaders = []string{
	"Accept", "Content-Type", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta",
	"Mcp-Protocol-Version", "X-Github-Api-Version", "If-None-Match", "Range",
}

// responseHeaders are kept of a response: those that a client acts on.
var responseHeaders = []string{
	"Content-Type", "Content-Disposition", "Content-Range", "Retry-After", "Retry-After-Ms", "X-Should-Retry",
	"Request-Id", "X-Request-Id", "Openai-Version", "Etag", "Last-Modified", "Link", "Location", "Mcp-Protocol-Version",
	"X-Amzn-Requestid", "X-Amzn-Errortype",
}

// secretNames are JSON names, folded (lower case, no _ - . or space), whose value
// is a credential whatever it looks like.
var secretNames = set("apikey", "xapikey", "xgoogapikey", "googleapikey", "openaiapikey", "anthropicapikey", "apitoken", "apisecret",
	"authorization", "proxyauthorization", "xauthtoken", "authtoken", "accesstoken", "refreshtoken", "idtoken", "bearertoken",
	"sessiontoken", "securitytoken", "xamzsecuritytoken", "csrftoken", "clientsecret", "clientassertion", "secretkey", "secretaccesskey",
	"awssecretaccesskey", "awsaccesskeyid", "accesskeyid", "privatekey", "signingkey", "encryptionkey", "password", "passwd", "passphrase",
	"cookie", "setcookie", "connectionstring", "personalaccesstoken", "githubtoken", "webhooksecret")

// doubtfulNames hold a credential or a word: log probabilities have "token", a
// character may have a "secret". Only a value that looks made by a machine counts.
var doubtfulNames = set("token", "secret", "key", "auth", "credential", "credentials", "pwd", "pass", "bearer", "sessionid")

// anyNames is both.
var anyNames = func() map[string]bool {
	all := maps.Clone(secretNames)
	maps.Copy(all, doubtfulNames)
	return all
}()

// nameShapes rules out most names by their first letter and their length.
var nameShapes = func() (t [256][32]bool) {
	for n := range anyNames {
		t[n[0]][len(n)%32] = true
	}
	return t
}()

// secretParams are names of URL parameters, folded, that carry a credential or a
// signature made with one.
var secretParams = set("key", "apikey", "xapikey", "token", "accesstoken", "idtoken", "refreshtoken", "authtoken", "auth", "authorization",
	"sig", "signature", "xamzsignature", "xamzcredential", "xamzsecuritytoken", "awsaccesskeyid", "xgoogsignature", "xgoogcredential",
	"password", "passwd", "secret", "clientsecret", "sessiontoken", "privatetoken", "subscriptionkey", "code")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// fold is a name in lower case without separators: apiKey, API-KEY and api_key are
// one name. It allocates only for long or strange names.
func fold(buf *[64]byte, name []byte) []byte {
	out := buf[:0]
	for _, c := range name {
		switch {
		case c == '_' || c == '-' || c == '.' || c == ' ':
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return out
}

// URL is a canonical form of raw without credentials: user and fragment are
// dropped, so are parameters that carry a key or a signature, the others are sorted
// by name, and what is known to be secret is masked. It is what a cassette stores and
// what a key is computed from. It works on the text, because parsing and writing a
// URL may change it, and takes its own output unchanged.
func (r *Redactor) URL(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	head, query, _ := strings.Cut(raw, "?")
	if scheme, rest, ok := strings.Cut(head, "://"); ok {
		host, path := rest, ""
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			host, path = rest[:i], rest[i:]
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
		head = strings.ToLower(scheme+"://"+host) + path
	}
	if query = cleanQuery(query); query != "" {
		head += "?" + query
	}
	return r.maskParts(r.MaskString(head))
}

// maskParts takes out the parts of a URL in which a secret is encoded, or stands between
// slashes, where it looks like base64.
func (r *Redactor) maskParts(url string) string {
	const ends = "/?&="
	var out strings.Builder
	head := 0 // the host is no secret, and is long
	if i := strings.Index(url, "://"); i >= 0 {
		head = i + 3 + max(0, strings.IndexByte(url[i+3:], '/'))
	}
	out.WriteString(url[:head])
	for rest := url[head:]; rest != ""; {
		n := strings.IndexAny(rest, ends)
		if n < 0 {
			n = len(rest)
		}
		part := rest[:n]
		if len(part) >= minBase64 || strings.Contains(part, "%") {
			f := &finder{r: r}
			f.text([]byte(part), func(int) string { return "" }, maxNesting)
			if spaced := strings.ReplaceAll(part, "+", " "); spaced != part { // as a query has them
				f.text([]byte(spaced), func(int) string { return "" }, maxNesting)
			}
			if len(f.found) > 0 {
				part = placeholder
			}
		}
		out.WriteString(part)
		out.WriteString(rest[n:min(n+1, len(rest))])
		rest = rest[min(n+1, len(rest)):]
	}
	return out.String()
}

// cleanQuery works on the text, because url.ParseQuery drops what it cannot read.
func cleanQuery(raw string) string {
	if raw == "" {
		return ""
	}
	var keep []string
	var buf [64]byte
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if pair != "" && !secretParams[string(fold(&buf, []byte(name)))] {
			keep = append(keep, pair)
		}
	}
	slices.SortStableFunc(keep, func(a, b string) int {
		an, _, _ := strings.Cut(a, "=")
		bn, _, _ := strings.Cut(b, "=")
		return strings.Compare(an, bn)
	})
	return strings.Join(keep, "&")
}

// maskNames replaces the values of credential names. It reads quotes and colons
// and not JSON, so that it also works in event streams, in arguments that are JSON
// within a JSON string, at any depth of escaping, and in text that was cut.
func maskNames(b []byte, edits *[]Edit) []byte {
	var e editor
	eachNamed(b, func(v namedValue) {
		if v.secret(b) {
			e.replace(b, v.from, v.to, v.placeholder(b))
		}
	})
	e2 := maskForm(b, &e)
	return e2.finish(b, edits)
}

// maskForm handles a body that is a URL-encoded form: no quotes, one line.
func maskForm(b []byte, e *editor) *editor {
	if len(e.edits) > 0 || len(b) == 0 || len(b) > 1<<20 || bytes.ContainsAny(b, "{}\"<> \n") || !bytes.ContainsRune(b, '=') {
		return e
	}
	at := 0
	var buf [64]byte
	for pair := range bytes.SplitSeq(b, []byte("&")) {
		if name, value, ok := bytes.Cut(pair, []byte("=")); ok && len(value) > 0 {
			folded := fold(&buf, name)
			if secretNames[string(folded)] || doubtfulNames[string(folded)] && machineMade(value) {
				e.replace(b, at+len(name)+1, at+len(pair), []byte(placeholder))
			}
		}
		at += len(pair) + 1
	}
	return e
}

// placeholder stands for the value of a credential name.
const placeholder = "{{redacted}}"

// A namedValue is the value after "name": in JSON-like text, without its quotes.
type namedValue struct {
	name     string // folded
	from, to int
	quoted   bool
	depth    int // backslashes before each quote: 0, 1, 3, 7
}

// eachNamed calls f for every value of a secret or doubtful name, in order.
func eachNamed(b []byte, f func(namedValue)) {
	var buf [64]byte
	done := 0
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], ':')
		if i < 0 {
			return
		}
		at += i
		if from, to := passwordOf(b, at); from >= max(done, 1) {
			f(namedValue{name: userinfo, from: from, to: to, quoted: true})
			done = to
			continue
		}
		if at >= 3 && b[at-1] == '"' && !mayBeNamed(b[at-3:at-1]) {
			continue // before the name is looked for
		}
		name, depth := nameBefore(b, at)
		if name == nil || at < done || !mayBeNamed(name) {
			continue
		}
		folded := fold(&buf, name)
		if len(folded) == 0 || !isNamed(folded) {
			continue
		}
		done = valuesAfter(b, at+1, namedValue{name: string(folded), depth: depth}, f)
	}
}

// nameTails are the last two letters of all names and ends of names that isNamed knows.
var nameTails = func() (t [26][26]bool) {
	for n := range anyNames {
		t[n[len(n)-2]-'a'][n[len(n)-1]-'a'] = true
	}
	for _, n := range nameEnds {
		t[n[len(n)-2]-'a'][n[len(n)-1]-'a'] = true
	}
	return t
}()

// mayBeNamed rules out most names before they are folded, by their last two letters. What
// ends in anything else than letters is for isNamed to say.
func mayBeNamed(name []byte) bool {
	if len(name) < 2 {
		return false // no known name is that short
	}
	a, z := name[len(name)-2]|0x20, name[len(name)-1]|0x20
	if a < 'a' || a > 'z' || z < 'a' || z > 'z' {
		return true
	}
	return nameTails[a-'a'][z-'a']
}

// isNamed reports a name that may hold a credential.
func isNamed(folded []byte) bool {
	if nameShapes[folded[0]][len(folded)%32] && anyNames[string(folded)] {
		return true
	}
	for _, end := range nameEnds {
		if len(folded) > len(end) && string(folded[len(folded)-len(end):]) == end {
			return true
		}
	}
	return false
}

// nameEnds are how names of one's own end that hold a credential, if it looks like one:
// db_password, stripe_api_key.
var nameEnds = []string{"password", "passwd", "passphrase", "apikey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "clientsecret", "secretkey", "privatekey"}

// userinfo is the name of a password that stands in a URL.
const userinfo = "userinfo"

// passwordOf is the password of the URL whose scheme ends with the colon at b[at];
// from < 0: it has none.
func passwordOf(b []byte, at int) (from, to int) {
	const most = 256
	if !hasPrefix(b, at, "://") {
		return -1, 0
	}
	from = -1
	for i := at + 3; i < min(len(b), at+most); i++ {
		switch c := b[i]; {
		case c == ':' && from < 0:
			from = i + 1
		case c == '@':
			return from, i
		case c <= ' ' || strings.IndexByte(`/\?#"'<>{}()[]|,;$`, c) >= 0:
			return -1, 0
		}
	}
	return -1, 0
}

// nameBefore is the quoted name that ends before the colon at b[at], and how many
// backslashes stand before its quotes.
func nameBefore(b []byte, at int) ([]byte, int) {
	end := at
	for end > 0 && isSpace(b[end-1]) {
		end--
	}
	if end == 0 || b[end-1] != '"' {
		return nil, 0
	}
	end--
	depth := 0
	for end > 0 && b[end-1] == '\\' {
		end, depth = end-1, depth+1
	}
	start := end
	for start > 0 && end-start < 40 && (isWord(b[start-1]) || b[start-1] == '.') {
		start--
	}
	if start == end || start == 0 || b[start-1] != '"' {
		return nil, 0
	}
	return b[start:end], depth
}

// valuesAfter calls f for the scalar, or the scalars of the list, that begins at
// or after b[at], and gives where it ends. Objects are left alone: a schema that
// describes a password holds none.
func valuesAfter(b []byte, at int, v namedValue, f func(namedValue)) int {
	list := false
	for ; at < len(b); at++ {
		switch c := b[at]; {
		case isSpace(c), list && c == ',':
		case c == '[' && !list:
			list = true
		case c == '"' || c == '\\' && v.depth > 0 && at+v.depth < len(b) && b[at+v.depth] == '"':
			v.quoted, v.from = true, at+1
			if c == '\\' {
				v.from = at + v.depth + 1
			}
			v.to = closingQuote(b, v.from, v.depth)
			f(v)
			at = v.to + v.depth
		case c >= '0' && c <= '9':
			v.quoted, v.from, v.to = false, at, at
			for v.to < len(b) && (isWord(b[v.to]) || b[v.to] == '.' || b[v.to] == '+') {
				v.to++
			}
			f(v)
			at = v.to - 1
		default:
			return at
		}
		if at < len(b) && !list && v.to > 0 {
			return v.to
		}
	}
	return at
}

// closingQuote is where the string that begins at b[from] ends: before its closing
// quote's backslashes, or the end of b. Within a string that is escaped depth times
// over, a quote of its own has depth more than twice as many.
func closingQuote(b []byte, from, depth int) int {
	for at := from; ; at++ {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return len(b)
		}
		at += i
		run := 0
		for at-run > from && b[at-run-1] == '\\' {
			run++
		}
		if run < depth || run%(2*depth+2) == depth {
			return at - min(run, depth)
		}
	}
}

// secret reports whether the value has to go: it has one, it is no placeholder, and
// it looks like one where the name alone does not tell.
func (v namedValue) secret(b []byte) bool {
	text := b[v.from:v.to]
	switch {
	case len(text) == 0, string(text) == placeholder, bytes.HasPrefix(text, []byte("{{secret:")) && bytes.HasSuffix(text, []byte("}}")):
		return false
	case secretNames[v.name]:
		return true
	case v.name == userinfo: // user:password@host is in every manual
		return len(text) >= minValue && bytes.ContainsAny(text, "0123456789") && bytes.ContainsFunc(text, unicode.IsLetter)
	}
	return machineMade(text)
}

func (v namedValue) placeholder(b []byte) []byte {
	if v.quoted {
		return []byte(placeholder)
	}
	quote := strings.Repeat(`\`, v.depth) + `"`
	return []byte(quote + placeholder + quote)
}

// machineMade reports a text that nobody would write by hand: 16 bytes or more, no
// spaces, letters and digits, all of ASCII, also where JSON spells the others with digits.
func machineMade(text []byte) bool {
	if len(text) < 16 || bytes.Contains(text, []byte("{{")) {
		return false
	}
	letter, digit := false, false
	for i, c := range text {
		switch {
		case c <= ' ' || c >= 0x7f || c == '\\' && isForeign(text[i+1:]):
			return false
		case c >= '0' && c <= '9':
			digit = true
		case isWord(c) && c != '_' && c != '-':
			letter = true
		}
	}
	return letter && digit
}

// isForeign reports the rest of a JSON escape, behind its backslash, that stands for a
// character beyond ASCII.
func isForeign(rest []byte) bool {
	if len(rest) < 5 || rest[0] != 'u' {
		return false
	}
	n, err := strconv.ParseUint(string(rest[1:5]), 16, 16)
	return err == nil && n >= 0x7f
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
