package sillytavern

import (
	"slices"
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lore"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

func scoreReplies(doc *canon.Node) float64 {
	switch canon.Array {
	case doc.Field("qrList").Kind(), doc.Field("quickReplySlots").Kind():
		return 0.95
	}
	return 0
}

// The events of version 2, and of the few that version 1 has.
var (
	replyEvents = [][2]string{
		{"/executeOnStartup", "startup"},
		{"/executeOnUser", "user"},
		{"/executeOnAi", "ai"},
		{"/executeOnChatChange", "chat_change"},
		{"/executeOnGroupMemberDraft", "group_draft"},
		{"/executeOnNewChat", "new_chat"},
		{"/executeBeforeGeneration", "before_generation"},
	}
	slotEvents = [][2]string{
		{"/autoExecute_appStartup", "startup"}, {"/autoExecute_userMessage", "user"}, {"/autoExecute_botMessage", "ai"}, {"/autoExecute_chatLoad", "chat_change"},
	}
)

const (
	freshReplies = `{"version":2,"name":"","disableSend":false,"placeBeforeInput":false,"injectInput":false,"color":"","onlyBorderColor":false,"qrList":[],"idIndex":0}`
	freshReply   = `{"id":0,"icon":"","showLabel":false,"label":"","title":"","message":"","contextList":[],"preventAutoExecute":false,"isHidden":false,` +
		`"executeOnStartup":false,"executeOnUser":false,"executeOnAi":false,"executeOnChatChange":false,"executeOnGroupMemberDraft":false,` +
		`"executeOnNewChat":false,"executeBeforeGeneration":false,"automationId":""}`
	freshSlot = `{"mes":"","label":"","enabled":true,"preventAutoExecute":false}`
)

// guarded is a switch that is on where it is absent.
var guarded = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := twin.Bool.Read(n)
		if v.Raw() == "false" {
			return nil, problem
		}
		return canon.NewBool(true), problem
	},
	Write: twin.Flag.Write, Empty: "false",
}

var replyFields = []twin.Field{
	{Path: "/id", Ptr: "/id", Codec: lore.NumberID},
	{Path: "/label", Ptr: "/label", Codec: twin.Text, Required: true},
	{Path: "/showLabel", Ptr: "/showLabel", Codec: twin.Flag, Required: true},
	{Path: "/icon", Ptr: "/icon", Codec: twin.Text, Required: true},
	{Path: "/title", Ptr: "/title", Codec: twin.Text, Required: true},
	{Path: "/message", Ptr: "/message", Codec: twin.Text, Required: true},
	{Path: "/menus", Ptr: "/contextList", Required: true, Codec: menus("/set", "/isChained", `{"set":"","isChained":false}`)},
	{Path: "/hidden", Ptr: "/isHidden", Codec: twin.Flag, Required: true},
	twin.Lost("/disabled", twin.Bool, "version 2 of quick replies cannot switch a reply off"),
	twin.Switches("/runsOn", "quick replies do not run on it", replyEvents...),
	{Path: "/noAutomation", Ptr: "/preventAutoExecute", Codec: guarded, Required: true},
	{Path: "/automationId", Ptr: "/automationId", Codec: twin.Text, Required: true},
}

const onlyTwo = "version 1 of quick replies does not have it"

var slotFields = []twin.Field{
	twin.Lost("/id", twin.Text, ""),
	{Path: "/label", Ptr: "/label", Codec: twin.Text, Required: true},
	twin.Lost("/showLabel", twin.Bool, onlyTwo),
	twin.Lost("/icon", twin.Text, onlyTwo),
	{Path: "/title", Ptr: "/title", Codec: twin.Text},
	{Path: "/message", Ptr: "/mes", Codec: twin.Text, Required: true},
	{Path: "/menus", Ptr: "/contextMenu", Codec: menus("/preset", "/chain", `{"preset":"","chain":false}`)},
	{Path: "/hidden", Ptr: "/hidden", Codec: twin.Flag},
	{Path: "/disabled", Ptr: "/enabled", Codec: switchedOff},
	twin.Switches("/runsOn", onlyTwo, slotEvents...),
	{Path: "/noAutomation", Ptr: "/preventAutoExecute", Codec: guarded, Required: true},
	{Path: "/automationId", Ptr: "/automationId", Codec: twin.Text},
}

// switchedOff is "enabled", for what is canonically absent where it is on.
var switchedOff = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		v, problem := twin.Not.Read(n)
		if v.Raw() == "false" {
			v = nil
		}
		return v, problem
	},
	Write: twin.Not.Write, Empty: "true",
}

func menus(name, chained, fresh string) twin.Codec {
	return twin.Objects([]twin.Field{
		{Path: "/set", Ptr: name, Codec: twin.AbsentIs(twin.Text, canon.NewText("")), Required: true},
		{Path: "/chained", Ptr: chained, Codec: twin.Flag, Required: true},
	}, "", "", fresh)
}

var repliesFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	{Path: "/disableSend", Ptr: "/disableSend", Codec: twin.Flag, Required: true},
	{Path: "/placeBeforeInput", Ptr: "/placeBeforeInput", Codec: twin.Flag, Required: true},
	{Path: "/injectInput", Ptr: "/injectInput", Codec: twin.Flag, Required: true},
	{Path: "/color", Ptr: "/color", Codec: twin.Text, Required: true},
	{Path: "/onlyBorderColor", Ptr: "/onlyBorderColor", Codec: twin.Flag, Required: true},
	{Path: "/replies", Ptr: "/qrList", Codec: twin.Objects(replyFields, "/id", "reply-", freshReply), Required: true},
}

var slotsFields = []twin.Field{
	{Path: "/name", Ptr: "/name", Codec: twin.Text, Required: true},
	twin.Lost("/disableSend", twin.Bool, onlyTwo),
	twin.Lost("/placeBeforeInput", twin.Bool, onlyTwo),
	{Path: "/injectInput", Ptr: "/AutoInputInject", Codec: twin.Flag, Required: true},
	twin.Lost("/color", twin.Text, onlyTwo),
	twin.Lost("/onlyBorderColor", twin.Bool, onlyTwo),
	{Path: "/replies", Ptr: "/quickReplySlots", Codec: twin.Objects(slotFields, "/id", "", freshSlot), Required: true},
}

// isSlots knows version 1.
func isSlots(doc *canon.Node) bool { return doc.Field("quickReplySlots").Kind() == canon.Array }

func readReplies(f content.File) (content.Reading, error) {
	fields := repliesFields
	if isSlots(f.Doc) {
		fields = slotsFields
	}
	body, problems := twin.Read(f.Doc, fields)
	return one(content.KindQuickReply, f, body, problems), nil
}

// writeReplies writes version 2; over a file of version 1 it writes version 1, while
// that holds all that the set has.
func writeReplies(w content.Writing) (content.Written, error) {
	s, err := content.OpenSheet(w, freshReplies, "/name")
	if err != nil {
		return content.Written{}, err
	}
	if isSlots(s.Doc) {
		old := s.Doc.Clone()
		losses := twin.Lay(s.Doc, slotsFields, s.Body)
		count(s.Doc, old)
		if len(losses) == 0 {
			return s.Written(nil), nil
		}
		s.Doc, s.Body = twin.Parsed(freshReplies), w.Body.Clone()
		return s.Written(append(layReplies(s), strangers(old)...)), nil
	}
	return s.Written(layReplies(s)), nil
}

// layReplies lays the set over version 2. Replies that are new get numbers that were
// never used, and idIndex is the highest of all.
func layReplies(s content.Sheet) []content.Loss {
	doc := s.Doc
	highest := 0
	see := func(raw string) {
		if n, ok := lore.Number(raw); ok {
			highest = max(highest, n)
		}
	}
	top := func() {
		see(doc.Field("idIndex").Raw())
		for _, r := range doc.Field("qrList").Items() {
			see(r.Field("id").Raw())
		}
	}
	top()
	fields := slices.Clone(repliesFields)
	last := &fields[len(fields)-1]
	last.Codec = lore.Numbered(last.Codec, func(*canon.Node) int { return highest + 1 }, numbered)
	before := doc.Field("qrList").Clone()
	losses := twin.Lay(doc, fields, s.Body)
	if top(); !canon.Equal(before, doc.Field("qrList")) && strconv.Itoa(highest) != doc.Field("idIndex").Raw() {
		twin.Set(doc, "/idIndex", canon.NewInt(int64(highest)))
	}
	return losses
}

// count keeps the number of slots of version 1 what it says.
func count(doc, old *canon.Node) {
	if n := doc.Field("quickReplySlots").Len(); n != old.Field("quickReplySlots").Len() && doc.Field("numberOfSlots") != nil {
		twin.Set(doc, "/numberOfSlots", canon.NewInt(int64(n)))
	}
}

// strangers are the keys of a file of version 1 that have no place in version 2.
func strangers(old *canon.Node) (losses []content.Loss) {
	lose := func(ptr string, v *canon.Node) {
		losses = append(losses, content.Loss{
			Path: "original:" + ptr, Value: twin.Clip(v), Verdict: twin.Dropped,
			Reason: "version 1 of quick replies cannot hold the set as it is now, and version 2 does not have this",
		})
	}
	for name, v := range old.Members() {
		if !slices.Contains([]string{"name", "quickReplySlots", "AutoInputInject"}, name) {
			lose(canon.JoinPointer(name), v)
		}
	}
	known := []string{"enabled", "autoExecute_appStartup", "autoExecute_userMessage", "autoExecute_botMessage", "autoExecute_chatLoad"}
	for _, f := range slotFields {
		if f.Ptr != "" {
			known = append(known, f.Ptr[1:])
		}
	}
	for i, slot := range old.Field("quickReplySlots").Items() {
		for name, v := range slot.Members() {
			if !slices.Contains(known, name) {
				lose(canon.JoinPointer("quickReplySlots", strconv.Itoa(i), name), v)
			}
		}
	}
	return losses
}
