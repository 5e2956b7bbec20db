package agnai

import (
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// scoreCharacter knows a character by its kind and its persona. What has a schema's
// version and a body is a piece of another program.
func scoreCharacter(doc *canon.Node) float64 {
	for _, foreign := range []string{"schemaVersion", "body", "spec", "entries"} {
		if doc.Field(foreign) != nil {
			return 0
		}
	}
	kind, persona := doc.Field("kind").Text(), doc.Field("persona")
	switch {
	case kind == "character" && (persona.Kind() == canon.Object || doc.Field("greeting") != nil || doc.Field("sampleChat") != nil):
		return 1
	case kind == "" && persona.Field("attributes").Kind() == canon.Object && doc.Field("greeting") != nil:
		return 0.9
	}
	return 0
}

const (
	noSuchField    = "a character of Agnai has no such field"
	freshCharacter = `{"kind":"character","name":"","description":"","persona":{"kind":"text","attributes":{"text":[""]}},"appearance":"","greeting":"","scenario":"","sampleChat":"",` +
		`"alternateGreetings":[],"systemPrompt":"","postHistoryInstructions":"","creator":"","characterVersion":"","tags":[],"extensions":{}}`
)

var characterFields = []twin.Field{
	{Path: "/identity/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/persona", Over: &prose}, // the first of those below /persona
	{Path: "/persona/scenario", Ptr: "/scenario", Codec: twin.Text, Required: true},
	{Path: "/persona/appearance", Ptr: "/appearance", Codec: twin.Text, Required: true},
	{Path: "/prompts/system", Ptr: "/systemPrompt", Codec: twin.Text, Required: true},
	{Path: "/prompts/postHistory", Ptr: "/postHistoryInstructions", Codec: twin.Text, Required: true},
	{Path: "/prompts/depthInjections", Ptr: "/insert", Codec: insert},
	{Path: "/prompts/prefill", Ptr: "/prefill", Codec: twin.Text},
	{Path: "/greetings/first", Ptr: "/greeting", Codec: twin.Text, Required: true},
	{Path: "/greetings/alternates", Ptr: "/alternateGreetings", Required: true, Codec: twin.Wrapped("text", "a greeting of Agnai has no title")},
	{Path: "/examples", Ptr: "/sampleChat", Codec: twin.Text, Required: true},
	{Path: "/media/portrait", Ptr: "/avatar", Codec: portrait},
	{Path: "/media/visual", Ptr: "/visualType", Codec: twin.Text},
	{Path: "/attribution/creator", Ptr: "/creator", Codec: twin.Text, Required: true},
	{Path: "/attribution/version", Ptr: "/characterVersion", Codec: twin.Text, Required: true},
	{Path: "/discovery/tags", Ptr: "/tags", Codec: twin.TextList, Required: true},
	{Path: "/discovery/creatorNotes", Ptr: "/description", Codec: twin.Text, Required: true},
	{Path: linkedBooks, Over: &twin.Over{ // embedded by embed
		Read:  func(*canon.Node) (*canon.Node, string) { return nil, "" },
		Write: func(_, _ *canon.Node) []twin.Loss { return nil },
	}},
	twin.Rest(noSuchField),
}

// portrait is a picture in the file, or an address.
var portrait = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if !isRef(n.Text()) {
			return nil, "" // a path on somebody's server
		}
		return twin.ReadText(n)
	},
	Write: func(val, old *canon.Node) *canon.Node {
		if isRef(val.Text()) {
			return val
		}
		return old
	},
	Lossy: func(val *canon.Node) string {
		if isRef(val.Text()) {
			return ""
		}
		return "the picture is another file's, and a character of Agnai names one by its address or holds it as a data: URI"
	},
	Empty: `""`,
}

func isRef(s string) bool {
	return strings.HasPrefix(s, "data:") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// insert is one text at a depth.
var insert = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(n.Field("prompt"))
		if text == nil {
			return nil, problem
		}
		depth, _ := twin.Int.Read(n.Field("depth"))
		if depth == nil || strings.HasPrefix(depth.Raw(), "-") {
			problem, depth = "depth is no whole number from 0; 3 is used", canon.NewInt(3)
		}
		inj := twin.Parsed(`{"role":"system"}`)
		twin.Set(inj, "/content", text)
		twin.Set(inj, "/depth", depth)
		return canon.NewArray(inj), problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		put, _ := layInsert(val, old)
		return put
	},
	Lay: layInsert, Empty: `{"depth":3,"prompt":""}`,
}

// layInsert writes the first injection that is on.
func layInsert(val, old *canon.Node) (put *canon.Node, losses []twin.Loss) {
	lose := func(i int, path string, why string) {
		if n := val.At(canon.JoinPointer(strconv.Itoa(i)) + path); n != nil {
			losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i) + path, Value: twin.Clip(n), Verdict: twin.Dropped, Reason: why})
		}
	}
	for i, it := range val.Items() {
		switch {
		case it.Field("off").Raw() == "true":
			lose(i, "", "an insert of Agnai is put in as soon as it is there, and this one is off")
			continue
		case put != nil:
			lose(i, "", "a character of Agnai has one insert")
			continue
		case it.Field("content").Text() == "":
			lose(i, "", "an insert without a text is none")
			continue
		}
		if put = old.Clone(); put.Kind() != canon.Object {
			put = canon.NewObject()
		}
		twin.Set(put, "/depth", twin.Int.Write(it.Field("depth"), put.Field("depth")))
		twin.Set(put, "/prompt", it.Field("content"))
		lose(i, "/id", "an insert of Agnai has no id")
		if it.Field("role").Text() != "system" {
			losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i) + "/role", Value: it.Field("role").Text(), Verdict: twin.Approximated, Reason: "an insert of Agnai has no role: it is the system's"})
		}
	}
	return put, losses
}

func readCharacter(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, characterFields)
	r := content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindCharacter, Body: body}}}
	findBook(f, &r)
	return r, nil
}

func writeCharacter(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshCharacter, "/name")
	if err != nil {
		return content.Written{}, err
	}
	losses := twin.Lay(s.Doc, characterFields, s.Body)
	return s.Written(append(losses, embed(s, w.Linked)...)), nil
}
