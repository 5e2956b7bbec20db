package card

import (
	"slices"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// The extensions of programs that have homes for fields.
const (
	roleCall = "/extensions/rolecall"
	risu     = "/extensions/risuai"
	chub     = "/extensions/chub"
)

// homes are by the path of the field.
var homes = map[string][]home{
	"/identity/tagline":                {{bag: roleCall, ptr: "/tagline", codec: twin.Text}},
	"/identity/fullName":               {{bag: roleCall, ptr: "/details/full_name", codec: twin.Text}},
	"/identity/title":                  {{bag: roleCall, ptr: "/details/title", codec: twin.Text}},
	"/identity/age":                    {{bag: roleCall, ptr: "/details/age", codec: twin.Text}},
	"/identity/pronouns":               {{bag: roleCall, ptr: "/details/pronouns", codec: twin.Text}},
	"/prompts/depthInjections":         {{bag: roleCall, ptr: "/details/prompt_depth_injections", codec: injections, first: true, parts: true}},
	"/prompts/additionalText":          {{bag: risu, ptr: "/additionalText", codec: twin.Text}},
	"/greetings/alternates":            {{bag: roleCall, root: true, codec: titled, first: true}},
	"/media/assets":                    {{bag: risu, codec: risuAssets, only: V2, parts: true}},
	"/discovery/rating":                {{bag: roleCall, ptr: "/content_rating", codec: twin.Text}},
	"/discovery/genre":                 {{bag: roleCall, ptr: "/genre", codec: twin.Text}},
	"/discovery/fandom":                {{bag: roleCall, ptr: "/fandom", codec: twin.Text}},
	"/presentation/palette":            {{bag: roleCall, ptr: "/details/colors", codec: colours, parts: true}},
	"/presentation/background/ref":     {{bag: roleCall, ptr: "/details/default_background", codec: backgroundRef, parts: true}, {bag: chub, ptr: "/background_image", codec: twin.Text}},
	"/presentation/background/opacity": {{bag: roleCall, ptr: "/details/default_background/overlayOpacity", codec: twin.Number}},
	"/presentation/background/rate":    {{bag: roleCall, ptr: "/details/default_background/videoPlaybackRate", codec: twin.Number}},
	"/presentation/fieldOrder":         {{bag: roleCall, ptr: "/details/fieldOrder", codec: twin.TextList}},
	"/presentation/spoilers":           {{bag: roleCall, ptr: "/details/publicDefinitionDisplay/spoilers", codec: spoilers, parts: true}},
	"/presentation/css":                {{bag: chub, ptr: "/custom_css", codec: twin.Text}},
	"/presentation/html":               {{bag: risu, ptr: "/backgroundHTML", codec: twin.Text}},
	"/presentation/mediaLinks":         {{bag: roleCall, ptr: "/details/media_links", codec: twin.TextList}},
	"/settings/bias":                   {{bag: risu, ptr: "/bias", codec: biases, parts: true}},
	"/settings/variables":              {{bag: risu, ptr: "/defaultVariables", codec: variables, parts: true}},
	"/settings/lowLevel":               {{bag: risu, ptr: "/lowLevelAccess", codec: twin.Flag}},
	"/settings/utility":                {{bag: risu, ptr: "/utilityBot", codec: twin.Flag}},
	"/behavior/triggers":               {{bag: risu, ptr: "/triggerscript", codec: triggers, parts: true}},
}

// colours are swatches with a name that only RoleCall has.
var colours = twin.Objects([]twin.Field{
	{Path: "/label", Ptr: "/label", Codec: twin.Text},
	{Path: "/color", Ptr: "/hex", Codec: twin.AbsentIs(twin.Text, canon.NewText("")), Required: true},
}, "", "", `{"label":"","name":"","hex":""}`)

// injections are texts at a depth, each with a switch.
var injections = twin.Objects([]twin.Field{
	{Path: "/id", Ptr: "/id", Codec: twin.Text},
	{Path: "/content", Ptr: "/content", Codec: twin.AbsentIs(twin.Text, canon.NewText("")), Required: true},
	{Path: "/depth", Ptr: "/depth", Codec: depth, Required: true},
	{Path: "/role", Ptr: "/role", Codec: role, Required: true},
	{Path: "/off", Ptr: "/enabled", Codec: twin.Codec{Read: readOff, Write: writeOff, Empty: `true`}, Required: true},
}, "/id", "injection-", `{"id":"","content":"","depth":4,"role":"system","enabled":true}`)

var depth = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		val, _ := twin.Int.Read(n)
		switch {
		case val != nil && !strings.HasPrefix(val.Raw(), "-"):
			return val, ""
		case n.Kind() == canon.Null:
			return canon.NewInt(4), ""
		}
		return canon.NewInt(4), "is not a whole number from 0; 4 is used"
	},
	Write: twin.Int.Write, Empty: `4`,
}

var role = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		word, known := readRole(n)
		if !known {
			return canon.NewText(word), "is not system, user or assistant; system is used"
		}
		return canon.NewText(word), ""
	},
	Write: func(val, _ *canon.Node) *canon.Node { return val }, Empty: `"system"`,
}

func readOff(n *canon.Node) (*canon.Node, string) {
	if on, problem := twin.Bool.Read(n); on == nil || on.Raw() == "true" {
		return nil, problem
	}
	return canon.NewBool(true), ""
}

func writeOff(val, old *canon.Node) *canon.Node {
	return twin.Bool.Write(canon.NewBool(val.Raw() != "true"), old)
}

const (
	alternatesAt = "/alternate_greetings"
	titlesAt     = roleCall + "/alternate_greeting_titles"
)

// titled are alternate greetings whose titles stand beside, in the same order.
var titled = twin.Codec{
	Read: func(data *canon.Node) (*canon.Node, string) {
		vals, problem := greetings.Read(data.At(alternatesAt))
		n := 0
		for i, raw := range data.At(alternatesAt).Items() {
			if val, _ := readGreeting(raw); val == nil {
				continue
			}
			if title := data.At(titlesAt + "/" + strconv.Itoa(i)).Text(); title != "" {
				must(vals.Set("/"+strconv.Itoa(n)+"/title", canon.NewText(title)))
			}
			n++
		}
		return vals, problem
	},
	Write: func(val, data *canon.Node) *canon.Node {
		if data == nil {
			return nil
		}
		data = data.Clone()
		var list []*canon.Node
		some := false
		for _, g := range val.Items() {
			title := canon.NewNull()
			if t := g.Field("title"); t.Text() != "" {
				title, some = t, true
			}
			list = append(list, title)
		}
		was := data.At(titlesAt)
		if put := twin.Refill(was, list); (some || was != nil) && !canon.Equal(was, put) {
			must(data.Set(titlesAt, put))
		}
		plain := canon.NewArray()
		if val != nil {
			plain = val
		}
		must(data.Set(alternatesAt, greetings.Write(plain, data.At(alternatesAt))))
		return data
	},
}

// backgroundRef is an address, or an id of RoleCall's.
var backgroundRef = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		if url, _ := twin.ReadText(n.Field("customUrl")); url != nil {
			return url, ""
		}
		return twin.ReadText(n.Field("backgroundId"))
	},
	Write: func(val, old *canon.Node) *canon.Node {
		out := canon.NewObject()
		if old.Kind() == canon.Object {
			out = old.Clone()
		}
		key, other := "/backgroundId", "/customUrl"
		if strings.Contains(val.Text(), "://") || old.Field("customUrl").Text() != "" && val != nil {
			key, other = other, key
		}
		if val == nil {
			val = canon.NewNull()
			key, other = "/customUrl", "/backgroundId"
		}
		must(out.Set(key, val))
		if out.At(other).Kind() != canon.Null {
			must(out.Set(other, canon.NewNull()))
		}
		return out
	},
}

// spoilers are the names of switches that are on.
var spoilers = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		var on []*canon.Node
		for name, v := range n.Members() {
			if is, _ := twin.Flag.Read(v); is != nil && name != "" && v == n.Field(name) {
				on = append(on, canon.NewText(name))
			}
		}
		if on == nil {
			return nil, ""
		}
		return canon.NewArray(on...), ""
	},
	Write: func(val, old *canon.Node) *canon.Node {
		out := canon.NewObject()
		if old.Kind() == canon.Object {
			out = old.Clone()
		}
		want := map[string]bool{}
		for _, name := range val.Items() {
			want[name.Text()] = true
			if is, _ := twin.Flag.Read(out.Field(name.Text())); is == nil {
				must(out.Set(canon.JoinPointer(name.Text()), canon.NewBool(true)))
			}
		}
		for name, v := range old.Members() {
			if is, _ := twin.Flag.Read(v); is != nil && !want[name] {
				must(out.Set(canon.JoinPointer(name), canon.NewBool(false)))
			}
		}
		return out
	},
	Lossy: func(val *canon.Node) string {
		seen := map[string]bool{}
		for _, name := range val.Items() {
			if seen[name.Text()] || name.Text() == "" {
				return "RoleCall has one switch for each field"
			}
			seen[name.Text()] = true
		}
		return ""
	},
}

// biases are pairs of a text and a number.
var biases = twin.Codec{
	Read:  twin.ReadList(readBias),
	Write: twin.WriteList(readBias, func(v *canon.Node) *canon.Node { return canon.NewArray(v.Field("text"), v.Field("value")) }),
	Empty: `[]`,
}

func readBias(n *canon.Node) (*canon.Node, string) {
	num, _ := twin.ReadNumber(n.At("/1"))
	if n.Kind() != canon.Array || n.At("/0").Kind() != canon.String || num == nil {
		return nil, "is no pair of a text and a number"
	}
	val := canon.NewObject()
	must(val.Set("/text", n.At("/0")))
	must(val.Set("/value", num))
	return val, ""
}

// variables are lines of a name, = and a value.
var variables = twin.Codec{
	Read: func(n *canon.Node) (*canon.Node, string) {
		text, problem := twin.ReadText(n)
		if text == nil {
			return nil, problem
		}
		val := canon.NewObject()
		for line := range strings.SplitSeq(text.Text(), "\n") {
			if name, v, ok := strings.Cut(line, "="); ok && name != "" && val.Field(name) == nil {
				must(val.Set(canon.JoinPointer(name), canon.NewText(v)))
			}
		}
		if val.Len() == 0 {
			return nil, problem
		}
		return val, problem
	},
	Write: func(val, old *canon.Node) *canon.Node {
		var lines, more []string
		had := map[string]bool{}
		if text := old.Text(); text != "" {
			for line := range strings.SplitSeq(text, "\n") {
				name, _, ok := strings.Cut(line, "=")
				switch v := val.Field(name); {
				case !ok || name == "":
					lines = append(lines, line)
				case v != nil && !had[name]:
					lines = append(lines, name+"="+v.Text())
				}
				had[name] = ok || had[name]
			}
		}
		for name, v := range val.Members() {
			if !had[name] {
				more = append(more, name+"="+v.Text())
			}
		}
		slices.Sort(more)
		return canon.NewText(strings.Join(append(lines, more...), "\n"))
	},
	Lossy: func(val *canon.Node) string {
		for name, v := range val.Members() {
			if strings.ContainsAny(name, "=\n") || strings.Contains(v.Text(), "\n") || name == "" {
				return "Risu has a line for each variable, with = behind its name"
			}
		}
		return ""
	},
}
