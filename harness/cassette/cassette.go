// Package cassette is the file in which recorded calls are kept.
//
// It belongs to harness and knows nothing about agents. A cassette is a legal
// go-vcr v2 file: a YAML header, then one JSON object a line (JSON is YAML), so
// that tools people know can read it. It reads, writes, indexes and verifies; it
// does not match (package seam asks it by key) and does not redact.
package cassette

import (
	"net/http"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// An Origin says where an answer came from.
type Origin string

// The origins, from the strongest claim to the weakest.
const (
	Live     Origin = "live"     // a real provider answered
	Imported Origin = "imported" // another tool's recording said so
	Scripted Origin = "scripted" // a person wrote the answer
)

// Format and KeyVersion are what this package writes.
const (
	Format     = 1 // x-format: the shape of the file
	KeyVersion = 1 // x-keyv: how keys are computed (by package seam)
)

// A Header is the top of the file.
type Header struct {
	Format     int
	KeyVersion int
	Origin     Origin   // the weakest of the episodes
	Rules      []string // names of the versioned rule presets in force: "call-ids/1"
	Prices     []byte   // canonical JSON: model ref to price, as of recording; or nil
}

// A Chunk is one read of a response body.
type Chunk struct {
	AtMS int64 // since the response's header
	Len  int   // bytes of Body
}

// An Episode is one recorded call.
type Episode struct {
	Key      string // hex SHA-256, computed by package seam
	Raw      string // hex SHA-256 of the request as sent, for the fast path
	Lane     string // which agent spoke; "" is the main one
	Kind     string // "http"; later "mcp", "exec"
	Origin   Origin
	Model    string // what the request asked for, if it is a model call
	At       string // the date of recording, 2026-01-02
	Request  Request
	Response Response
}

// A Request is what was sent, redacted.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// A Response is what came back, redacted.
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte
	Chunks   []Chunk // empty: one chunk
	Duration time.Duration
	End      string // "" whole, "cut" the stream broke, "cancelled" the caller left, "error" no response
	Error    string // of "error" and "cut": what broke
}

// The codes of this package.
const (
	CodeMissing   fault.Code = "CASSETTE_MISSING"   // no such file
	CodeDamaged   fault.Code = "CASSETTE_DAMAGED"   // truncated or altered
	CodeNewer     fault.Code = "CASSETTE_NEWER"     // written by a newer version
	CodeExists    fault.Code = "CASSETTE_EXISTS"    // record never writes into an existing one
	CodeNotSafe   fault.Code = "CASSETTE_NOT_SAFE"  // a secret was found: nothing is written
	CodeCorrupted fault.Code = "CASSETTE_NOT_EQUAL" // what was written did not read back equal
)

// The functions below are the contract between this package and package seam.
//
//	func Open(path string) (*Cassette, error)      indexes; decodes no body
//	func (c *Cassette) Header() Header
//	func (c *Cassette) Len() int
//	func (c *Cassette) Episode(i int) (Episode, error)   decodes line i, checks its x-sum
//	func (c *Cassette) ByKey(key string) []int           in recorded order
//	func (c *Cassette) ByRaw(raw string) []int           in recorded order
//	func (c *Cassette) Keys() iter.Seq2[int, string]
//	func (c *Cassette) Close() error
//
//	func Create(path string, h Header) (*Writer, error)  journal beside path: path + ".part"
//	func (w *Writer) Append(e Episode) error             journalled and synced when it returns; safe for concurrent use
//	func (w *Writer) Commit() error                      tmp, reload, compare, sync, rename; the journal is removed
//	func (w *Writer) Abandon() error                     keeps the journal
//	func Resume(path string) ([]Episode, error)          the whole episodes of a journal that a crash left
