package importer

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
)

// A fileHAR is an HTTP archive, version 1.2, with what Polly.JS and browsers add.
type fileHAR struct {
	Log *struct {
		Version string      `json:"version"`
		Entries []*entryHAR `json:"entries"`
	} `json:"log"`
}

type entryHAR struct {
	Started    string          `json:"startedDateTime"`
	Time       float64         `json:"time"` // milliseconds, -1 where it is not known
	Request    *requestHAR     `json:"request"`
	Response   *responseHAR    `json:"response"`
	WebSocket  json.RawMessage `json:"_webSocketMessages"`
	FromCache  string          `json:"_fromCache"`
	AbortError string          `json:"_error"`
}

type requestHAR struct {
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Headers  []headerHAR `json:"headers"`
	PostData *struct {
		Text     *string     `json:"text"`
		Params   []headerHAR `json:"params"`
		Encoding string      `json:"encoding"`  // base64, where a tool writes binary
		Comment  string      `json:"comment"`   // some write it here
		Binary   bool        `json:"_isBinary"` // early Polly.JS: hex
	} `json:"postData"`
	BodySize float64 `json:"bodySize"`
}

type responseHAR struct {
	Status  int         `json:"status"`
	Headers []headerHAR `json:"headers"`
	Content struct {
		Text     *string `json:"text"`
		Encoding string  `json:"encoding"`
		Size     float64 `json:"size"`
		Binary   bool    `json:"_isBinary"`
	} `json:"content"`
	Error string `json:"_error"`
}

// A headerHAR is a name with a value, or in early Polly.JS with a list of them.
type headerHAR struct {
	Name  string    `json:"name"`
	Value oneOrMany `json:"value"`
}

type oneOrMany []string

func (v *oneOrMany) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(v))
	}
	var s string
	err := json.Unmarshal(b, &s)
	*v = oneOrMany{s}
	return err
}

// readHAR reads HTTP archives, those of Polly.JS too.
func readHAR(b *batch, data []byte) error {
	var file fileHAR
	if err := json.Unmarshal(trimBOM(data), &file); err != nil {
		return err
	}
	if file.Log == nil {
		return errors.New("there is no log")
	}
	if v := file.Log.Version; v != "" && v != "1.2" && v != "1.1" {
		return fault.New(CodeVersion, "importer.har", "file %q is an HTTP archive of version %q; 1.1 and 1.2 are known", b.name, v).
			WithHint("export it again as HAR 1.2")
	}
	for i, e := range file.Log.Entries {
		if err := b.har(i+1, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) har(n int, e *entryHAR) error {
	if e == nil || e.Request == nil || e.Response == nil {
		return fmt.Errorf("entry %d: %w", n, errNoHalf)
	}
	u, err := url.Parse(e.Request.URL)
	switch {
	case err != nil || e.Request.URL == "":
		return fmt.Errorf("entry %d: %w", n, errNoURL)
	case u.Scheme != "http" && u.Scheme != "https":
		b.note(n, "left out: %q is no call over HTTP", u.Scheme+":")
		return nil
	case len(e.WebSocket) > 0 && string(e.WebSocket) != "[]" && string(e.WebSocket) != "null":
		b.note(n, "left out: the messages of a WebSocket have no place in a cassette")
		return nil
	}
	out := cassette.Episode{At: dateOf(e.Started)}
	if out.Request, err = e.Request.read(); err != nil {
		return fmt.Errorf("entry %d: request: %w", n, err)
	}
	if e.Request.PostData == nil && e.Request.BodySize > 0 {
		b.note(n, "left out: the file does not hold the request's body of %.0f bytes", e.Request.BodySize)
		return nil
	}
	res := e.Response
	if out.Response, err = res.read(); err != nil {
		return fmt.Errorf("entry %d: response: %w", n, err)
	}
	switch {
	case res.Status == 0:
		why := firstOf(res.Error, e.AbortError, "no response came")
		out.Response = cassette.Response{End: "error", Error: clip(why)}
	case res.Status < 100 || res.Status > 999:
		return fmt.Errorf("entry %d: %w", n, checkStatus(res.Status))
	case res.Content.Text == nil && res.Content.Size > 0 && e.FromCache == "" && out.Request.Method != http.MethodHead:
		b.note(n, "left out: the file does not hold the response's body of %.0f bytes; export it with content", res.Content.Size)
		return nil
	}
	if e.Time > 0 && e.Time < math.MaxInt32 {
		out.Response.Duration = time.Duration(e.Time * float64(time.Millisecond)).Truncate(time.Millisecond)
	}
	return b.add(n, out)
}

func (r *requestHAR) read() (cassette.Request, error) {
	out := cassette.Request{Method: r.Method, URL: withoutFragment(r.URL), Header: headersHAR(r.Headers)}
	if r.PostData == nil {
		return out, nil
	}
	p := r.PostData
	if p.Text == nil {
		form := url.Values{}
		for _, f := range p.Params {
			form[f.Name] = append(form[f.Name], f.Value...)
		}
		out.Body = []byte(form.Encode())
		return out, nil
	}
	var err error
	out.Body, err = textHAR(*p.Text, p.Encoding, p.Binary, false)
	return out, err
}

func (r *responseHAR) read() (cassette.Response, error) {
	out := cassette.Response{Status: r.Status, Header: headersHAR(r.Headers)}
	if r.Content.Text == nil {
		return out, nil
	}
	var err error
	encoded := out.Header.Get("Content-Encoding") != ""
	out.Body, err = textHAR(*r.Content.Text, r.Content.Encoding, r.Content.Binary, encoded)
	return out, err
}

// textHAR is a body's bytes. Polly.JS writes a body that came encoded as a JSON list
// with the chunks that it came in, each in base64, early versions in hex.
func textHAR(text, encoding string, binary, chunked bool) ([]byte, error) {
	if encoding == "" && !binary {
		return []byte(text), nil
	}
	undo := func(s string) ([]byte, error) { return base64.StdEncoding.DecodeString(s) }
	switch strings.ToLower(encoding) {
	case "base64":
	case "", "hex":
		undo = hex.DecodeString
	case "utf8", "utf-8":
		return []byte(text), nil
	default:
		return nil, fmt.Errorf("the text is in the encoding %.40q", encoding)
	}
	var chunks []string
	if chunked && strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &chunks) == nil {
		var body []byte
		for _, c := range chunks {
			part, err := undo(c)
			if err != nil {
				return nil, err
			}
			body = append(body, part...)
		}
		return body, nil
	}
	return undo(text)
}

func headersHAR(list []headerHAR) http.Header {
	h := map[string][]string{}
	for _, f := range list {
		h[f.Name] = append(h[f.Name], f.Value...)
	}
	return canonical(h)
}

// withoutFragment drops what is never sent.
func withoutFragment(u string) string {
	u, _, _ = strings.Cut(u, "#")
	return u
}

// dateOf is the day of a time as HAR has it, or nothing.
func dateOf(started string) string {
	t, err := time.Parse(time.RFC3339, started)
	if err != nil || t.Year() < 1000 || t.Year() > 9999 {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func clip(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
