package redact

import (
	"bytes"
	"strings"
)

// A pattern is how one kind of key looks. It begins with one of its prefixes and
// goes on with bytes of its alphabet.
type pattern struct {
	rule     string
	prefixes []string
	accept   func(b []byte, from int) (start, end int) // what to mask of the text at the prefix; start < 0: not a key
	inside   bool                                      // the prefix is the end of a word, or no word begins there
}

// patterns are the keys of providers that a request of ours may meet.
var patterns = []pattern{
	{rule: "api key sk-…", prefixes: []string{"sk-"}, accept: token(3, 20, true)},
	{rule: "google api key", prefixes: []string{"AIza"}, accept: exact(4, 35)},
	{rule: "github token", prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, accept: token(4, 30, false)},
	{rule: "github token", prefixes: []string{"github_pat_"}, accept: token(11, 22, false)},
	{rule: "gitlab token", prefixes: []string{"glpat-"}, accept: token(6, 20, false)},
	{rule: "slack token", prefixes: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"}, accept: token(5, 10, true)},
	{rule: "aws access key", prefixes: []string{"AKIA", "ASIA"}, accept: exact(4, 16)},
	{rule: "hugging face token", prefixes: []string{"hf_"}, accept: token(3, 30, false)},
	{rule: "groq key", prefixes: []string{"gsk_"}, accept: token(4, 40, false)},
	{rule: "xai key", prefixes: []string{"xai-"}, accept: token(4, 40, true)},
	{rule: "perplexity key", prefixes: []string{"pplx-"}, accept: token(5, 30, true)},
	{rule: "replicate token", prefixes: []string{"r8_"}, accept: token(3, 30, false)},
	{rule: "npm token", prefixes: []string{"npm_"}, accept: token(4, 30, false)},
	{rule: "stripe key", prefixes: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_"}, accept: token(8, 16, false)},
	{rule: "google oauth token", prefixes: []string{"ya29."}, accept: token(5, 30, false)},
	{rule: "age key", prefixes: []string{"AGE-SECRET-KEY-"}, accept: token(15, 40, false)},
	{rule: "json web token", prefixes: []string{".eyJ"}, accept: jwt, inside: true},
	{rule: "private key", prefixes: []string{"-----BEGIN"}, accept: pem},
	{rule: "authorization", prefixes: []string{"Bearer ", "BEARER "}, accept: bearer},
	{rule: "authorization", prefixes: []string{"Basic "}, accept: basic},
	{rule: "sendgrid key", prefixes: []string{"SG."}, accept: dotted(3, 16)},
	{rule: "webhook secret", prefixes: []string{"whsec_"}, accept: token(6, 20, true)},
	{rule: "google client secret", prefixes: []string{"GOCSPX-"}, accept: token(7, 20, false)},
	{rule: "digitalocean token", prefixes: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, accept: token(7, 40, false)},
	{rule: "shopify token", prefixes: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, accept: token(6, 24, true)},
	{rule: "pypi token", prefixes: []string{"pypi-AgE"}, accept: token(8, 16, false)},
	{rule: "tavily key", prefixes: []string{"tvly-"}, accept: token(5, 20, true)},
	{rule: "linear key", prefixes: []string{"lin_api_"}, accept: token(8, 30, false)},
	{rule: "notion token", prefixes: []string{"ntn_"}, accept: token(4, 30, true)},
	{rule: "atlassian token", prefixes: []string{"ATATT3x"}, accept: token(7, 40, false)},
	{rule: "slack webhook", prefixes: []string{"hooks.slack.com/services/"}, accept: after(25, "/", 30)},
	{rule: "azure account key", prefixes: []string{"AccountKey=", "AccessKey="}, accept: after(0, "+/=", 32), inside: true},
	{rule: "assigned credential", prefixes: []string{"_KEY=", "_TOKEN=", "_SECRET=", "_PASSWORD="}, accept: assigned, inside: true},
}

// An anchor is the byte by which a prefix is found: its last one of these, which
// are rare in text, so that one look at a table rules out most bytes.
const anchors = "-_.AB"

// A prefix is one way in which a key begins.
type prefix struct {
	text    string
	before  int // bytes before the anchor
	pattern *pattern
}

// A byAnchor has the prefixes of one anchor by the byte beside it: before it in a prefix
// that does not begin with it, else behind it. No prefix is its anchor alone, and most
// anchors in a text have a neighbour for which there is no prefix.
type byAnchor struct{ before, behind [256][]prefix }

// prefixTable is anchor byte to prefixes.
var prefixTable = func() (t [256]*byAnchor) {
	for i := range patterns {
		for _, text := range patterns[i].prefixes {
			at := strings.IndexAny(text, anchors)
			if t[text[at]] == nil {
				t[text[at]] = &byAnchor{}
			}
			p := prefix{text: text, before: at, pattern: &patterns[i]}
			if at > 0 {
				list := &t[text[at]].before[text[at-1]]
				*list = append(*list, p)
			} else {
				list := &t[text[at]].behind[text[1]]
				*list = append(*list, p)
			}
		}
	}
	return t
}()

// anchorTable says which bytes prefixTable has: 1 or 0.
var anchorTable = func() (t [256]uint8) {
	for c := range t {
		if prefixTable[c] != nil {
			t[c] = 1
		}
	}
	return t
}()

// maskPatterns replaces keys of a known shape.
func maskPatterns(b []byte, edits *[]Edit) []byte {
	var e editor
	eachPattern(b, func(from, to int, _ string) {
		e.replace(b, from, to, []byte(placeholder))
	})
	return e.finish(b, edits)
}

// eachPattern calls f for every key of a known shape, in order.
func eachPattern(b []byte, f func(from, to int, rule string)) {
	done := 0
	for i := nextAnchor(b, 0); i < len(b); i = nextAnchor(b, max(i+1, done)) {
		list := prefixTable[b[i]]
		var near [2][]prefix
		if i > 0 {
			near[0] = list.before[b[i-1]]
		}
		if i+1 < len(b) {
			near[1] = list.behind[b[i+1]]
		}
		for _, prefixes := range near {
			if from, to, rule := keyAt(b, i, done, prefixes); from >= 0 {
				f(from, to, rule)
				done = to
				break
			}
		}
	}
}

// keyAt is the key whose prefix, one of these, has its anchor at b[i], if it begins at
// or after b[done]; from < 0: there is none.
func keyAt(b []byte, i, done int, prefixes []prefix) (from, to int, rule string) {
	for _, p := range prefixes {
		at := i - p.before
		if at < done || !hasPrefix(b, at, p.text) || !p.pattern.inside && !startsWord(b, at) {
			continue
		}
		if from, to := p.pattern.accept(b, at); from >= done {
			return from, to, p.pattern.rule
		}
	}
	return -1, 0, ""
}

// nextAnchor is where the next anchor stands, or len(b). It looks at eight bytes at
// a time: most of a text is ruled out here.
func nextAnchor(b []byte, at int) int {
	t := &anchorTable
	for ; at+8 <= len(b); at += 8 {
		w := b[at : at+8 : at+8]
		if t[w[0]]|t[w[1]]|t[w[2]]|t[w[3]]|t[w[4]]|t[w[5]]|t[w[6]]|t[w[7]] != 0 {
			break
		}
	}
	for at < len(b) && t[b[at]] == 0 {
		at++
	}
	return at
}

func hasPrefix(b []byte, at int, text string) bool {
	return len(b)-at >= len(text) && string(b[at:at+len(text)]) == text
}

// token accepts at least n word bytes after the prefix, among them a digit if the
// prefix is also how an ordinary word may begin.
func token(prefix, n int, digit bool) func([]byte, int) (int, int) {
	return func(b []byte, from int) (int, int) {
		end := wordEnd(b, from+prefix)
		body := b[from+prefix : end]
		if len(body) < n || digit && !bytes.ContainsAny(body, "0123456789") {
			return -1, 0
		}
		return from, end
	}
}

// dotted accepts two parts of at least n word bytes after the prefix.
func dotted(prefix, n int) func([]byte, int) (int, int) {
	return func(b []byte, from int) (int, int) {
		dot := wordEnd(b, from+prefix)
		if dot-from-prefix < n || dot == len(b) || b[dot] != '.' {
			return -1, 0
		}
		end := wordEnd(b, dot+1)
		if end-dot-1 < n {
			return -1, 0
		}
		return from, end
	}
}

// after accepts at least n bytes, of words and others, after the prefix, which stays; with
// prefix 0 that ends at its sign of equality.
func after(prefix int, others string, n int) func([]byte, int) (int, int) {
	return func(b []byte, from int) (int, int) {
		start := from + prefix
		if prefix == 0 {
			start = from + bytes.IndexByte(b[from:], '=') + 1
		}
		end := start
		for end < len(b) && (isWord(b[end]) || strings.IndexByte(others, b[end]) >= 0) {
			end++
		}
		if end-start < n || !bytes.ContainsAny(b[start:end], "0123456789") {
			return -1, 0
		}
		return start, end
	}
}

// assigned accepts what a shell or a .env file gives to a variable whose name ends so, if
// nobody would write it by hand.
func assigned(b []byte, from int) (int, int) {
	start, end := after(0, "./+~=", 16)(b, from)
	if start < 0 || !machineMade(b[start:end]) {
		return -1, 0
	}
	return start, end
}

// exact accepts exactly n word bytes after the prefix.
func exact(prefix, n int) func([]byte, int) (int, int) {
	return func(b []byte, from int) (int, int) {
		end := wordEnd(b, from+prefix)
		if end-from-prefix != n || end < len(b) && (b[end] == '+' || b[end] == '/') {
			return -1, 0
		}
		return from, end
	}
}

func wordEnd(b []byte, at int) int {
	for at < len(b) && isWord(b[at]) {
		at++
	}
	return at
}

// jwt accepts two parts that begin as JSON objects do, and a signature.
func jwt(b []byte, dot int) (int, int) {
	from := dot
	for from > 0 && isWord(b[from-1]) {
		from--
	}
	i := bytes.LastIndex(b[from:dot], []byte("eyJ"))
	if from += i; i < 0 || dot-from < 12 {
		return -1, 0
	}
	body := wordEnd(b, dot+1)
	if body == len(b) || b[body] != '.' {
		return -1, 0
	}
	return from, wordEnd(b, body+1)
}

// pem accepts a private key up to its end line, or to the end of a text that was
// cut. Line ends may be real or escaped.
func pem(b []byte, from int) (int, int) {
	line := b[from:min(len(b), from+64)]
	if !bytes.Contains(line, []byte("PRIVATE KEY-----")) {
		return -1, 0
	}
	rest := b[from+len("-----BEGIN"):]
	if i := bytes.Index(rest, []byte("-----END")); i >= 0 {
		end := from + len("-----BEGIN") + i + len("-----END")
		if j := bytes.Index(b[end:min(len(b), end+48)], []byte("-----")); j >= 0 {
			end += j + len("-----")
		}
		return from, end
	}
	end := from + len("-----BEGIN")
	for end < len(b) && b[end] != '"' {
		end++
	}
	return from, end
}

// bearer accepts a token after the scheme, and masks the token only.
func bearer(b []byte, from int) (int, int) {
	start := from + len("Bearer ")
	end := start
	for end < len(b) && (isWord(b[end]) || strings.IndexByte(".~+/=", b[end]) >= 0) {
		end++
	}
	if end-start < 16 || !bytes.ContainsAny(b[start:end], "0123456789") {
		return -1, 0
	}
	return start, end
}

// basic accepts the base64 of "user:password".
func basic(b []byte, from int) (int, int) {
	start := from + len("Basic ")
	end := start
	for end < len(b) && (isWord(b[end]) || strings.IndexByte("+/=", b[end]) >= 0) {
		end++
	}
	if plain := decodeBase64(string(b[start:end])); !strings.Contains(plain, ":") {
		return -1, 0
	}
	return start, end
}
