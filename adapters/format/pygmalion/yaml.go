package pygmalion

import (
	"bytes"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// maxYAML is how long a character of oobabooga can be, in bytes: a context of a million
// characters is none.
const maxYAML = 4 << 20

var yamlFields = []twin.Field{
	{Path: "/identity/name", Ptr: "/name", Codec: twin.Text},
	{Path: "/persona/description", Ptr: "/context", Codec: twin.Text},
	{Path: "/greetings/first", Ptr: "/greeting", Codec: twin.Text},
	{Path: "/examples", Ptr: "/example_dialogue", Codec: twin.Text},
}

// docOfYAML is the file's top-level texts. Anchors are not followed, so that nothing
// grows.
func docOfYAML(f content.File) *canon.Node {
	if f.Doc != nil || len(f.Docs) > 0 || len(f.Raw) > maxYAML || !utf8.Valid(f.Raw) || bytes.IndexByte(f.Raw, 0) >= 0 {
		return nil
	}
	if first := bytes.TrimLeft(bytes.TrimPrefix(f.Raw, []byte("\ufeff")), " \t\r\n"); len(first) == 0 || bytes.IndexByte([]byte("{["), first[0]) >= 0 {
		return nil
	}
	var root yaml.Node
	if yaml.Unmarshal(f.Raw, &root) != nil || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	doc := canon.NewObject()
	pairs := root.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Kind == yaml.ScalarNode && pairs[i+1].Kind == yaml.ScalarNode && pairs[i+1].Tag != "!!null" {
			if err := doc.Set(canon.JoinPointer(pairs[i].Value), canon.NewText(pairs[i+1].Value)); err != nil {
				return nil
			}
		}
	}
	if doc.Field("context") == nil || doc.Field("name") == nil && doc.Field("greeting") == nil {
		return nil
	}
	return doc
}
