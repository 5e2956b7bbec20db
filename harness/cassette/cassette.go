// Package cassette is the file in which recorded calls are kept.
//
// It belongs to harness and knows nothing about agents. A cassette is a legal
// go-vcr v2 file: a YAML header, then one JSON object a line (JSON is YAML), so
// that tools people know can read it. It reads, writes, indexes and verifies; it
// does not match (package seam asks it by key) and does not redact.
//
// # The file
//
//	---
//	version: 1
//	x-format: 2
//	x-keyv: 1
//	x-origin: scripted
//	x-rules: ["call-ids/1"]
//	x-prices: {"anthropic/claude":{"in":3}}
//	interactions:
//	- {"x-key":"<64 hex>","x-raw":"<32 hex>","x-sum":"<8 hex>",…,"response":{…},"request":{…}}
//	# end 1 <8 hex>
//
// x-prices is left out when there are none; a list without episodes is written
// "interactions: []". x-key, x-raw and x-sum stand at fixed offsets, so that a
// file is indexed without decoding JSON. x-sum is the CRC-32C of its line: of
// every byte from "- " up to, but without, the line feed, the eight digits of
// x-sum themselves left out. The end line holds the number of episodes and the
// CRC-32C of every byte before it; every later format keeps the end line, so
// that "newer" and "damaged" can be told apart.
//
// A body may stand apart, in <name>.blobs beside the file; its place in the line is
// empty then, and x-ref names it by its SHA-256. Rewrite moves bodies there and back.
//
// Format 1 had SHA-256 in x-raw and no x-ref. It is read by OpenAny, for the tools
// that show and migrate, and refused by Open.
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
	Format     = 2 // x-format: the shape of the file
	KeyVersion = 1 // x-keyv: how keys are computed (by package seam)
)

// The bounds of a cassette. Reading and writing refuse what is beyond them with
// fault.TooLarge.
const (
	MaxFile     = 1 << 30  // bytes of a file or a journal
	MaxLine     = 64 << 20 // bytes of one episode's line
	MaxHeader   = 1 << 20  // bytes before the first episode
	MaxEpisodes = 1 << 20  // episodes of one file
	MaxAsked    = 8        // askings of one episode
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
	Raw      string // hex XXH3 of the request as sent, for the fast path; or ""
	Lane     string // which agent spoke; "" is the main one
	Kind     string // which door: "http", "mcp", "exec", "call"
	Origin   Origin
	Model    string // what the request asked for, if it is a model call
	At       string // the date of recording, 2026-01-02; or ""
	Asked    int    // how often the caller asked before it let this answer be; 0: once
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
	Status   int // 0 only when End is "error"
	Header   http.Header
	Body     []byte
	Chunks   []Chunk // lengths add up to the body's; empty: one chunk
	Duration time.Duration
	End      string // "" whole, "cut" the stream broke, "cancelled" the caller left, "error" no response
	Error    string // of "error" and "cut": what broke
}

// The codes of this package.
const (
	CodeMissing    fault.Code = "CASSETTE_MISSING"     // no such file
	CodeDamaged    fault.Code = "CASSETTE_DAMAGED"     // truncated or altered
	CodeNewer      fault.Code = "CASSETTE_NEWER"       // written by a newer version
	CodeOlder      fault.Code = "CASSETTE_OLDER"       // written in a format that is only read to migrate it
	CodeBlob       fault.Code = "CASSETTE_BLOB"        // a body that stands apart is missing or damaged
	CodeExists     fault.Code = "CASSETTE_EXISTS"      // record never writes into an existing one
	CodeUnfinished fault.Code = "CASSETTE_UNFINISHED"  // a journal of a broken recording is in the way
	CodeNotWritten fault.Code = "CASSETTE_NOT_WRITTEN" // the disk is full, or nobody may write there
	CodeNotSafe    fault.Code = "CASSETTE_NOT_SAFE"    // a secret was found: nothing is written
	CodeCorrupted  fault.Code = "CASSETTE_NOT_EQUAL"   // what was written did not read back equal
)
