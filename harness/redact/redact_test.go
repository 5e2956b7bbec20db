package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/redact"
)

const (
	secret  = `pa/ss+w0rd<&>"é\x`
	apiKey  = "kq7RZ-live-31f8a9cc02"
	dbPass  = "s3cr3t-dbpass"
	workDir = "/tmp/studio-431/work"
	homeDir = "/home/alice"
)

func redactor() *redact.Redactor {
	return redact.New(redact.Options{
		Env: map[string]string{
			"MY_PASSWORD": secret, "ACME_API_KEY": apiKey, "DATABASE_URL": "postgres://app:" + dbPass + "@db/x",
			"LOGIN_AUTH":  base64.StdEncoding.EncodeToString([]byte("bob:hunter2-hunter2")),
			"SHORT_TOKEN": "test", "MAX_TOKENS": "128000", "EDITOR": "not-a-secret-value",
		},
		Home: homeDir, Work: workDir,
	})
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

func uescape(s string) string {
	var sb strings.Builder
	for _, r := range s {
		fmt.Fprintf(&sb, `\u%04x`, r)
	}
	return sb.String()
}

// shapes is every way in which a value is planted.
func shapes() map[string]string {
	b64 := base64.StdEncoding
	m := map[string]string{
		"plain":                secret,
		"key":                  apiKey,
		"query-escaped":        url.QueryEscape(secret),
		"path-escaped":         url.PathEscape(secret),
		"lower query-escaped":  "pa%2fss%2bw0rd%3c%26%3e%22%c3%a9%5cx",
		"json":                 quoted(secret),
		"json in json":         quoted(quoted(secret)),
		"json slash":           strings.ReplaceAll(quoted(secret), "/", `\/`),
		"u escapes":            uescape(secret),
		"U escapes":            strings.ReplaceAll(strings.ToUpper(uescape(secret)), `\U`, `\u`),
		"hex":                  hex.EncodeToString([]byte(secret)),
		"HEX":                  strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"base64 std":           b64.EncodeToString([]byte(secret)),
		"base64 url":           base64.URLEncoding.EncodeToString([]byte(secret)),
		"base64 raw":           base64.RawStdEncoding.EncodeToString([]byte(secret)),
		"basic header":         b64.EncodeToString([]byte("me:" + secret)),
		"basic header align 1": b64.EncodeToString([]byte("a:" + apiKey)),
		"basic header align 2": b64.EncodeToString([]byte("ab:" + apiKey)),
		"decoded basic":        "bob:hunter2-hunter2",
		"decoded password":     "hunter2-hunter2",
		"url password":         dbPass,
	}
	return m
}

// places is where a value is planted.
var places = map[string]string{
	"alone":         "%s",
	"json":          `{"messages":[{"role":"user","content":"my value is %s, keep it"}]}`,
	"stream":        "event: x\ndata: {\"delta\":{\"text\":\"a %s b\"}}\n\n",
	"after newline": `{"a":"line\n%s\n"}`,
	"form":          "grant=x&v=%s&z=1",
}

func TestKnownValuesGoInEverySpelling(t *testing.T) {
	r := redactor()
	for shape, value := range shapes() {
		for place, format := range places {
			text := fmt.Sprintf(format, value)
			got := r.Mask([]byte(text))
			if bytes.Contains(got, []byte(value)) || !bytes.Contains(got, []byte("{{")) {
				t.Errorf("%s in %s: %s", shape, place, got)
			}
			if again := r.Mask(got); !bytes.Equal(again, got) {
				t.Errorf("%s in %s: masking twice gives %s, once %s", shape, place, again, got)
			}
			if f := r.Find(got); len(f) > 0 {
				t.Errorf("%s in %s: still found %v in %s", shape, place, f, got)
			}
			if f := r.Find([]byte(text)); len(f) == 0 && (place != "alone" || len(value) > 20) {
				t.Errorf("%s in %s: not found in %s", shape, place, text)
			}
		}
	}
}

// keys are shaped like providers' keys and made up: each is put together here so
// that no scanner takes this file for a leak.
func keys() map[string]string {
	b := strings.Repeat("aB3dE5", 12)
	return map[string]string{
		"anthropic":    "sk-" + "ant-api03-" + b[:40],
		"openai":       "sk-" + "proj-" + b[:40],
		"openai short": "sk-" + b[:24],
		"google":       "AI" + "za" + b[:35],
		"github":       "gh" + "p_" + b[:36],
		"github pat":   "github" + "_pat_" + b[:40],
		"slack":        "xo" + "xb-1234567890-" + b[:20],
		"aws":          "AK" + "IA" + "ABCDEFGHIJ123456",
		"jwt":          "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + b[:30],
		"pem":          "-----BEGIN RSA " + "PRIVATE KEY-----\\nMIIE" + b + "\\n-----END RSA PRIVATE KEY-----",
		"bearer":       "Bearer " + b[:24],
		"basic":        "Basic " + base64.StdEncoding.EncodeToString([]byte("somebody:open sesame")),
	}
}

func TestProviderKeysGo(t *testing.T) {
	r := redact.New(redact.Options{})
	for name, key := range keys() {
		for _, format := range []string{`{"a":{"b":["see %s."]}}`, "%s", `{"t":"x\n%s"}`, "data: {\"t\":\"k=%s\"}\n\n", "https://h/x/%s"} {
			text := []byte(fmt.Sprintf(format, key))
			got := r.Mask(text)
			if bytes.Contains(got, []byte(key)) || !bytes.Contains(got, []byte("{{redacted}}")) {
				t.Errorf("%s in %s stays: %s", name, format, got)
			}
			if f := r.Find(got); len(f) > 0 {
				t.Errorf("%s in %s: found after masking: %v", name, format, f)
			}
			if f := r.Find(text); len(f) == 0 {
				t.Errorf("%s in %s: not found before masking", name, format)
			}
		}
	}
}

func TestCredentialNames(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"snake", `{"api_key":"abc","x":1}`, `{"api_key":"{{redacted}}","x":1}`},
		{"camel", `{"apiKey" : "abc"}`, `{"apiKey" : "{{redacted}}"}`},
		{"header spelling", `{"Authorization":"abc def"}`, `{"Authorization":"{{redacted}}"}`},
		{"number", `{"password": 1234}`, `{"password": "{{redacted}}"}`},
		{"list", `{"password":["a","b"],"c":"d"}`, `{"password":["{{redacted}}","{{redacted}}"],"c":"d"}`},
		{"quotes inside", `{"password":"a\"b\\","c":"d"}`, `{"password":"{{redacted}}","c":"d"}`},
		{"arguments", `{"arguments":"{\"client_secret\":\"a\\\"b\",\"q\":\"x\"}"}`, `{"arguments":"{\"client_secret\":\"{{redacted}}\",\"q\":\"x\"}"}`},
		{"number in arguments", `{"arguments":"{\"password\":12}"}`, `{"arguments":"{\"password\":\"{{redacted}}\"}"}`},
		{"two levels down", `{"a":"{\"b\":\"{\\\"password\\\":\\\"pw\\\"}\"}"}`, `{"a":"{\"b\":\"{\\\"password\\\":\\\"{{redacted}}\\\"}\"}"}`},
		{"cut string", `{"a":"{\"password\":\"hun"}`, `{"a":"{\"password\":\"{{redacted}}"}`},
		{"doubtful, a word", `{"token":"Hello","secret":"she is a spy"}`, `{"token":"Hello","secret":"she is a spy"}`},
		{"doubtful, made by a machine", `{"token":"a8f7e6d5c4b3a2918f7e"}`, `{"token":"{{redacted}}"}`},
		{"schema", `{"properties":{"password":{"type":"string"}}}`, `{"properties":{"password":{"type":"string"}}}`},
		{"empty, null and counts", `{"password":"","api_key":null,"max_tokens":5,"total_tokens":7}`, `{"password":"","api_key":null,"max_tokens":5,"total_tokens":7}`},
		{"a name as a value", `{"required":["password"],"name":"api_key"}`, `{"required":["password"],"name":"api_key"}`},
		{"form", `grant_type=x&client_secret=abc&scope=y`, `grant_type=x&client_secret={{redacted}}&scope=y`},
		{"stream", "data: {\"access_token\":\"x\"}\n\n", "data: {\"access_token\":\"{{redacted}}\"}\n\n"},
	}
	r := redact.New(redact.Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := []byte(tt.in)
			got := r.Mask(in)
			if string(got) != tt.want {
				t.Errorf("Mask(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if again := r.Mask(got); !bytes.Equal(again, got) {
				t.Errorf("again: %s", again)
			}
			if string(in) != tt.in {
				t.Errorf("the input became %s", in)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	r := redactor()
	win := redact.New(redact.Options{Home: `C:\Users\al`, Work: `C:\Users\al\w x`})
	tests := []struct {
		name     string
		r        *redact.Redactor
		in, want string
	}{
		{"work and home", r, `in /tmp/studio-431/work/a.png of /home/alice.`, `in $WORK/a.png of $HOME.`},
		{"another person", r, `/home/alice2 /srv/home/alice /home/alice-b`, `/home/alice2 /srv/home/alice /home/alice-b`},
		{"after an escape", r, `{"t":"\n/home/alice\n"}`, `{"t":"\n$HOME\n"}`},
		{"escaped slashes", r, `"\/home\/alice\/x"`, `"$HOME\/x"`},
		{"file url", r, `file:///home/alice/x`, `file://$HOME/x`},
		{"windows", win, `C:\Users\al\w x\f C:/Users/al/f`, `$WORK\f $HOME/f`},
		{"windows in json", win, `{"p":"C:\\Users\\al\\w x\\f"}`, `{"p":"$WORK\\f"}`},
		{"windows in a url", win, `C:/Users/al/w%20x/f`, `$WORK/f`},
		{"root is no folder", redact.New(redact.Options{Home: "/"}), "/a/b", "/a/b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.MaskString(tt.in); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	got, edits := r.Expand([]byte(`{"p":"$WORK/a $WORKER $HOME"}`))
	if want := `{"p":"/tmp/studio-431/work/a $WORKER $HOME"}`; string(got) != want || len(edits) != 1 {
		t.Errorf("Expand = %s, %v, want %s", got, edits, want)
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	r := redactor()
	media := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x89, 'P', 'N', 'G', 0, 0x86, 0xb3, 0xff, 0x13}, 4000))
	for name, text := range map[string]string{
		"media":          `{"data":"` + media + `"}`,
		"key in media":   `{"data":"` + media[:120] + "AI" + "za" + media[:35] + `/` + media[:80] + `"}`,
		"words":          `the task-runner has a risk-free sk-loading-spinner-container-wrapper, test, 128000`,
		"ids":            `{"id":"chatcmpl-9aB3dE5aB3dE5aB3dE5","call":"toolu_01A09q90qw90lq917835lq9","r":"msg_01XFDUDYJgAACzvnptvVoYEL"}`,
		"certificate":    "-----BEGIN CERTIFICATE-----",
		"the word":       "Bearer authentication is explained in Basic English",
		"editor":         "not-a-secret-value",
		"log probs":      `{"logprobs":[{"token":"a","bytes":[97]}]}`,
		"shell variable": "echo $HOME $WORK",
	} {
		in := []byte(text)
		if got := r.Mask(in); !bytes.Equal(got, in) {
			t.Errorf("%s was changed: %.200s", name, got)
		}
		if f := r.Find(in); len(f) > 0 {
			t.Errorf("%s: found %v", name, f)
		}
	}
}

// A label that each event of a stream repeats is no text in parts, also where many of
// it in a row look like a key; a known value is one however it is cut.
func TestFindKnowsALabelFromAText(t *testing.T) {
	label := "data: {\"format\":\"xai-responses-v1\"}\n\n"
	if found := redactor().Find([]byte(strings.Repeat(label, 9))); len(found) > 0 {
		t.Errorf("found %v in a label", found)
	}
	if found := redactor().Find([]byte(label + "data: {\"format\":\"" + strings.Repeat("k", 44) + "\"}\n\n")); len(found) == 0 {
		t.Error("found nothing in a text that adds up to a key")
	}
	r := redact.New(redact.Options{Env: map[string]string{"ACME_API_KEY": "q7zq7zq7zq7z"}})
	if found := r.Find([]byte(strings.Repeat("data: {\"t\":\"q7z\"}\n\n", 4))); len(found) == 0 {
		t.Error("found no known value that was cut into equal pieces")
	}
}

func TestFindSeesWhatMaskCannot(t *testing.T) {
	r := redactor()
	mixed := strings.Replace(apiKey, "R", `\u0052`, 1)
	gh := keys()["github"]
	tests := []struct{ name, in, rule, pointer string }{
		{"some letters escaped", `{"a":[{"b":"x ` + mixed + `"}]}`, "environment variable ACME_API_KEY", "/a/0/b"},
		{"split over events", "data: {\"d\":{\"t\":\"so kq7RZ-li\"}}\n\ndata: {\"d\":{\"t\":\"ve-31f8a9cc02.\"}}\n\n", "environment variable ACME_API_KEY", "data[*]/d/t"},
		{"split key", "data: {\"t\":\"" + gh[:9] + "\"}\n\ndata: {\"t\":\"" + gh[9:] + "\"}\n\n", "github token", "data[*]/t"},
		{"split password", "data: {\"j\":\"{\\\"password\\\":\\\"hun\"}\n\ndata: {\"j\":\"ter2\\\"}\"}\n\n", "value of password", "data[*]/j"},
		{"in base64", `{"x":"` + base64.StdEncoding.EncodeToString([]byte("token: "+gh)) + `"}`, "github token", "/x"},
		{"mixed percent", `{"u":"` + strings.Replace(url.QueryEscape(secret), "%2F", "%2f", 1) + `"}`, "environment variable MY_PASSWORD", "/u"},
		{"percent in json", `{"u":"https://x/?q=` + strings.ReplaceAll(gh, "_", "%5f") + `"}`, "github token", "/u"},
		{"an escaped name", `{"api\u005fkey":"abc"}`, "value of apikey", "/api_key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			masked := r.Mask([]byte(tt.in))
			for _, f := range r.Find(masked) {
				if f.Rule == tt.rule && f.Pointer == tt.pointer {
					return
				}
			}
			t.Errorf("want %s at %s, found %v in %s", tt.rule, tt.pointer, r.Find(masked), masked)
		})
	}
}

func TestHeadersAreAllowed(t *testing.T) {
	r := redact.New(redact.Options{Env: map[string]string{"A_KEY": apiKey}, RequestHeaders: []string{"x-lane"}})
	h := http.Header{
		"Authorization": {"Bearer x"}, "X-Api-Key": {"k"}, "Cookie": {"c"}, "X-Goog-Api-Key": {"k"}, "X-Unheard-Of": {"k"},
		"Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}, "X-Lane": {"a " + apiKey},
	}
	got := r.RequestHeader(h)
	if len(got) != 3 || got.Get("X-Lane") != "a {{secret:A_KEY}}" || got.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("request header %v", got)
	}
	res := r.ResponseHeader(http.Header{"Set-Cookie": {"x"}, "Retry-After": {"1"}, "Location": {"https://u:p@h/x?token=abc&b=1&a=2"}})
	if len(res) != 2 || res.Get("Location") != "https://h/x?a=2&b=1" {
		t.Errorf("response header %v", res)
	}
	if h.Get("Authorization") == "" || h.Get("X-Lane") != "a "+apiKey {
		t.Errorf("the live header was changed: %v", h)
	}
}

func TestURL(t *testing.T) {
	r := redactor()
	for in, want := range map[string]string{
		"https://me:pw@h/v1/x?b=2&key=AAA&a=1#f":                   "https://h/v1/x?a=1&b=2",
		"https://h/x?API_KEY=1&X-Amz-Signature=2&access%5Ftoken=3": "https://h/x",
		"https://h/x?alt=sse&a=2&a=1":                              "https://h/x?a=2&a=1&alt=sse",
		"https://h/" + apiKey + "/x":                               "https://h/{{secret:ACME_API_KEY}}/x",
		"https://h/x?q=" + url.QueryEscape(secret):                 "https://h/x?q={{secret:MY_PASSWORD}}",
		"https://h/x?a=1;b=2&c=%zz":                                "https://h/x?a=1;b=2&c=%zz",
		"mcp://server/tools/call":                                  "mcp://server/tools/call",
	} {
		if got := r.URL(in); got != want {
			t.Errorf("URL(%s) = %s, want %s", in, got, want)
		}
		if got := r.URL(r.URL(in)); got != want {
			t.Errorf("URL twice (%s) = %s, want %s", in, got, want)
		}
	}
}

func TestEditsLeadFromOneTextToTheOther(t *testing.T) {
	r := redactor()
	in := []byte(`{"p":"` + workDir + `/a","password":"/home/alice/x ` + apiKey + `","t":"Bearer ` + strings.Repeat("a1B2", 6) + `","h":"` + homeDir + `"}`)
	out, edits := r.MaskEdits(in)
	if got := r.Mask(in); !bytes.Equal(got, out) {
		t.Fatalf("MaskEdits gives %s, Mask %s", out, got)
	}
	var built []byte
	at := 0
	for _, e := range edits {
		built = append(built, in[at:e.At]...)
		start := redact.Remap(e.At, edits)
		built = append(built, out[start:start+e.New]...)
		at = e.At + e.Old
	}
	if built = append(built, in[at:]...); !bytes.Equal(built, out) {
		t.Errorf("edits %v build\n%s\nnot\n%s", edits, built, out)
	}
	if redact.Remap(len(in), edits) != len(out) || redact.Remap(0, edits) != 0 {
		t.Errorf("ends map to %d and %d of %d", redact.Remap(0, edits), redact.Remap(len(in), edits), len(out))
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range shapes() {
		f.Add([]byte(`{"a":"` + s + `","password":"x","n":[1]}`))
	}
	for _, k := range keys() {
		f.Add([]byte("data: " + k))
	}
	f.Add([]byte(`{"arguments":"{\"password\":[\"a\\\\\",1`))
	r := redactor()
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		out, edits := r.MaskEdits(b)
		if !bytes.Equal(b, before) {
			t.Fatalf("the input changed")
		}
		again := r.Mask(out)
		if !bytes.Equal(again, out) {
			t.Fatalf("twice: %q, once: %q, of %q", again, out, b)
		}
		if json.Valid(b) && !json.Valid(out) {
			t.Fatalf("JSON %q became %q", b, out)
		}
		if got := redact.Remap(len(b), edits); got != len(out) {
			t.Fatalf("end of %q maps to %d of %d, %v", b, got, len(out), edits)
		}
		if bytes.Contains(out, []byte(apiKey)) {
			t.Fatalf("the key stays in %q", out)
		}
		r.Find(out)
		r.Expand(out)
	})
}

func body21KB() []byte {
	var sb strings.Builder
	sb.WriteString(`{"model":"m","max_tokens":1024,"messages":[`)
	for i := range 60 {
		fmt.Fprintf(&sb, `{"role":"user","content":[{"type":"text","text":"some words: %s %d"}]},`, strings.Repeat("some words and more, /a/b ", 11), i)
	}
	sb.WriteString(`{}]}`)
	return []byte(sb.String())
}

func BenchmarkMask21KB(b *testing.B) {
	raw, r := body21KB(), redactor()
	b.Run("known", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			r.Known(raw, nil)
		}
	})
	b.Run("patterns", func(b *testing.B) {
		r := redact.New(redact.Options{})
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			r.Mask(raw)
		}
	})
	b.Run("all", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			r.Mask(raw)
		}
	})
	b.Run("find", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			r.Find(raw)
		}
	})
}

// A session's id names its trace: masked, the trace could not be compared with the
// store any more.
func TestOurOwnNamesStay(t *testing.T) {
	line := []byte(`{"session":"s-06h2sx01483kp992h09g","data":{"row":{"session":"s-06h2sx01483kp992h09g","priced":"5db476d104ac40ea1a689832ee877dcfaf49ba3c55eeb84245996cddb99f6866"}}}`)
	if got := redact.New(redact.Options{}).Mask(line); string(got) != string(line) {
		t.Errorf("Mask = %s, want it as it was", got)
	}
}
