package seam

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
)

// maxBody bounds a request's body in bytes.
const maxBody = 48 << 20

// keyHeaders are part of the question: the same body under another version or beta
// is another request. Sorted, in canonical spelling.
var keyHeaders = []string{"Anthropic-Beta", "Anthropic-Version", "Mcp-Protocol-Version", "Openai-Beta", "Range", "X-Github-Api-Version"}

// A keyer computes what requests are found by.
type keyer struct {
	rules    *rules
	fold     *rules // what may differ between two askings of one turn
	redactor *redact.Redactor
	memory   sync.Pool // of *memory: of questions that were answered
}

func newKeyer(names []string, r *redact.Redactor) (*keyer, error) {
	set, err := compile(names)
	if err != nil {
		return nil, err
	}
	fold := &rules{}
	for _, pointer := range foldFields {
		fold.node(pointer).drop = true
	}
	return &keyer{rules: set, fold: fold, redactor: r}, nil
}

// KeyOf computes the key and the raw hash of a request that is redacted already:
// one that an importer made, or one in a cassette that is to be rekeyed.
func KeyOf(rules []string, lane, kind string, r cassette.Request) (key, raw string, err error) {
	k, err := newKeyer(rules, redact.New(redact.Options{}))
	if err != nil {
		return "", "", err
	}
	q := &question{memory: &memory{}, lane: lane, kind: kind, method: r.Method, url: k.redactor.URL(r.URL), header: r.Header, known: r.Body}
	return k.key(q), k.raw(q), nil
}

// A question is a request as it is looked up.
type question struct {
	lane, kind, method string
	url                string      // canonical, without credentials
	header             http.Header // allowed ones, masked
	body               []byte      // as sent
	known              []byte      // body with values of the environment and folders masked

	memory *memory
	masked []byte // known with everything masked; set by canonical
	form   []byte // canonical; nil until asked for
	isJSON bool   // form is JSON, not bytes
}

// A memory is where the texts of a question stand, for one question after another.
type memory struct {
	body, canonical, form []byte
}

// ask reads a request and closes its body.
func (k *keyer) ask(req *http.Request) (*question, error) {
	m, _ := k.memory.Get().(*memory)
	if m == nil {
		m = &memory{}
	}
	var err error
	m.body, err = readAll(req.Body, req.ContentLength, m.body)
	if err != nil {
		return nil, fault.Wrap(err, fault.CodeOf(err), "seam.roundtrip", "%s %s", method(req), k.redactor.URL(req.URL.String()))
	}
	body := m.body
	return &question{
		memory: m, lane: LaneOf(req.Context()), kind: "http", method: method(req), url: k.redactor.URL(req.URL.String()),
		header: k.redactor.RequestHeader(req.Header), body: body, known: k.redactor.Known(body, nil),
	}, nil
}

// maxKept is the longest body whose memory is used again, in bytes.
const maxKept = 1 << 20

// release gives a question's memory to the next one. Nothing of the question may be
// used afterwards.
func (k *keyer) release(q *question) {
	if cap(q.memory.body) <= maxKept {
		k.memory.Put(q.memory)
	}
}

// raw hashes a question by its bytes: the fast way to an episode. It need not withstand
// an attacker, who could write the cassette itself, and so need not cost what SHA-256
// does (docs/decisions/0011).
func (k *keyer) raw(q *question) string {
	var room [256]byte
	seed := xxh3.Hash(q.head(room[:0], "raw"))
	digest := xxh3.Hash128Seed(q.known, seed).Bytes()
	return hex.EncodeToString(digest[:])
}

// key hashes what a question means: its canonical body under the rules.
func (k *keyer) key(q *question) string {
	var room [256]byte
	k.canonical(q)
	form := "bytes"
	if q.isJSON {
		form = "json"
	}
	h := sha256.New()
	h.Write(q.head(room[:0], form))
	h.Write(q.form)
	var digest [sha256.Size]byte
	return hex.EncodeToString(h.Sum(digest[:0]))
}

// canonical sets form: the redacted body in canonical form with the rules applied,
// or the redacted bytes of a body that is not JSON in UTF-8 with unique names.
func (k *keyer) canonical(q *question) {
	if q.masked == nil {
		q.masked = k.redactor.MaskRest(q.known)
		q.form, q.isJSON = k.rules.form(q.masked, q.memory)
	}
}

// form is a masked body as keys and differences see it. It stands in m, or is masked
// itself.
func (r *rules) form(masked []byte, m *memory) (form []byte, isJSON bool) {
	m.canonical = slices.Grow(m.canonical[:0], 2*len(masked))
	text, err := canon.Append(m.canonical, masked)
	if err != nil {
		return masked, false
	}
	m.canonical, m.form = text, r.apply(m.form[:0], text)
	return m.form, true
}

// head appends everything but the body, each part with its length, so that no two
// questions run together.
func (q *question) head(buf []byte, form string) []byte {
	buf = binary.AppendUvarint(buf, cassette.KeyVersion)
	for _, part := range [...]string{form, q.lane, q.kind, q.method, q.url} {
		buf = binary.AppendUvarint(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	for _, name := range keyHeaders {
		value := strings.Join(q.header[name], ", ")
		buf = binary.AppendUvarint(buf, uint64(len(value)))
		buf = append(buf, value...)
	}
	return buf
}

func method(req *http.Request) string {
	if req.Method == "" {
		return http.MethodGet
	}
	return strings.ToUpper(req.Method)
}

// readAll reads and closes a body whose length may be known, into buf if it fits.
func readAll(r io.ReadCloser, length int64, buf []byte) ([]byte, error) {
	if r == nil || r == http.NoBody {
		return nil, nil
	}
	defer r.Close()
	if length > maxBody {
		return nil, fault.New(fault.TooLarge, "seam.body", "body of %d bytes is longer than %d", length, maxBody)
	}
	if buf = buf[:0]; int64(cap(buf)) <= length || cap(buf) == 0 {
		buf = make([]byte, 0, max(512, length+1)) // one more, so that EOF needs no growth
	}
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, fault.Wrap(err, CodeBody, "seam.body", "read")
		case len(buf) > maxBody:
			return nil, fault.New(fault.TooLarge, "seam.body", "body is longer than %d bytes", maxBody)
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

func closeBody(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	return req.Body.Close()
}

// modelOf is the model that a request asks for: the body's "model", or the part of
// the path where Gemini, Bedrock and Azure have it.
func modelOf(url string, body []byte) string {
	model := ""
	eachMember(body, skipSpace(body, 0), func(name []byte, from, to int) bool {
		if string(name) == `"model"` && to-from > 2 && to-from < 200 && body[from] == '"' {
			model = string(body[from+1 : to-1])
		}
		return model == ""
	})
	if model != "" {
		return model
	}
	for _, before := range []string{"/models/", "/model/", "/deployments/"} {
		if _, rest, ok := strings.Cut(url, before); ok {
			if i := strings.IndexAny(rest, ":/?"); i > 0 {
				return rest[:i]
			}
		}
	}
	return ""
}
