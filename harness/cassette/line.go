package cassette

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The fixed head of a line. The three values stand at keyAt, rawAt and sumAt.
const (
	openKey  = `- {"x-key":"`
	openRaw  = `","x-raw":"`
	openSum  = `","x-sum":"`
	closeSum = `",`

	hashLen = 64 // hex digits of a SHA-256
	sumLen  = 8  // hex digits of a CRC-32C

	keyAt   = len(openKey)
	rawAt   = keyAt + hashLen + len(openRaw)
	sumAt   = rawAt + hashLen + len(openSum)
	headLen = sumAt + sumLen + len(closeSum)
)

// noRaw stands in a line whose episode has no Raw.
const noRaw = "0000000000000000000000000000000000000000000000000000000000000000"

// beforeRequest cannot occur earlier in a line: inside a string its quotes would
// be escaped, and no other object has a member "request" that holds an object.
const beforeRequest = `,"request":{`

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A lineJSON is everything after the fixed head. The response comes first, so
// that a hit decodes it without a look at the request.
type lineJSON struct {
	Kind     string       `json:"x-kind"`
	Lane     string       `json:"x-lane,omitempty"`
	Origin   Origin       `json:"x-origin"`
	Model    string       `json:"x-model,omitempty"`
	At       string       `json:"x-at,omitempty"`
	End      string       `json:"x-end,omitempty"`
	Error    string       `json:"x-error,omitempty"`
	Base64   []string     `json:"x-b64,omitempty"`
	Chunks   [][2]int64   `json:"x-chunks,omitempty"`
	Response responseJSON `json:"response"`
	Request  *requestJSON `json:"request"`
}

// A responseJSON has go-vcr v2's own fields.
type responseJSON struct {
	Body     text        `json:"body"`
	Headers  http.Header `json:"headers"`
	Status   string      `json:"status"`
	Code     int         `json:"code"`
	Duration string      `json:"duration"`
}

// A requestJSON has go-vcr v2's own fields. The form is always empty: it would
// be a second copy of the body, and of every secret in it.
type requestJSON struct {
	Body    text                `json:"body"`
	Form    map[string][]string `json:"form"`
	Headers http.Header         `json:"headers"`
	URL     string              `json:"url"`
	Method  string              `json:"method"`
}

// A text is a JSON string held as bytes: one copy less for a long body.
type text []byte

func (t text) MarshalJSONTo(enc *jsontext.Encoder) error {
	quoted, err := jsontext.AppendQuote(make([]byte, 0, len(t)+len(t)/8+2), t)
	if err != nil {
		return err
	}
	return enc.WriteValue(quoted)
}

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() != '"' {
		return errors.New("a body must be a string")
	}
	*t, err = jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	return err
}

// encodeLine writes an episode as a line with its line feed. The episode has
// been checked.
func encodeLine(e *Episode) ([]byte, error) {
	j := lineJSON{Kind: e.Kind, Lane: e.Lane, Origin: e.Origin, Model: e.Model, At: e.At,
		End: e.Response.End, Error: e.Response.Error,
		Response: responseJSON{Headers: fullHeader(e.Response.Header), Status: statusText(e.Response.Status),
			Code: e.Response.Status, Duration: e.Response.Duration.String()},
		Request: &requestJSON{Form: map[string][]string{}, Headers: fullHeader(e.Request.Header),
			URL: e.Request.URL, Method: e.Request.Method},
	}
	j.Response.Body = j.body("response", e.Response.Body)
	j.Request.Body = j.body("request", e.Request.Body)
	for _, c := range e.Response.Chunks {
		j.Chunks = append(j.Chunks, [2]int64{c.AtMS, int64(c.Len)})
	}
	raw := e.Raw
	if raw == "" {
		raw = noRaw
	}
	rest, err := json.Marshal(&j, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	rest = escape(rest)
	line := make([]byte, 0, headLen+len(rest))
	line = append(line, openKey+e.Key+openRaw+raw+openSum+"00000000"+closeSum...)
	line = append(line, rest[1:]...) // without its opening brace
	copy(line[sumAt:], fmt.Sprintf("%08x", lineSum(line)))
	return append(line, '\n'), nil
}

// body returns b as a JSON string can hold it, and notes when that is base64.
func (j *lineJSON) body(of string, b []byte) text {
	if utf8.Valid(b) {
		return b
	}
	j.Base64 = append(j.Base64, of)
	return base64.StdEncoding.AppendEncode(nil, b)
}

// lineSum is the CRC-32C of a line (without its line feed) but for the digits of
// the sum itself.
func lineSum(line []byte) uint32 {
	return crc32.Update(crc32.Checksum(line[:sumAt], castagnoli), castagnoli, line[sumAt+sumLen:])
}

// checkHead says what is wrong with the fixed part of a line, or "".
func checkHead(line []byte) string {
	switch {
	case len(line) < headLen+1 || line[len(line)-1] != '}':
		return "the line is cut"
	case string(line[:keyAt]) != openKey || !isHex(line[keyAt:keyAt+hashLen]):
		return "x-key is not where it must be"
	case string(line[keyAt+hashLen:rawAt]) != openRaw || !isHex(line[rawAt:rawAt+hashLen]):
		return "x-raw is not where it must be"
	case string(line[rawAt+hashLen:sumAt]) != openSum || !isHex(line[sumAt:sumAt+sumLen]),
		string(line[sumAt+sumLen:headLen]) != closeSum:
		return "x-sum is not where it must be"
	}
	return ""
}

// checkSum says that a line, whose head is right, was altered, or "".
func checkSum(line []byte) string {
	want, err := strconv.ParseUint(string(line[sumAt:sumAt+sumLen]), 16, 32)
	if err != nil || uint32(want) != lineSum(line) {
		return "x-sum does not fit the line"
	}
	return ""
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// decodeLine reads a line (without its line feed), whose head has been checked.
func decodeLine(line []byte) (Episode, error) {
	var e Episode
	if what := checkSum(line); what != "" {
		return e, errors.New(what)
	}
	j, err := decodeJSON(line[headLen:])
	if err != nil {
		return e, err
	}
	if j.Request == nil {
		return e, errors.New("the line has no request")
	}
	e.Key, e.Raw = string(line[keyAt:keyAt+hashLen]), string(line[rawAt:rawAt+hashLen])
	if e.Raw == noRaw {
		e.Raw = ""
	}
	e.Lane, e.Kind, e.Origin, e.Model, e.At = j.Lane, j.Kind, j.Origin, j.Model, j.At
	e.Request = Request{Method: j.Request.Method, URL: j.Request.URL, Header: j.Request.Headers}
	if e.Request.Body, err = j.plain("request", j.Request.Body); err != nil {
		return e, err
	}
	if e.Response, err = j.response(); err != nil {
		return e, err
	}
	return e, e.check()
}

// decodeResponse reads only the response of a line, whose head has been checked.
func decodeResponse(line []byte) (Response, error) {
	if what := checkSum(line); what != "" {
		return Response{}, errors.New(what)
	}
	end := bytes.Index(line, []byte(beforeRequest))
	if end < headLen {
		return Response{}, errors.New("the line has no request")
	}
	j, err := decodeJSON(line[headLen:end], '}')
	if err != nil {
		return Response{}, err
	}
	r, err := j.response()
	if err != nil {
		return r, err
	}
	return r, r.check()
}

// decodeJSON reads the members after the fixed head.
func decodeJSON(members []byte, end ...byte) (*lineJSON, error) {
	object := make([]byte, 0, 1+len(members)+len(end))
	object = append(append(append(object, '{'), members...), end...)
	j := new(lineJSON)
	if err := json.Unmarshal(object, j, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *lineJSON) response() (Response, error) {
	r := Response{Status: j.Response.Code, Header: j.Response.Headers, End: j.End, Error: j.Error}
	var err error
	if r.Body, err = j.plain("response", j.Response.Body); err != nil {
		return r, err
	}
	if r.Duration, err = time.ParseDuration(j.Response.Duration); err != nil {
		return r, err
	}
	if len(j.Chunks) > 0 {
		r.Chunks = make([]Chunk, len(j.Chunks))
	}
	for i, c := range j.Chunks {
		r.Chunks[i] = Chunk{AtMS: c[0], Len: int(c[1])}
	}
	return r, nil
}

// plain undoes body.
func (j *lineJSON) plain(of string, t text) ([]byte, error) {
	for _, b := range j.Base64 {
		if b == of {
			return base64.StdEncoding.AppendDecode(nil, t)
		}
	}
	return t, nil
}

// fullHeader is h with an empty map in the place of nil: go-vcr v2 hands the map
// to callers who may write into it.
func fullHeader(h http.Header) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h
}

// statusText is the status line's text as go-vcr v2 has it: "200 OK".
func statusText(code int) string {
	if code == 0 {
		return ""
	}
	if t := http.StatusText(code); t != "" {
		return strconv.Itoa(code) + " " + t
	}
	return strconv.Itoa(code)
}
