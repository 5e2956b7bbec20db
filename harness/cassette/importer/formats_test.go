package importer_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/importer"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

func zip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func deflate(text string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func br(text string) []byte {
	var b bytes.Buffer
	w := brotli.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

const vcrpyYAML = `interactions:
- request:
    body: '{"prompt": "hi"}'
    headers:
      Accept: ['*/*']
      Content-Type: application/json
    method: POST
    uri: https://api.example.com/v1/messages
  response:
    body:
      string: !!binary %s
    headers:
      content-encoding: [gzip]
      content-type: [text/event-stream]
      x-two: [a, b]
    status: {code: 200, message: OK}
- request:
    body: null
    headers: {}
    method: GET
    uri: http://example.com/
  response:
    content: plain
    headers: {}
    http_version: HTTP/1.1
    status_code: 404
- request:
    parsed_body: {n: 1.0, when: 2026-01-02, ok: true, list: [null, "1", "\u00e9"]}
    headers: {}
    method: POST
    uri: http://example.com/parsed
  response:
    body: {base64_string: gAA=}
    headers: {}
    status: {code: 200, message: OK}
version: 1
`

const vcrpyJSON = `{"version": 1, "interactions": [
 {"request": {"method": "POST", "uri": "https://api.example.com/", "body": "{\"a\": \"\ud83d\ude00\"}", "headers": {"Accept": ["*/*"]}},
  "response": {"status": {"code": 201, "message": "Created"}, "headers": {"content-type": ["text/plain"]}, "body": {"string": "made"}}},
 {"request": {"method": "GET", "uri": "https://api.example.com/b", "body": null, "headers": {}},
  "response": {"status": {"code": 200, "message": "OK"}, "headers": {"etag": "x"}, "body": {"base64_string": "gAA="}}}]}`

const pollyHAR = `{"log": {"_recordingName": "a/b", "creator": {"name": "Polly.JS", "version": "6.0.5", "comment": "persister:fs"}, "version": "1.2", "pages": [],
 "entries": [
 {"_id": "1", "_order": 0, "startedDateTime": "2024-05-06T07:08:09.000Z", "time": 120,
  "request": {"method": "POST", "url": "https://api.example.com/v1?a=1#top", "headers": [{"_fromType": "array", "name": "content-type", "value": "application/json"}],
   "postData": {"mimeType": "application/json", "params": [], "text": "{\"a\":1}"}, "bodySize": 7},
  "response": {"status": 200, "statusText": "OK", "headers": [{"name": "content-encoding", "value": "gzip"}],
   "content": {"mimeType": "application/json", "size": 9, "encoding": "base64", "text": "[\"%s\",\"%s\"]"}}},
 {"_id": "2", "startedDateTime": "2024-05-06T07:08:10.000Z", "time": 1,
  "request": {"method": "GET", "url": "https://api.example.com/old", "headers": [{"name": "accept", "value": ["a", "b"]}], "bodySize": 0},
  "response": {"status": 200, "headers": [], "content": {"size": 2, "_isBinary": true, "text": "8000"}}}]}}`

const browserHAR = "\ufeff" + `{"log": {"version": "1.2", "creator": {"name": "mitmproxy", "version": "12"}, "entries": [
 {"startedDateTime": "2025-01-02T23:30:00-05:00", "time": 12.7,
  "request": {"method": "POST", "url": "https://api.example.com/form", "httpVersion": "HTTP/2", "headers": [{"name": ":method", "value": "POST"}, {"name": "content-type", "value": "application/x-www-form-urlencoded"}],
   "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "b", "value": "2 3"}, {"name": "a", "value": "1"}]}},
  "response": {"status": 200, "headers": [{"name": "Content-Encoding", "value": "br"}, {"name": "X", "value": "1"}, {"name": "x", "value": "2"}], "content": {"size": 3, "encoding": "base64", "text": "%s"}}},
 {"startedDateTime": "2025-01-02T10:00:00Z", "time": -1,
  "request": {"method": "GET", "url": "https://api.example.com/decoded", "headers": []},
  "response": {"status": 200, "headers": [{"name": "content-encoding", "value": "gzip"}], "content": {"size": 7, "text": "decoded"}}},
 {"startedDateTime": "", "time": 0, "request": {"method": "GET", "url": "https://gone.example.com/", "headers": []},
  "response": {"status": 0, "headers": [], "content": {"size": 0}, "_error": "net::ERR_NAME_NOT_RESOLVED"}},
 {"request": {"method": "GET", "url": "data:text/plain,x", "headers": []}, "response": {"status": 200, "headers": [], "content": {"size": 1, "text": "x"}}},
 {"request": {"method": "GET", "url": "https://example.com/big", "headers": []}, "response": {"status": 200, "headers": [], "content": {"size": 12}}},
 {"request": {"method": "POST", "url": "https://example.com/up", "headers": [], "bodySize": 5}, "response": {"status": 200, "headers": [], "content": {"size": 0}}},
 {"request": {"method": "GET", "url": "https://example.com/z", "headers": []}, "response": {"status": 200, "headers": [{"name": "content-encoding", "value": "zstd"}], "content": {"size": 4, "encoding": "base64", "text": "KLUv/Q=="}}},
 {"request": {"method": "GET", "url": "https://example.com/ws", "headers": []}, "response": {"status": 101, "headers": [], "content": {"size": 0}}, "_webSocketMessages": [{"type": "send", "data": "x"}]}
 ]}}`

// trace builds an httprr trace out of pairs of wire texts.
func trace(pairs ...string) string {
	var b strings.Builder
	b.WriteString("httprr trace v1\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%d %d\n%s%s", len(pairs[i]), len(pairs[i+1]), pairs[i], pairs[i+1])
	}
	return b.String()
}

var httprr = trace(
	"POST https://api.example.com/v1/messages HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 7\r\nContent-Type: application/json\r\n\r\n{\"a\":1}",
	"HTTP/2.0 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata: \r\n3\r\nx\n\n\r\n0\r\n\r\n",
	"POST /v1/scrubbed HTTP/1.1\r\nHost: api.example.com\r\n\r\nno length",
	"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nslow",
)

const aimock = `{"fixtures": [
 {"match": {"userMessage": "weather", "model": "gpt-4o", "systemMessage": "You help"}, "response": {"content": "It is ${mild}.", "usage": {"prompt_tokens": 7, "completion_tokens": 3}}},
 {"match": {"toolCallId": "call_1"}, "response": {"toolCalls": [{"name": "look", "arguments": {"at": "sky", "n": 1.50}}, {"name": "bad", "arguments": "{\"broken"}]}, "latency": 10},
 {"match": {"userMessage": "fail"}, "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 2}},
 {"match": {"inputText": "embed me", "endpoint": "embedding"}, "response": {"embedding": [0.1]}}
]}`

// want is one episode in short.
type want struct {
	method, url, header, asked string
	status                     int
	said                       string
}

func short(e cassette.Episode) want {
	return want{e.Request.Method, e.Request.URL, fmt.Sprint(e.Request.Header, e.Response.Header), string(e.Request.Body), e.Response.Status, string(e.Response.Body)}
}

func TestFormats(t *testing.T) {
	half := zip("{\"b\": 2}")
	for _, tt := range []struct {
		name   string
		data   string
		format importer.Format
		want   []want
		notes  []string
	}{
		{"vcrpy in YAML", fmt.Sprintf(vcrpyYAML, b64(zip("data: x\n\n"))), importer.VCRPy, []want{
			{"POST", "https://api.example.com/v1/messages", "map[Accept:[*/*] Content-Type:[application/json]] map[Content-Type:[text/event-stream] X-Two:[a b]]", `{"prompt": "hi"}`, 200, "data: x\n\n"},
			{"GET", "http://example.com/", "map[] map[]", "", 404, "plain"},
			{"POST", "http://example.com/parsed", "map[] map[]", `{"n":1.0,"when":"2026-01-02","ok":true,"list":[null,"1","é"]}`, 200, "\x80\x00"},
		}, []string{"3: a body was stored as a value"}},
		{"vcrpy in JSON", vcrpyJSON, importer.VCRPy, []want{
			{"POST", "https://api.example.com/", "map[Accept:[*/*]] map[Content-Type:[text/plain]]", `{"a": "😀"}`, 201, "made"},
			{"GET", "https://api.example.com/b", "map[] map[Etag:[x]]", "", 200, "\x80\x00"},
		}, nil},
		{"Polly.JS", fmt.Sprintf(pollyHAR, b64(half[:7]), b64(half[7:])), importer.Polly, []want{
			{"POST", "https://api.example.com/v1?a=1", "map[Content-Type:[application/json]] map[]", `{"a":1}`, 200, `{"b": 2}`},
			{"GET", "https://api.example.com/old", "map[Accept:[a b]] map[]", "", 200, "\x80\x00"},
		}, nil},
		{"HAR", fmt.Sprintf(browserHAR, b64(br("hey"))), importer.HAR, []want{
			{"POST", "https://api.example.com/form", "map[Content-Type:[application/x-www-form-urlencoded]] map[X:[1 2]]", "a=1&b=2+3", 200, "hey"},
			{"GET", "https://api.example.com/decoded", "map[] map[]", "", 200, "decoded"},
			{"GET", "https://gone.example.com/", "map[] map[]", "", 0, ""},
		}, []string{
			`4: left out: "data:" is no call`, "5: left out: the file does not hold the response's body of 12 bytes", "6: left out: the file does not hold the request's body",
			`7: left out: the body of the response is in the encoding "zstd"`, "8: left out: the messages of a WebSocket",
		}},
		{"httprr", httprr, importer.HTTPRR, []want{
			{"POST", "https://api.example.com/v1/messages", "map[Content-Type:[application/json]] map[Content-Type:[text/event-stream]]", `{"a":1}`, 200, "data: x\n\n"},
			{"POST", "https://api.example.com/v1/scrubbed", "map[] map[Retry-After:[1]]", "no length", 429, "slow"},
		}, []string{"2: the request does not say http or https"}},
		{"httprr, compressed", string(zip(httprr)), importer.HTTPRR, nil, []string{"2: the request"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec, err := importer.Read("f", []byte(tt.data), "")
			if err != nil {
				t.Fatal(err)
			}
			if rec.Format != tt.format {
				t.Errorf("format %q, want %q", rec.Format, tt.format)
			}
			if tt.want != nil && len(rec.Episodes) != len(tt.want) {
				t.Fatalf("%d episodes, want %d; notes %v", len(rec.Episodes), len(tt.want), rec.Notes)
			}
			for i, w := range tt.want {
				if got := short(rec.Episodes[i]); got != w {
					t.Errorf("episode %d\n got %+v\nwant %+v", i, got, w)
				}
			}
			checkNotes(t, rec.Notes, tt.notes)
			again, err := importer.Read("f", []byte(tt.data), tt.format)
			if err != nil || len(again.Episodes) != len(rec.Episodes) {
				t.Errorf("with the format named: %v", err)
			}
		})
	}
}

func checkNotes(t *testing.T, got []importer.Note, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(fmt.Sprintf("%d: %s", got[i].Entry, got[i].Text), want[i]) {
			t.Fatalf("notes\n %+v\nwant\n %q", got, want)
		}
	}
}

// An aborted request of a HAR is a call without an answer; a date is a day in UTC.
func TestHARBesideTheBodies(t *testing.T) {
	rec, err := importer.Read("f", fmt.Appendf(nil, browserHAR, b64(br("hey"))), "")
	if err != nil {
		t.Fatal(err)
	}
	if e := rec.Episodes[2].Response; e.End != "error" || e.Error != "net::ERR_NAME_NOT_RESOLVED" {
		t.Errorf("aborted: %+v", e)
	}
	if at, took := rec.Episodes[0].At, rec.Episodes[0].Response.Duration; at != "2025-01-03" || took.String() != "12ms" {
		t.Errorf("at %s, took %s", at, took)
	}
}

func TestAimock(t *testing.T) {
	rec, err := importer.Read("f", []byte(aimock), "")
	if err != nil || rec.Format != importer.Aimock || len(rec.Episodes) != 3 {
		t.Fatalf("%+v, %v", rec, err)
	}
	checkNotes(t, rec.Notes, []string{"2: its timing", `4: left out: it answers "embedding"`, "0: aimock keeps no requests"})
	first := rec.Episodes[0]
	if string(first.Request.Body) != `{"model":"gpt-4o","messages":[{"role":"system","content":"You help"},{"role":"user","content":"weather"}]}` {
		t.Errorf("request %s", first.Request.Body)
	}
	for i, texts := range [][]string{{`It is ${mild}.`, `"prompt_tokens":7`}, {`"look"`, `\"n\":1.50`, `{\"broken`}, {"slow down", "rate_limit_error"}} {
		for _, text := range texts {
			if !bytes.Contains(rec.Episodes[i].Response.Body, []byte(text)) {
				t.Errorf("episode %d does not hold %s:\n%s", i, text, rec.Episodes[i].Response.Body)
			}
		}
	}
	if e := rec.Episodes[2].Response; e.Status != http.StatusTooManyRequests || e.Header.Get("Retry-After") != "2" {
		t.Errorf("failure: %d %v", e.Status, e.Header)
	}
	script, err := upstream.Parse("s", rec.Script)
	if err != nil || script.Len() != 3 {
		t.Errorf("script: %v\n%s", err, rec.Script)
	}
}

func TestFormatsRefuse(t *testing.T) {
	for name, tt := range map[string]struct {
		format importer.Format
		data   string
		code   fault.Code
	}{
		"no such format":        {"betamax", "{}", importer.CodeFormat},
		"JSON of something":     {"", `{"a": 1}`, importer.CodeFormat},
		"HAR without log":       {importer.HAR, `{}`, importer.CodeUnreadable},
		"HAR of another day":    {"", `{"log": {"version": "2.0", "entries": []}}`, importer.CodeVersion},
		"HAR cut":               {importer.HAR, browserHAR[:900], importer.CodeUnreadable},
		"Polly cut":             {"", pollyHAR[:300], importer.CodeUnreadable},
		"HAR, half an entry":    {"", `{"log": {"entries": [{"request": {"url": "http://a"}}]}}`, importer.CodeUnreadable},
		"HAR, no address":       {"", `{"log": {"entries": [{"request": {}, "response": {}}]}}`, importer.CodeUnreadable},
		"HAR, base64":           {"", `{"log": {"entries": [{"request": {"url": "http://a"}, "response": {"status": 200, "content": {"text": "?", "encoding": "base64"}}}]}}`, importer.CodeUnreadable},
		"HAR, odd encoding":     {"", `{"log": {"entries": [{"request": {"url": "http://a"}, "response": {"status": 200, "content": {"text": "?", "encoding": "rot13"}}}]}}`, importer.CodeUnreadable},
		"vcrpy of old":          {importer.VCRPy, "- request: {}\n", importer.CodeUnreadable},
		"vcrpy, version 2":      {"", strings.Replace(vcrpyJSON, `"version": 1`, `"version": 2`, 1), importer.CodeVersion},
		"vcrpy, no version":     {"", strings.Replace(vcrpyJSON, `"version": 1,`, ``, 1), importer.CodeVersion},
		"vcrpy, no uri":         {importer.VCRPy, "version: 1\ninteractions: [{request: {}, response: {}}]\n", importer.CodeUnreadable},
		"vcrpy, no status":      {importer.VCRPy, "version: 1\ninteractions: [{request: {uri: a}, response: {}}]\n", importer.CodeUnreadable},
		"vcrpy, a list body":    {importer.VCRPy, "version: 1\ninteractions: [{request: {uri: a, body: [1]}, response: {status: {code: 200}}}]\n", importer.CodeUnreadable},
		"vcrpy, endless":        {importer.VCRPy, "version: 1\ninteractions: [{request: {uri: a, parsed_body: &x [*x]}, response: {status: {code: 200}}}]\n", importer.CodeUnreadable},
		"httprr, version 2":     {"", "httprr trace v2\n", importer.CodeVersion},
		"httprr, no numbers":    {"", "httprr trace v1\nx y\n", importer.CodeUnreadable},
		"httprr, cut":           {"", httprr[:len(httprr)-1], importer.CodeUnreadable},
		"httprr, huge":          {"", "httprr trace v1\n9223372036854775807 9223372036854775807\n", importer.CodeUnreadable},
		"httprr, negative":      {"", "httprr trace v1\n-1 1\n", importer.CodeUnreadable},
		"httprr, no host":       {"", trace("GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"), importer.CodeUnreadable},
		"aimock without":        {importer.Aimock, `{}`, importer.CodeUnreadable},
		"aimock, half":          {"", `{"fixtures": [{"match": {}}]}`, importer.CodeUnreadable},
		"gzip cut":              {"", string(zip(httprr)[:30]), importer.CodeUnreadable},
		"gzip of a bomb":        {"", string(zip(strings.Repeat(" ", importer.MaxFile+1))), fault.TooLarge},
		"a body that is a bomb": {"", fmt.Sprintf(vcrpyYAML, b64(zip(strings.Repeat("a", importer.MaxBody+1)))), fault.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := importer.Read("f.x", []byte(tt.data), tt.format)
			if fault.CodeOf(err) != tt.code {
				t.Fatalf("got %+v, error %v, want code %s", rec, err, tt.code)
			}
			if !strings.Contains(err.Error(), `"f.x"`) && tt.format != "betamax" || fault.HintOf(err) == "" && tt.code != fault.TooLarge {
				t.Errorf("%q does not name the file, or has no hint", err)
			}
		})
	}
}

func TestContentEncodings(t *testing.T) {
	for name, tt := range map[string]struct{ encoding, body, want string }{
		"gzip twice":        {"gzip, gzip", string(zip(string(zip("x")))), "x"},
		"deflate":           {"deflate", string(deflate("a longer text")), "a longer text"},
		"br":                {"br", string(br("a longer text")), "a longer text"},
		"br then gzip":      {"br, gzip", string(zip(string(br("a longer text")))), "a longer text"},
		"said, and was not": {"br", "plain", "plain"},
		"identity":          {"identity", "\x80", "\x80"},
	} {
		t.Run(name, func(t *testing.T) {
			data := trace("GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", tt.encoding, len(tt.body), tt.body))
			got, err := episodes(data)
			if err != nil || len(got) != 1 || string(got[0].Response.Body) != tt.want || len(got[0].Response.Header) != 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	for name, body := range map[string]string{"gzip": string(zip("xxxx")[:12]), "br": "\xff\xff\xff", "deflate": "\xff\xff\xff"} {
		rec, err := importer.Read("f", []byte(trace("GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", name, len(body), body))), "")
		if err != nil || len(rec.Episodes) != 0 || len(rec.Notes) != 1 {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

// fuzz reads anything as one format: an error has a code, an episode is whole.
func fuzz(f *testing.F, format importer.Format, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := importer.Read("f", data, format)
		if err != nil {
			if fault.CodeOf(err) == fault.Internal {
				t.Errorf("error without a code: %v", err)
			}
			return
		}
		for i, e := range rec.Episodes {
			if (e.Response.Status < 100) != (e.Response.End == "error") || e.Request.URL == "" || e.Request.Method == "" || rec.Entries[i] < 1 {
				t.Errorf("half an episode: %+v", e)
			}
		}
	})
}

func FuzzGoVCR(f *testing.F) {
	fuzz(f, importer.GoVCR, v4, v1, "version: 1\ninteractions: &a [*a]\n")
}

func FuzzVCRPy(f *testing.F) {
	fuzz(f, importer.VCRPy, fmt.Sprintf(vcrpyYAML, b64(zip("data: x\n\n"))), vcrpyJSON)
}

func FuzzHAR(f *testing.F) {
	fuzz(f, importer.HAR, fmt.Sprintf(browserHAR, b64(br("hey"))), fmt.Sprintf(pollyHAR, "", ""))
}
func FuzzHTTPRR(f *testing.F) { fuzz(f, importer.HTTPRR, httprr, string(zip(httprr))) }
func FuzzAimock(f *testing.F) { fuzz(f, importer.Aimock, aimock) }
func FuzzDetect(f *testing.F) { fuzz(f, "", v4, v1, vcrpyJSON, httprr, aimock) }
