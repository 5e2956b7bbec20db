package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/seam"
)

// Clients look around before they ask: is the host there, which models are there, how
// long is this prompt. Such requests pay for nothing and change with every version of
// a client, so they are no part of a recording's meaning: what the cassette holds is
// replayed, and what it does not hold is answered here, never missed.

// localHeader marks what the proxy itself said.
const localHeader = "X-Soundstage-Answer"

// probe answers what is asked of the host and not of an endpoint.
func probe(w http.ResponseWriter, r *http.Request, path string) bool {
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case get && path == "/api/hello": // Claude Code
		say(w, r, hello{"hello"})
	case get && (path == "/" || path == "/healthz"):
		say(w, r, health{true, "soundstage proxy"})
	case r.Method == http.MethodHead:
		say(w, r, health{true, "soundstage proxy"})
	default:
		return false
	}
	return true
}

// local answers a probe of an endpoint that the cassette does not hold. It may read the
// body, and leaves it as it was.
func (p *Proxy) local(w http.ResponseWriter, r *http.Request) bool {
	s := p.o.Seam
	if s.Mode() != seam.Replay && !s.Scripted() {
		return false // the upstream answers, and is recorded
	}
	path := r.URL.Path
	list := r.Method == http.MethodGet && (strings.HasSuffix(path, "/models") || strings.Contains(path, "/models/") && !strings.Contains(path, ":"))
	tokens := r.Method == http.MethodPost && (strings.HasSuffix(path, "/messages/count_tokens") || strings.HasSuffix(path, ":countTokens"))
	if !list && !tokens {
		return false
	}
	body, err := io.ReadAll(readerOf(r.Body)) // bounded by the boundary
	if err != nil {
		return false // the seam says so
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if s.Holds(r) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		return false
	}
	switch {
	case strings.HasSuffix(path, ":countTokens"):
		say(w, r, geminiCount{(len(body) + 3) / 4})
	case tokens:
		say(w, r, anthropicCount{(len(body) + 3) / 4})
	default:
		say(w, r, p.models(r))
	}
	return true
}

func readerOf(r io.Reader) io.Reader {
	if r == nil {
		return http.NoBody
	}
	return r
}

type (
	hello struct {
		Message string `json:"message"`
	}
	health struct {
		OK   bool   `json:"ok"`
		Name string `json:"name"`
	}
	anthropicCount struct {
		Input int `json:"input_tokens"`
	}
	geminiCount struct {
		Total int `json:"totalTokens"`
	}
	modelList struct { // what Anthropic and OpenAI have in common
		Object string  `json:"object"`
		Data   []model `json:"data"`
		More   bool    `json:"has_more"`
	}
	model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Type    string `json:"type"`
		Name    string `json:"display_name"`
		OwnedBy string `json:"owned_by"`
	}
	geminiList struct {
		Models []geminiModel `json:"models"`
	}
	geminiModel struct {
		Name    string   `json:"name"`
		Methods []string `json:"supportedGenerationMethods"`
	}
)

// models lists those that the cassette was recorded with, or is the one asked for.
func (p *Proxy) models(r *http.Request) any {
	names := slices.Clone(p.o.Seam.Models())
	_, one, single := strings.Cut(r.URL.Path, "/models/")
	gemini := strings.HasPrefix(r.URL.Host, "generativelanguage.")
	describe := func(name string) any {
		if gemini {
			return geminiModel{"models/" + strings.TrimPrefix(name, "models/"), []string{"generateContent", "countTokens"}}
		}
		return model{ID: name, Object: "model", Type: "model", Name: name, OwnedBy: "soundstage"}
	}
	if single {
		return describe(one)
	}
	if gemini {
		list := geminiList{Models: []geminiModel{}}
		for _, n := range names {
			list.Models = append(list.Models, describe(n).(geminiModel))
		}
		return list
	}
	list := modelList{Object: "list", Data: []model{}}
	for _, n := range names {
		list.Data = append(list.Data, describe(n).(model))
	}
	return list
}

// say writes a value of the proxy's own.
func say(w http.ResponseWriter, r *http.Request, v any) {
	body, err := canon.Marshal(v)
	if err != nil {
		body, _ = json.Marshal(health{}) // a model's name that is no UTF-8
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(localHeader, "proxy")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client left
	}
}
