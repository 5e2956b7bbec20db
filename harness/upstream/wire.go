package upstream

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// A wire is one provider's format.
type wire struct {
	name   string
	read   func(a *ask, body []byte) error
	stream func(a ask, r reply) []event
	whole  func(a ask, r reply) []byte
	fail   func(f failure, turn int) []byte
	media  string // content type of a stream
	idName string // header with the request's id
}

// An event is one server-sent event. Name is "" where the format has no names.
type event struct {
	name string
	data []byte
}

// wireOf finds the format by the end of the path, so that any host and prefix do.
func wireOf(path string) (wire, bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropicWire, true
	case strings.HasSuffix(path, "/chat/completions"):
		return chatWire, true
	case strings.HasSuffix(path, "/responses"):
		return responsesWire, true
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return geminiWire, true
	}
	return wire{}, false
}

// encode is JSON without HTML escapes. It panics on what cannot be encoded: all its
// types are ours, and raw parts were checked.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("upstream: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// writeStream sends events and flushes each: it is one chunk for the client.
func writeStream(w http.ResponseWriter, events []event, cut bool) {
	w.WriteHeader(http.StatusOK)
	flusher := http.NewResponseController(w)
	for _, e := range events {
		if _, err := w.Write(e.bytes()); err != nil {
			return // the client left
		}
		_ = flusher.Flush() // a recorder in a test may not flush
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// writeWhole sends a body, or its first half and then breaks off.
func writeWhole(w http.ResponseWriter, body []byte, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if !cut {
		_, _ = w.Write(body) // the client left
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	b.Write(e.data)
	b.WriteString("\n\n")
	return b.Bytes()
}

func writeFailure(w http.ResponseWriter, wr wire, f failure, turn int) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set(wr.idName, id("req_", 24, turn, 0))
	if f.final {
		h.Set("X-Should-Retry", "false")
	}
	if f.retryAfter > 0 {
		ms := f.retryAfter.Milliseconds()
		h.Set("Retry-After-Ms", strconv.FormatInt(ms, 10))
		h.Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
	}
	body := wr.fail(f, turn)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.status)
	_, _ = w.Write(body) // the client left
}
