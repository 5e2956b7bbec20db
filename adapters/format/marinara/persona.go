package marinara

import (
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	noSuchPersona = "a persona of Marinara has no such field"
	freshPersona  = `{"type":"marinara_persona","version":1,"data":{"name":"","comment":"","description":"","personality":"","scenario":"","backstory":"","appearance":"",` +
		`"nameColor":"","dialogueColor":"","boxColor":"","tags":"[]","personaStats":"{\"enabled\":false,\"bars\":[]}","altDescriptions":"[]"}}`
)

var personaFields = []twin.Field{
	{Path: "/name", Ptr: "/data/name", Codec: twin.Text, Required: true},
	{Path: "/brief", Ptr: "/data/comment", Codec: twin.Text, Required: true},
	{Path: "/content", Ptr: "/data/description", Codec: twin.Text, Required: true},
	{Path: "/sections/personality", Ptr: "/data/personality", Codec: twin.Text, Required: true},
	{Path: "/sections/scenario", Ptr: "/data/scenario", Codec: twin.Text, Required: true},
	{Path: "/sections/history", Ptr: "/data/backstory", Codec: twin.Text, Required: true},
	{Path: "/sections/appearance", Ptr: "/data/appearance", Codec: twin.Text, Required: true},
	{Path: "/palette", Over: colours("/data")},
	{Path: "/tags", Ptr: "/data/tags", Codec: inText(twin.TextList), Required: true},
	twin.Rest(noSuchPersona),
}

func readPersona(f content.File) (content.Reading, error) {
	body, problems := twin.Read(f.Doc, personaFields)
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindPersona, Body: body}}}, nil
}

func writePersona(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshPersona, "/data/name")
	if err != nil {
		return content.Written{}, err
	}
	return s.Written(twin.Lay(s.Doc, personaFields, s.Body)), nil
}
