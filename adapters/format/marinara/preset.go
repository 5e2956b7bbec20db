package marinara

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/secret"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

const (
	noSuchSetting = "a preset of Marinara has no such field"
	noSuchBlock   = "a section of Marinara has no such field"
	freshPreset   = `{"type":"marinara_preset","version":1,"data":{"preset":{"name":"","description":"","author":"","wrapFormat":"none","isDefault":"false",` +
		`"sectionOrder":"[]","groupOrder":"[]","variableGroups":"[]","variableValues":"{}","parameters":"{}","defaultChoices":"{}"},"sections":[],"groups":[],"choiceBlocks":[]}}`
	freshSection = `{"id":"","identifier":"","name":"","content":"","role":"system","enabled":"true","isMarker":"false","groupId":null,"markerConfig":null,` +
		`"injectionPosition":"ordered","injectionDepth":0,"injectionOrder":100,"forbidOverrides":"false","wrapInXml":"false","xmlTagName":""}`
	freshGroup  = `{"id":"","name":"","parentGroupId":null,"order":100,"enabled":"true"}`
	freshChoice = `{"id":"","variableName":"","question":"","options":[],"multiSelect":"false","separator":", ","randomPick":"false","sortOrder":0}`
)

func param(path, name string, c twin.Codec) twin.Field {
	return twin.Field{Path: path, Ptr: "/data/preset/parameters/" + name, Codec: c}
}

// presetFields are seen from a document whose texts of JSON are opened.
var presetFields = []twin.Field{
	{Path: "/name", Ptr: "/data/preset/name", Codec: twin.Text, Required: true},
	{Path: "/description", Ptr: "/data/preset/description", Codec: twin.Text, Required: true},
	{Path: "/author", Ptr: "/data/preset/author", Codec: twin.Text, Required: true},
	{Path: "/groups", Over: ordered("groups", "groupOrder", twin.Objects(groupFields, "/id", "group-", freshGroup))},
	{Path: "/blocks", Over: ordered("sections", "sectionOrder", twin.Objects(sectionFields, "/id", "section-", freshSection))},
	{Path: "/choices", Over: &choices},
	param("/samplers/temperature", "temperature", twin.Sampler), param("/samplers/topP", "topP", twin.Sampler), param("/samplers/topK", "topK", twin.Sampler),
	param("/samplers/minP", "minP", twin.Sampler), param("/samplers/maxTokens", "maxTokens", twin.Sampler), param("/samplers/maxContext", "maxContext", twin.Sampler),
	param("/samplers/frequencyPenalty", "frequencyPenalty", twin.Sampler), param("/samplers/presencePenalty", "presencePenalty", twin.Sampler),
	{Path: "/behavior/reasoning", Over: &effort},
	param("/behavior/verbosity", "verbosity", twin.Text),
	param("/behavior/showThoughts", "showThoughts", twin.Bool), param("/behavior/squashSystem", "squashSystemMessages", twin.Bool),
	param("/behavior/maxContextFree", "useMaxContext", twin.Bool),
	{Path: "/behavior/wrapFormat", Ptr: "/data/preset/wrapFormat", Required: true, Codec: twin.WithEmpty(twin.Text, `"none"`)},
	param("/prompts/prefill", "assistantPrefill", twin.Text), param("/stops", "stopSequences", texts("an empty text stops nothing")),
	twin.Rest(noSuchSetting),
}

// effort is a word as it is written; Marinara's own are few.
var effort = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) { return twin.ReadText(doc.At(effortAt)) },
	Write: func(doc, val *canon.Node) []twin.Loss {
		if val == nil {
			twin.Drop(doc, effortAt)
			return nil
		}
		if near := nearestEffort[val.Text()]; near != "" {
			twin.Set(doc, effortAt, canon.NewText(near))
			return []twin.Loss{{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "Marinara's words are low, medium, high and maximum; the nearest is " + near}}
		}
		twin.Set(doc, effortAt, val)
		if slices.Contains([]string{"low", "medium", "high", "maximum"}, val.Text()) {
			return nil
		}
		return []twin.Loss{{
			Value: twin.Clip(val), Verdict: twin.Embedded,
			Reason: "Marinara's words are low, medium, high and maximum; this one is written as it is, and it may turn reasoning off",
		}}
	},
}

// nearestEffort are words of other platforms that mean more, or less, than Marinara's do.
var nearestEffort = map[string]string{"min": "low", "minimal": "low", "max": "maximum", "xhigh": "maximum"}

const effortAt = "/data/preset/parameters/reasoningEffort"

var groupFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/parent", Ptr: "/parentGroupId", Codec: orNull(twin.Text), Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.WithEmpty(twin.Bool, `"true"`), Required: true},
	{Path: "/order", Ptr: "/order", Codec: twin.WithEmpty(twin.Int, "100"), Required: true},
}

var sectionFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/role", Ptr: "/role", Codec: roleWord, Required: true},
	{Path: "/content", Ptr: "/content", Codec: twin.Text, Required: true},
	{Path: "/enabled", Ptr: "/enabled", Codec: twin.AbsentIs(twin.Bool, canon.NewBool(true))},
	{Path: "/marker", Over: &marker},
	{Path: "/position", Ptr: "/injectionPosition", Required: true, Codec: twin.Alias(twin.Words([2]string{`"ordered"`, ""}, [2]string{`"depth"`, "depth"}), "relative", `"ordered"`)},
	{Path: "/depth", Ptr: "/injectionDepth", Codec: twin.Int, Required: true},
	{Path: "/order", Ptr: "/injectionOrder", Codec: twin.WithEmpty(twin.Int, "100"), Required: true},
	{Path: "/forbidOverrides", Ptr: "/forbidOverrides", Codec: twin.WithEmpty(twin.Flag, `"false"`), Required: true},
	{Path: "/group", Ptr: "/groupId", Codec: orNull(twin.Text), Required: true},
	{Path: "/wrap", Over: &wrap},
	twin.Rest(noSuchBlock),
}

// wrap is a tag and a switch that makes it count.
var wrap = twin.Over{
	Read: func(doc *canon.Node) (*canon.Node, string) {
		if v, problem := twin.Flag.Read(doc.Field("wrapInXml")); v == nil {
			return nil, problem
		}
		return twin.ReadText(doc.Field("xmlTagName"))
	},
	Write: func(doc, val *canon.Node) []twin.Loss {
		twin.Set(doc, "/wrapInXml", twin.Bool.Write(canon.NewBool(val != nil), text(doc.Field("wrapInXml"))))
		if val != nil {
			twin.Set(doc, "/xmlTagName", val)
		}
		return nil
	},
}

// text is a switch's old value; a row that has none has texts.
func text(old *canon.Node) *canon.Node {
	if old == nil {
		return canon.NewText("false")
	}
	return old
}

// markerTypes are Marinara's words. The character's parts are one marker, limited.
var markerTypes = [][2]string{
	{"character", "character"},
	{"persona", "persona"},
	{"chat_history", "chat_history"},
	{"chat_summary", "summary"},
	{"world_info_before", "lore_before"},
	{"lorebook", "lore_before"},
	{"world_info_after", "lore_after"},
	{"dialogue_examples", "examples"},
	{"agent_data", "agent"},
}

var characterParts = []string{"description", "personality", "scenario"}

// marker is a switch and what the section stands for.
var marker = twin.Over{Read: readMarker, Write: writeMarker}

func readMarker(doc *canon.Node) (*canon.Node, string) {
	v, problem := twin.Flag.Read(doc.Field("isMarker"))
	if v == nil {
		return nil, problem
	}
	config := doc.Field("markerConfig")
	parts := config.Field("characterFields")
	if part := parts.At("/0").Text(); config.Field("type").Text() == "character" && parts.Len() == 1 && slices.Contains(characterParts, part) {
		return canon.NewText(part), ""
	}
	for _, m := range markerTypes {
		if m[0] == config.Field("type").Text() {
			return canon.NewText(m[1]), ""
		}
	}
	return canon.NewText("other"), ""
}

func writeMarker(doc, val *canon.Node) []twin.Loss {
	twin.Set(doc, "/isMarker", twin.Bool.Write(canon.NewBool(val != nil), text(doc.Field("isMarker"))))
	if val == nil {
		twin.Set(doc, "/markerConfig", canon.NewNull())
		return nil
	}
	config := doc.Field("markerConfig").Clone()
	if config.Kind() != canon.Object {
		config = canon.NewObject()
	}
	var losses []twin.Loss
	lose := func(verdict twin.Verdict, why string) {
		losses = []twin.Loss{{Value: val.Text(), Verdict: verdict, Reason: why}}
	}
	twin.Drop(config, "/characterFields")
	kind := val.Text()
	k := slices.IndexFunc(markerTypes, func(m [2]string) bool { return m[1] == kind })
	switch {
	case slices.Contains(characterParts, kind):
		twin.Set(config, "/characterFields", canon.NewArray(canon.NewText(kind)))
		lose(twin.Renamed, "Marinara has one marker for a character; it is limited to this part")
		kind = "character"
	case k >= 0:
		kind = markerTypes[k][0]
	case kind == "other":
		lose(twin.Embedded, "Marinara has no such marker; it is kept, and stands for nothing there")
	default:
		lose(twin.Approximated, "Marinara has no such marker")
	}
	twin.Set(config, "/type", canon.NewText(kind))
	twin.Set(doc, "/markerConfig", config)
	return losses
}

// ordered are rows and the list of their ids that orders them.
func ordered(rows, order string, codec twin.Codec) *twin.Over {
	rowsAt, orderAt := "/data/"+rows, "/data/preset/"+order
	arrange := func(doc, list *canon.Node) *canon.Node {
		places := map[string]int{}
		for i, id := range doc.At(orderAt).Items() {
			if _, has := places[id.Text()]; !has {
				places[id.Text()] = i
			}
		}
		items := itemsOf(list)
		slices.SortStableFunc(items, func(a, b *canon.Node) int {
			x, okx := places[a.Field("id").Text()]
			y, oky := places[b.Field("id").Text()]
			switch {
			case okx && oky:
				return x - y
			case okx:
				return -1
			case oky:
				return 1
			}
			return 0
		})
		return canon.NewArray(items...)
	}
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			list, problem := codec.Read(doc.At(rowsAt))
			if list == nil {
				return nil, problem
			}
			return arrange(doc, list), problem
		},
		Write: func(doc, val *canon.Node) (losses []twin.Loss) {
			old, _ := codec.Read(doc.At(rowsAt))
			there := map[string]int{}
			for i, it := range old.Items() {
				there[it.Field("id").Text()] = i
			}
			index := make([]int, val.Len())
			for i := range index {
				index[i] = i
			}
			slices.SortStableFunc(index, func(a, b int) int { // rows stay where they stand; new ones are behind
				rank := func(i int) int {
					if at, ok := there[val.At("/"+strconv.Itoa(i)+"/id").Text()]; ok {
						return at
					}
					return len(there)
				}
				return rank(a) - rank(b)
			})
			var list []*canon.Node
			for _, i := range index {
				list = append(list, val.At("/"+strconv.Itoa(i)))
			}
			put, more := codec.Lay(canon.NewArray(list...), doc.At(rowsAt))
			for _, l := range more {
				toks, err := canon.SplitPointer(l.Path)
				if k, e := strconv.Atoi(toks[0]); err == nil && e == nil {
					toks[0] = strconv.Itoa(index[k])
				}
				l.Path = canon.JoinPointer(toks...)
				losses = append(losses, l)
			}
			twin.Set(doc, rowsAt, put)
			if now, _ := codec.Read(put); now != nil && !canon.Equal(ids(arrange(doc, now)), ids(val)) {
				twin.Set(doc, orderAt, ids(val))
			}
			return losses
		},
	}
}

func ids(list *canon.Node) *canon.Node {
	out := []*canon.Node{}
	for _, it := range list.Items() {
		out = append(out, it.Field("id"))
	}
	return canon.NewArray(out...)
}

func readPreset(f content.File) (content.Reading, error) {
	doc := opened(f.Doc)
	body, problems := twin.Read(doc, presetFields)
	problems = append(problems, mendGroups(body)...)
	return content.Reading{Warnings: problems, Found: []content.Found{{Kind: content.KindPreset, Body: body}}}, nil
}

// mendGroups takes blocks out of groups that are not there.
func mendGroups(body *canon.Node) (problems []string) {
	has := map[string]bool{}
	for _, g := range body.Field("groups").Items() {
		has[g.Field("id").Text()] = true
	}
	for _, b := range body.Field("blocks").Items() {
		if g := b.Field("group"); g != nil && !has[g.Text()] {
			twin.Drop(b, "/group")
			problems = append(problems, fmt.Sprintf("the section %q is in the group %q, which is not there", b.Field("id").Text(), g.Text()))
		}
	}
	return problems
}

func writePreset(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshPreset, "/data/preset/name")
	if err != nil {
		return content.Written{}, err
	}
	doc := opened(s.Doc)
	was, _ := twin.Read(doc, presetFields)
	in := map[string]*canon.Node{}
	for _, b := range was.Field("blocks").Items() {
		in[b.Field("id").Text()] = b.Field("group")
	}
	mendGroups(was)
	for _, b := range was.Field("blocks").Items() {
		if b.Field("group") != nil {
			delete(in, b.Field("id").Text())
		}
	}
	for _, b := range s.Body.Field("blocks").Items() { // groups that mendGroups took away
		if g := in[b.Field("id").Text()]; g != nil && b.Field("group") == nil {
			twin.Set(b, "/group", g)
		}
	}
	losses := twin.Lay(doc, presetFields, s.Body)
	for _, sec := range doc.At("/data/sections").Items() {
		if sec.Field("identifier").Text() == "" && sec.Field("identifier") != nil && sec.Field("id") != nil {
			twin.Set(sec, "/identifier", sec.Field("id"))
		}
	}
	stripped := secret.Strip(doc)
	s.Doc = closed(doc, s.Doc)
	out := s.Written(losses)
	out.Stripped = stripped
	return out, nil
}
