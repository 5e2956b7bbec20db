package sillytavern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// A part is one kind of file of text completion, and one member of a master export.
type part struct {
	name   string // of the member
	fresh  string
	fields []twin.Field // without the name
	owns   []string     // the paths of a body that say that it has this part
}

// parts in the order in which a master export has them.
var parts = []part{
	{"instruct", `{"input_sequence":"","output_sequence":""}`, []twin.Field{
		{Path: "/templates/instruct", Ptr: "", Over: scalars()},
	}, []string{"/templates/instruct"}},
	{"context", `{"story_string":""}`, []twin.Field{
		{Path: "/templates/story", Ptr: "/story_string", Codec: twin.Text, Required: true},
		{Path: "/templates/context", Ptr: "", Over: scalars("story_string")},
	}, []string{"/templates/story", "/templates/context"}},
	{"sysprompt", `{"content":""}`, []twin.Field{{Path: "/blocks", Over: &sysprompt}}, []string{"/blocks"}},
	{"preset", `{}`, textgenFields, []string{"/samplers", "/behavior/stream"}},
	{"reasoning", `{"prefix":"","suffix":"","separator":""}`, []twin.Field{
		{Path: "/templates/reasoning", Ptr: "", Over: scalars()},
	}, []string{"/templates/reasoning"}},
}

var textgenFields = []twin.Field{
	{Path: "/samplers/temperature", Ptr: "/temp", Codec: twin.Sampler},
	{Path: "/samplers/topP", Ptr: "/top_p", Codec: twin.Sampler},
	{Path: "/samplers/topK", Ptr: "/top_k", Codec: twin.Sampler},
	{Path: "/samplers/topA", Ptr: "/top_a", Codec: twin.Sampler},
	{Path: "/samplers/minP", Ptr: "/min_p", Codec: twin.Sampler},
	twin.Alt("/samplers/typicalP", sampler("/typical_p"), sampler("/typical")),
	{Path: "/samplers/tailFree", Ptr: "/tfs", Codec: twin.Sampler},
	{Path: "/samplers/repetitionPenalty", Ptr: "/rep_pen", Codec: twin.Sampler},
	{Path: "/samplers/repetitionRange", Ptr: "/rep_pen_range", Codec: twin.Sampler},
	{Path: "/samplers/frequencyPenalty", Ptr: "/freq_pen", Codec: twin.Sampler},
	{Path: "/samplers/presencePenalty", Ptr: "/presence_pen", Codec: twin.Sampler},
	{Path: "/samplers/seed", Ptr: "/seed", Codec: twin.Sampler},
	{Path: "/samplers/n", Ptr: "/n", Codec: twin.Sampler},
	twin.Alt("/samplers/maxContext", sampler("/max_length"), sampler("/max_context_length")),
	{Path: "/samplers/maxTokens", Ptr: "/genamt", Codec: twin.Sampler},
	{Path: "/behavior/stream", Ptr: "/streaming", Codec: twin.Bool},
}

// nameField is the name, which every part has.
var nameField = twin.Field{Path: "/name", Ptr: "/name", Codec: twin.Text}

// scalars is a map of all texts, switches and numbers of a document, but for its name
// and those left out, by their own names. What is an empty text is left out.
func scalars(but ...string) *twin.Over {
	skip := func(name string, n *canon.Node) bool {
		return name == "name" || slices.Contains(but, name) || n.Kind() == canon.Object || n.Kind() == canon.Array || n.Kind() == canon.Null
	}
	text := func(n *canon.Node) string {
		if n.Kind() == canon.String {
			return n.Text()
		}
		return n.Raw()
	}
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			out := canon.NewObject()
			for name := range doc.Members() {
				n := doc.Field(name)
				if !skip(name, n) && text(n) != "" {
					twin.Set(out, canon.JoinPointer(name), canon.NewText(text(n)))
				}
			}
			if out.Len() == 0 {
				return nil, ""
			}
			return out, ""
		},
		Write: func(doc, val *canon.Node) (losses []twin.Loss) {
			for name := range doc.Clone().Members() {
				if n := doc.Field(name); !skip(name, n) && val.Field(name) == nil && text(n) != "" {
					twin.Set(doc, canon.JoinPointer(name), cleared(n))
				}
			}
			for name, v := range val.Members() {
				old := doc.Field(name)
				if name == "name" || slices.Contains(but, name) || old.Kind() == canon.Object || old.Kind() == canon.Array {
					losses = append(losses, twin.Loss{Path: canon.JoinPointer(name), Value: twin.Clip(v), Verdict: twin.Dropped, Reason: fmt.Sprintf("%q is something else in this file", name)})
					continue
				}
				if old == nil || text(old) != v.Text() {
					twin.Set(doc, canon.JoinPointer(name), typed(name, v.Text(), old))
				}
			}
			return losses
		},
	}
}

// cleared is the empty value: an absent key would leave what was set before.
func cleared(old *canon.Node) *canon.Node {
	if old.Kind() == canon.String {
		return canon.NewText("")
	}
	return canon.NewNull()
}

// switches are the names of those that are not texts.
var switches = []string{
	"wrap", "macro", "system_same_as_user", "skip_examples", "use_stop_strings", "allow_jailbreak", "names_as_stop_strings",
	"always_force_name2", "trim_sentences", "single_line", "sequences_as_stop_strings",
}

// typed is a text as the kind of value that stood there, or that belongs there.
func typed(name, text string, old *canon.Node) *canon.Node {
	n, err := canon.ParseTree([]byte(text))
	switch {
	case err != nil || old.Kind() == canon.String:
	case old.Kind() == n.Kind() && n.Kind() != canon.Null, n.Kind() == canon.Bool && slices.Contains(switches, name), n.Kind() == canon.Number && strings.HasPrefix(name, "story_string_"):
		return n
	}
	return canon.NewText(text)
}

// sysprompt is one or two prompts.
var sysprompt = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		var blocks []*canon.Node
		add := func(id, key string) {
			if text := doc.Field(key).Text(); text != "" {
				b := twin.Parsed(`{"enabled":true,"role":"system"}`)
				twin.Set(b, "/id", canon.NewText(id))
				twin.Set(b, "/content", canon.NewText(text))
				blocks = append(blocks, b)
			}
		}
		add("main", "content")
		add("jailbreak", "post_history")
		if blocks == nil {
			return nil, ""
		}
		return canon.NewArray(blocks...), ""
	},
	Write: func(doc, val *canon.Node) (losses []twin.Loss) {
		text := map[string]string{}
		for i, b := range val.Items() {
			at, id, body := "/"+strconv.Itoa(i), b.Field("id").Text(), b.Field("content").Text()
			lose := func(path string, v twin.Verdict, why string) {
				losses = append(losses, twin.Loss{Path: at + path, Value: twin.Clip(b.At(path)), Verdict: v, Reason: why})
			}
			switch {
			case id != "main" && id != "jailbreak" || body == "" || b.Field("enabled").Raw() != "true":
				lose("", twin.Dropped, "text completion has one system prompt and one behind the chat; here they are the enabled blocks main and jailbreak")
				continue
			case id == "main" && i > 0:
				lose("", twin.Approximated, "the system prompt stands first")
			}
			text[id] = body
			for key := range b.Members() {
				switch {
				case key == "role" && b.Field(key).Text() != "system":
					lose("/role", twin.Approximated, "a system prompt is the system's")
				case !slices.Contains([]string{"id", "content", "enabled", "role"}, key):
					lose("/"+key, twin.Dropped, "a system prompt is its text")
				}
			}
		}
		for id, key := range map[string]string{"main": "content", "jailbreak": "post_history"} {
			if doc.Field(key).Text() != text[id] {
				twin.Set(doc, "/"+key, canon.NewText(text[id]))
			}
		}
		return losses
	},
}

// partOf knows a file of one part, and how sure that is.
func partOf(doc *canon.Node) (string, float64) {
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return doc.Field(k) == nil })
	}
	for _, foreign := range []string{"spec", "kind", "type", "schemaVersion", "entries", "prompts", "findRegex", "description", "html", "personas", "keys", "data"} {
		if doc.Field(foreign) != nil {
			return "", 0
		}
	}
	switch {
	case has("input_sequence", "output_sequence"):
		return "instruct", 0.85
	case doc.Field("story_string").Kind() == canon.String:
		return "context", 0.85
	case has("temp", "top_k", "top_p", "rep_pen"):
		return "preset", 0.8
	case has("prefix", "suffix", "separator"):
		return "reasoning", 0.8
	case doc.Field("content").Kind() == canon.String && has("name") && onlyKeys(doc, "name", "content", "post_history"):
		return "sysprompt", 0.6
	}
	n := 0
	for _, key := range []string{"temp", "top_k", "top_p", "rep_pen", "typical_p", "tfs", "rep_pen_range", "min_p", "top_a"} {
		if doc.Field(key) != nil {
			n++
		}
	}
	if n >= 3 && (has("temp") || has("rep_pen")) {
		return "preset", 0.7
	}
	return "", 0
}

func onlyKeys(doc *canon.Node, keys ...string) bool {
	for name := range doc.Members() {
		if !slices.Contains(keys, name) {
			return false
		}
	}
	return true
}

func scoreText(doc *canon.Node) float64 {
	if scoreMaster(doc) > 0 {
		return 0
	}
	_, score := partOf(doc)
	return score
}

func partNamed(name string) part {
	return parts[slices.IndexFunc(parts, func(p part) bool { return p.name == name })]
}

func readText(f content.File) (content.Reading, error) {
	name, _ := partOf(f.Doc)
	if name == "" {
		return content.Reading{}, fault.New(content.CodeUnread, "sillytavern.text", "%q is no preset of text completion", f.Name)
	}
	body, problems := twin.Read(f.Doc, append([]twin.Field{nameField}, partNamed(name).fields...))
	return one(content.KindPreset, f, body, problems), nil
}

// writeText writes the part of the twin, or the first that the preset has.
func writeText(w content.Writing) (content.Written, error) {
	name := ""
	if w.Twin != nil {
		name, _ = partOf(content.Open(w.Twin.Name, w.Twin.Raw).Doc)
	}
	if name == "" {
		name = "preset"
		if i := slices.IndexFunc(parts, func(p part) bool { return p.in(w.Body) }); i >= 0 {
			name = parts[i].name
		}
	}
	p := partNamed(name)
	s, err := content.OpenSheet(w, p.fresh, "/name")
	if err != nil {
		return content.Written{}, err
	}
	fields := append([]twin.Field{nameField}, p.fields...)
	losses := twin.Lay(s.Doc, fields, s.Body)
	if again, _ := partOf(s.Doc); again != name {
		neutral(s.Doc)
	}
	losses = append(losses, without(s.Body, fields, "one file of text completion holds one part of a preset, here: "+what[name]+"; sillytavern-master holds them all")...)
	stripped := secret.Strip(s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}

// neutral fills in the samplers that a file of samplers is known by.
func neutral(doc *canon.Node) {
	for _, s := range [][2]string{{"/temp", "1"}, {"/top_p", "1"}, {"/top_k", "0"}, {"/rep_pen", "1"}} {
		if doc.At(s[0]) == nil {
			twin.Set(doc, s[0], twin.Parsed(s[1]))
		}
	}
}

var what = map[string]string{"instruct": "the instruct template", "context": "the context template", "sysprompt": "the system prompt", "preset": "the samplers", "reasoning": "the reasoning template"}

// in reports that a body has something of the part.
func (p part) in(body *canon.Node) bool {
	return slices.ContainsFunc(p.owns, func(path string) bool { return body.At(path) != nil })
}

// without is what of a preset no field holds: a loss for each value.
func without(body *canon.Node, fields []twin.Field, why string) (losses []content.Loss) {
	covered := func(path string) bool {
		return slices.ContainsFunc(fields, func(f twin.Field) bool { return f.Path == path })
	}
	lose := func(path string, v *canon.Node) {
		if !covered(path) {
			losses = append(losses, content.Loss{Path: path, Value: twin.Clip(v), Verdict: twin.Dropped, Reason: why})
		}
	}
	for name, v := range body.Members() {
		path := canon.JoinPointer(name)
		if !slices.Contains([]string{"samplers", "behavior", "prompts", "templates"}, name) {
			lose(path, v)
			continue
		}
		for key, inner := range v.Members() {
			lose(path+canon.JoinPointer(key), inner)
		}
	}
	return losses
}

func sampler(ptr string) twin.Field { return twin.Plain(ptr, twin.Sampler) }
