package official_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
	"gopkg.in/yaml.v3"
)

// corpusDir holds recordings of real providers that others made; see its README.
const corpusDir = "../../../../shared/corpus/cassettes"

// keySet has, for each event of a stream and for "whole", the paths of its keys.
// List positions are *.
type keySet map[string]map[string]bool

func (k keySet) add(label string, data []byte) bool {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return false
	}
	if k[label] == nil {
		k[label] = map[string]bool{}
	}
	walk(v, "", k[label])
	return true
}

// opaque values belong to the caller's tools, not to the format.
var opaque = []string{"/input", "/args", "/parameters", "/schema"}

func walk(v any, path string, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			out[path+"/"+key] = true
			if !slices.Contains(opaque, "/"+key) {
				walk(item, path+"/"+key, out)
			}
		}
	case []any:
		for _, item := range v {
			walk(item, path+"/*", out)
		}
	}
}

// addBody adds a whole body or each event of a stream.
func (k keySet) addBody(body []byte) {
	if k.add("whole", body) {
		return
	}
	for block := range bytes.SplitSeq(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), []byte("\n\n")) {
		label := "chunk"
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
				label = string(bytes.TrimSpace(name))
			}
			data, ok := bytes.CutPrefix(line, []byte("data:"))
			if ok && string(bytes.TrimSpace(data)) == "[DONE]" {
				k["[DONE]"] = map[string]bool{}
			} else if ok {
				k.add(label, data)
			}
		}
	}
}

// beyond lists what k has and known has not.
func (k keySet) beyond(known keySet) []string {
	var out []string
	for label, paths := range k {
		if known[label] == nil {
			out = append(out, label)
		}
		for path := range paths {
			if !known[label][path] {
				out = append(out, label+" "+path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// A voice is a provider's format as it is heard at an address.
type voice struct {
	name, url, streamURL string
	hosts                []string // of the corpus, by the end of the name; none is all other
	path                 string   // of the corpus, by the end
}

var voices = []voice{
	{name: "anthropic", url: "https://api.anthropic.com/v1/messages", hosts: []string{"api.anthropic.com"}, path: "/v1/messages"},
	{name: "chat", url: "https://api.openai.com/v1/chat/completions", hosts: []string{"api.openai.com", "openai.azure.com"}, path: "/chat/completions"},
	{name: "router", url: "https://openrouter.ai/api/v1/chat/completions", hosts: []string{"openrouter.ai", "ai-gateway.vercel.sh"}, path: "/chat/completions"},
	{name: "compatible", url: "https://api.x.ai/v1/chat/completions", path: "/chat/completions"},
	{name: "responses", url: "https://api.openai.com/v1/responses", hosts: []string{"api.openai.com", "openai.azure.com"}, path: "/responses"},
	{
		name: "gemini", url: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
		streamURL: "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
		hosts:     []string{"googleapis.com"}, path: "enerateContent",
	},
}

func voiceOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	ends := func(s string) bool { return strings.HasSuffix(u.Host, s) }
	for _, v := range voices {
		if strings.HasSuffix(u.Path, v.path) && (v.hosts == nil || slices.ContainsFunc(v.hosts, ends)) {
			return v.name
		}
	}
	return ""
}

// readCorpus collects the key sets of each voice.
func readCorpus(t *testing.T) (map[string]keySet, map[string]int) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skipf("the corpus of real recordings is not beside the repository: %v", err)
	}
	known, counts := map[string]keySet{}, map[string]int{}
	err := filepath.WalkDir(corpusDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file struct {
			Interactions []struct {
				Request  struct{ URL string }
				Response struct{ Body string }
			}
		}
		if err := yaml.Unmarshal(data, &file); err != nil {
			return err
		}
		for _, i := range file.Interactions {
			name := voiceOf(i.Request.URL)
			if known[name] == nil {
				known[name] = keySet{}
			}
			known[name].addBody([]byte(i.Response.Body))
			counts[name]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known, counts
}

// newKeys are keys that no recording shows, with the type of the provider's own
// library that has them.
var newKeys = map[string]any{
	"chunk /choices/*/delta/refusal":                          openai.ChatCompletionChunkChoiceDelta{},
	"whole /output/*/content/*/refusal":                       responses.ResponseOutputRefusal{},
	"whole /incomplete_details/reason":                        responses.ResponseIncompleteDetails{},
	"response.content_part.added /part/refusal":               responses.ResponseOutputRefusal{},
	"response.content_part.done /part/refusal":                responses.ResponseOutputRefusal{},
	"response.output_item.done /item/content/*/refusal":       responses.ResponseOutputRefusal{},
	"response.completed /response/output/*/content/*/refusal": responses.ResponseOutputRefusal{},
	"response.incomplete /response/incomplete_details/reason": responses.ResponseIncompleteDetails{},
	"whole /usageMetadata/cachedContentTokenCount":            genai.GenerateContentResponseUsageMetadata{},
	"chunk /usageMetadata/cachedContentTokenCount":            genai.GenerateContentResponseUsageMetadata{},
}

// newEvents are events that no recording shows. Their own keys must be in the
// library's type; what is below them must be in the recorded event named last.
var newEvents = map[string]struct {
	sdk  any
	like string
}{
	"response.refusal.delta": {responses.ResponseRefusalDeltaEvent{}, ""},
	"response.refusal.done":  {responses.ResponseRefusalDoneEvent{}, ""},
	"response.incomplete":    {responses.ResponseIncompleteEvent{}, "response.completed"},
}

// inSDK says whether what no recording shows is in the provider's library.
func inSDK(t *testing.T, known keySet, beyond string) bool {
	label, path, isKey := strings.Cut(beyond, " ")
	if sdk, ok := newKeys[beyond]; ok {
		return hasTag(sdk, path[strings.LastIndexByte(path, '/')+1:])
	}
	e, ok := newEvents[label]
	switch {
	case !ok:
		return false
	case !isKey:
		var u responses.ResponseStreamEventUnion
		if err := json.Unmarshal([]byte(`{"type":"`+label+`"}`), &u); err != nil {
			t.Fatal(err)
		}
		return reflect.TypeOf(u.AsAny()) == reflect.TypeOf(e.sdk)
	case strings.Count(path, "/") == 1:
		return hasTag(e.sdk, path[1:])
	}
	return known[e.like][path]
}

func hasTag(v any, name string) bool {
	for f := range reflect.TypeOf(v).Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}

func TestKeysAreTheProviders(t *testing.T) {
	known, counts := readCorpus(t)
	for _, v := range voices {
		if counts[v.name] == 0 {
			t.Errorf("%s: the corpus has no recording", v.name)
		}
		got := sayEverything(t, v)
		if len(got) == 0 || got["whole"] == nil {
			t.Errorf("%s: nothing was said", v.name)
		}
		n := 0
		for _, paths := range got {
			n += len(paths)
		}
		t.Logf("%s: %d recordings; ours says %d kinds with %d keys", v.name, counts[v.name], len(got), n)
		for _, b := range got.beyond(known[v.name]) {
			if !inSDK(t, known[v.name], b) {
				t.Errorf("%s: %s is in no recording and not listed with its type", v.name, b)
			}
		}
	}
}

func TestBeyondFindsWhatIsNew(t *testing.T) {
	known, got := keySet{}, keySet{}
	known.addBody([]byte("event: a\ndata: {\"x\":{\"y\":[{\"z\":1}]}}\n\n"))
	got.addBody([]byte("event: a\ndata: {\"x\":{\"y\":[{\"z\":1,\"w\":2}]}}\n\nevent: b\ndata: {\"v\":0}\n\n"))
	same(t, "beyond", []string{"a /x/y/*/w", "b", "b /v"}, got.beyond(known))
	same(t, "labels", []string{"a", "b"}, slices.Sorted(maps.Keys(got)))
}
