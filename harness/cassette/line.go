package cassette

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// The fixed head of a line. The three values stand at keyAt, rawAt and sumAt.
const (
	openKey  = `- {"x-key":"`
	openRaw  = `","x-raw":"`
	openSum  = `","x-sum":"`
	closeSum = `",`

	keyLen = 64 // hex digits of a SHA-256
	rawLen = 32 // hex digits of a 128 bit XXH3
	sumLen = 8  // hex digits of a CRC-32C

	keyAt   = len(openKey)
	rawAt   = keyAt + keyLen + len(openRaw)
	sumAt   = rawAt + rawLen + len(openSum)
	headLen = sumAt + sumLen + len(closeSum)
)

// noRaw stands in a line whose episode has no Raw.
const noRaw = "00000000000000000000000000000000"

// The bodies stand between these marks. A mark cannot occur earlier in a line:
// inside a string its quotes would be escaped, and no other member of these names
// holds an object.
//
// The chunks stand before the response, and the form after the request's body.
const (
	openResponse = `"response":{"body":"`
	openRequest  = `,"request":{"body":"`
	openChunks   = `,"x-chunks":`
	openForm     = `","form":{`
)

// castagnoli is the table of x-sum and of the last line. Package crc32 keeps it, and a
// program that opens no cassette does not wait for it.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// A lineJSON is everything after the fixed head. The response comes first, so
// that a hit decodes it without a look at the request.
type lineJSON struct {
	Kind     string       `json:"x-kind"`
	Lane     string       `json:"x-lane,omitempty"`
	Origin   Origin       `json:"x-origin"`
	Model    string       `json:"x-model,omitempty"`
	At       string       `json:"x-at,omitempty"`
	Asked    int          `json:"x-asked,omitzero"`
	End      string       `json:"x-end,omitempty"`
	Error    string       `json:"x-error,omitempty"`
	Base64   []string     `json:"x-b64,omitempty"`
	Refs     *refsJSON    `json:"x-ref,omitempty"`
	Chunks   chunkList    `json:"x-chunks,omitempty"`
	Response responseJSON `json:"response"`
	Request  *requestJSON `json:"request"`
}

// A refsJSON names the bodies that stand apart; see blobs.
type refsJSON struct {
	Request  string `json:"request,omitempty"`
	Response string `json:"response,omitempty"`
}

// A responseJSON has go-vcr v2's own fields. The body is cut out before the rest
// is decoded and put in after the rest is encoded: it is most of a line.
type responseJSON struct {
	Body     string      `json:"body"`
	Headers  http.Header `json:"headers"`
	Status   string      `json:"status"`
	Code     int         `json:"code"`
	Duration string      `json:"duration"`
}

// A requestJSON has go-vcr v2's own fields. The form is always empty: it would
// be a second copy of the body, and of every secret in it.
type requestJSON struct {
	Body    string              `json:"body"`
	Form    map[string][]string `json:"form"`
	Headers http.Header         `json:"headers"`
	URL     string              `json:"url"`
	Method  string              `json:"method"`
}

// encodeLine writes an episode as a line with its line feed. The episode has
// been checked.
func encodeLine(e *Episode) ([]byte, error) { return encodeApart(e, nil) }

// encodeApart is encodeLine of an episode some of whose bodies stand apart.
func encodeApart(e *Episode, refs *refsJSON) ([]byte, error) {
	j := lineJSON{
		Refs: refs,
		Kind: e.Kind, Lane: e.Lane, Origin: e.Origin, Model: e.Model, At: e.At, Asked: e.Asked,
		End: e.Response.End, Error: e.Response.Error, Chunks: e.Response.Chunks,
		Response: responseJSON{
			Headers: fullHeader(e.Response.Header), Status: statusText(e.Response.Status),
			Code: e.Response.Status, Duration: e.Response.Duration.String(),
		},
		Request: &requestJSON{
			Form: map[string][]string{}, Headers: fullHeader(e.Request.Header),
			URL: e.Request.URL, Method: e.Request.Method,
		},
	}
	var response, request []byte
	if refs == nil || refs.Response == "" {
		response = j.text("response", e.Response.Body)
	}
	if refs == nil || refs.Request == "" {
		request = j.text("request", e.Request.Body)
	}
	raw := e.Raw
	if raw == "" {
		raw = noRaw
	}
	rest, err := json.Marshal(&j, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	rest = escape(rest)[1:] // without its opening brace
	line := make([]byte, 0, headLen+len(rest)+quotedLen(response)+quotedLen(request)+1)
	line = append(line, openKey+e.Key+openRaw+raw+openSum+"00000000"+closeSum...)
	line, rest = splice(line, rest, openResponse, response)
	line, rest = splice(line, rest, openRequest, request)
	line = append(line, rest...)
	copy(line[sumAt:], fmt.Sprintf("%08x", lineSum(line)))
	return append(line, '\n'), nil
}

// splice moves src up to and with mark to dst, and puts a body after it.
func splice(dst, src []byte, mark string, body []byte) (to, rest []byte) {
	at := bytes.Index(src, []byte(mark)) + len(mark)
	return quote(append(dst, src[:at]...), body), src[at:]
}

// text returns b as a JSON string can hold it, and notes when that is base64.
func (j *lineJSON) text(of string, b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	j.Base64 = append(j.Base64, of)
	return base64.StdEncoding.AppendEncode(nil, b)
}

// lineSum is the CRC-32C of a line (without its line feed) but for the digits of
// the sum itself.
func lineSum(line []byte) uint32 {
	return crc32.Update(crc32.Checksum(line[:sumAt], castagnoli()), castagnoli(), line[sumAt+sumLen:])
}

// checkHead says what is wrong with the fixed part of a line, or "".
func checkHead(line []byte) string {
	switch {
	case len(line) < headLen+1 || line[len(line)-1] != '}':
		return "the line is cut"
	case string(line[:keyAt]) != openKey || !isHex(line[keyAt:keyAt+keyLen]):
		return "x-key is not where it must be"
	case string(line[keyAt+keyLen:rawAt]) != openRaw || !isHex(line[rawAt:rawAt+rawLen]):
		return "x-raw is not where it must be"
	case string(line[rawAt+rawLen:sumAt]) != openSum || !isHex(line[sumAt:sumAt+sumLen]),
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
func decodeLine(line []byte) (Episode, error) { return decodeApart(line, nil) }

// decodeApart is decodeLine of a line whose bodies may stand apart in b.
func decodeApart(line []byte, b *blobs) (Episode, error) {
	e := Episode{Key: string(line[keyAt : keyAt+keyLen]), Raw: string(line[rawAt : rawAt+rawLen])}
	if e.Raw == noRaw {
		e.Raw = ""
	}
	if what := checkSum(line); what != "" {
		return e, errors.New(what)
	}
	p, rest, err := takeResponse(line)
	if err != nil {
		return e, err
	}
	request, after, err := unquote(rest)
	if err != nil {
		return e, err
	}
	if after == nil {
		return e, errNoRequest
	}
	j, err := p.decode(after)
	if err != nil {
		return e, err
	}
	if j.Request == nil {
		return e, errNoRequest
	}
	e.Lane, e.Kind, e.Origin, e.Model, e.At, e.Asked = j.Lane, j.Kind, j.Origin, j.Model, j.At, j.Asked
	e.Request = Request{Method: j.Request.Method, URL: j.Request.URL, Header: j.Request.Headers}
	if e.Request.Body, err = j.body("request", request, b); err != nil {
		return e, err
	}
	if e.Response, err = j.response(p.response, b); err != nil {
		return e, err
	}
	return e, e.check()
}

// decodeResponse reads only the response of a line, whose head has been checked.
// It computes no sum: Open has summed the file, of which the line is a part.
func decodeResponse(line []byte, b *blobs) (Response, error) {
	p, _, err := takeResponse(line)
	if err != nil {
		return Response{}, err
	}
	p.between = p.between[:len(p.between)-len(openRequest)]
	j, err := p.decode([]byte("}"))
	if err != nil {
		return Response{}, err
	}
	r, err := j.response(p.response, b)
	if err != nil {
		return r, err
	}
	return r, r.check()
}

var errNoRequest = errors.New("the line has no response and request")

// parts are a line's members up to the request's body. The response's body is
// taken out and unquoted, the list of chunks is taken out.
type parts struct {
	before, chunks, response, between []byte
}

// takeResponse takes a line apart; rest begins with the request's body.
func takeResponse(line []byte) (p parts, rest []byte, err error) {
	before, rest, ok := cutAfter(line[headLen:], openResponse)
	if !ok {
		return p, nil, errNoRequest
	}
	response, rest, ok := cutRequest(rest)
	if !ok {
		return p, nil, errNoRequest
	}
	p.before = before
	if to, list, ok := cutAfter(before, openChunks); ok {
		p.before, p.chunks = to[:len(to)-len(openChunks)], bytes.TrimSuffix(list, []byte(`,`+openResponse))
	}
	p.response, p.between, err = unquote(response)
	if err == nil && len(p.between) <= len(openRequest) { // the quote is one of the mark's own
		err = errNoRequest
	}
	return p, rest, err
}

func cutAfter(b []byte, mark string) (before, after []byte, ok bool) {
	i := bytes.Index(b, []byte(mark))
	if i < 0 {
		return nil, nil, false
	}
	return b[:i+len(mark)], b[i+len(mark):], true
}

// cutRequest is cutAfter openRequest. It looks for that mark from its q on: a search
// goes by the first byte, and an answer has few of them, but commas everywhere.
func cutRequest(b []byte) (before, after []byte, ok bool) {
	const q = 4
	for at := q; at < len(b); {
		i := bytes.Index(b[at:], []byte(openRequest[q:]))
		if i < 0 {
			break
		}
		at += i + len(openRequest) - q
		if bytes.HasSuffix(b[:at], []byte(openRequest)) {
			return b[:at], b[at:], true
		}
	}
	return nil, nil, false
}

// decode reads the members that follow the fixed head; after is what follows the
// request's body.
func (p *parts) decode(after []byte) (*lineJSON, error) {
	object := make([]byte, 0, 1024)
	object = append(append(object, '{'), p.before...)
	if p.chunks != nil {
		object = append(object, `,`+openResponse...)
	}
	object = append(append(object, p.between...), after...)
	j := new(lineJSON)
	err := json.Unmarshal(object, j, json.RejectUnknownMembers(true))
	if err == nil && p.chunks != nil {
		if j.Chunks != nil {
			return nil, errChunks
		}
		j.Chunks, err = parseChunks(p.chunks)
	}
	return j, err
}

func (j *lineJSON) response(text []byte, b *blobs) (Response, error) {
	r := Response{Status: j.Response.Code, Header: j.Response.Headers, End: j.End, Error: j.Error, Chunks: j.Chunks}
	var err error
	if r.Body, err = j.body("response", text, b); err != nil {
		return r, err
	}
	if r.Duration, err = time.ParseDuration(j.Response.Duration); err != nil {
		return r, err
	}
	return r, nil
}

// body undoes text, or takes the body from where it stands.
func (j *lineJSON) body(of string, text []byte, b *blobs) ([]byte, error) {
	if ref := j.Refs.of(of); ref != "" {
		if len(text) > 0 {
			return nil, errors.New("a body stands in the line and apart")
		}
		return b.get(ref)
	}
	if !slices.Contains(j.Base64, of) {
		return text, nil
	}
	return base64.StdEncoding.AppendDecode(nil, text)
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
