package card

import "github.com/soundstage-dev/soundstage/runtime/studio/content/twin"

// A field ties a place in the canonical body to its place in each version.
type field struct {
	path  string // in the canonical body
	codec twin.Codec
	at    [4]place // by Version; 0 is unused
}

// A place is where a version keeps a field, seen from its root. The zero place is
// nowhere.
type place struct {
	ptr      string
	required bool   // the specification demands the key: cleared means its default
	foreign  string // "" for a key that readers of the version know, else why it is a loss
	gone     string // why there is no place, where that is not for the version
}

// need is a key that the specification demands, may an optional one that readers
// know, kept an extension that few read.
func need(ptr string) place      { return place{ptr: ptr, required: true} }
func may(ptr string) place       { return place{ptr: ptr} }
func kept(ptr, why string) place { return place{ptr: ptr, foreign: why} }

const (
	oursOnly   = "the version has no place for it; it is kept under extensions.soundstage, which other programs ignore"
	marinara   = "the version has no place for it; it is kept in an extension that Marinara reads"
	tavernOnly = "the version has no place for it; it is kept in an extension that SillyTavern reads"
	oldTavern  = "the version has no place for it; it is kept in a key that old SillyTavern files have"
)

// everywhere is one key in all three versions.
func everywhere(ptr string) [4]place { return [4]place{V1: need(ptr), V2: need(ptr), V3: need(ptr)} }

// since2 is a key that versions 2 and 3 demand.
func since2(ptr string) [4]place { return [4]place{V2: need(ptr), V3: need(ptr)} }

// extension is one that versions 2 and 3 carry, with why it is a loss, if it is.
func extension(ptr, why string) [4]place {
	return [4]place{V2: kept("/extensions"+ptr, why), V3: kept("/extensions"+ptr, why)}
}

// only3 is an optional key of version 3, kept by us in version 2.
func only3(ptr, ours string) [4]place {
	return [4]place{V2: kept("/extensions/soundstage"+ours, oursOnly), V3: may(ptr)}
}

// with1 adds a place in a version 1 file.
func with1(p place, at [4]place) [4]place {
	at[V1] = p
	return at
}

// fields is the whole correspondence: every field of the body, with a place or as a
// loss. What is only ours comes last.
var fields = append([]field{
	{"/identity/name", twin.Text, everywhere("/name")},
	{"/identity/nickname", twin.Text, only3("/nickname", "/nickname")},
	{"/identity/tagline", twin.Text, extension("/soundstage/tagline", oursOnly)},
	{"/identity/fullName", twin.Text, extension("/soundstage/fullName", oursOnly)},
	{"/identity/title", twin.Text, extension("/soundstage/title", oursOnly)},
	{"/identity/age", twin.Text, extension("/soundstage/age", oursOnly)},
	{"/identity/pronouns", twin.Text, extension("/soundstage/pronouns", oursOnly)},
	{"/persona/description", twin.Text, everywhere("/description")},
	{"/persona/personality", twin.Text, everywhere("/personality")},
	{"/persona/scenario", twin.Text, everywhere("/scenario")},
	{"/persona/appearance", twin.Text, extension("/appearance", marinara)},
	{"/persona/backstory", twin.Text, extension("/backstory", marinara)},
	{"/prompts/system", twin.Text, since2("/system_prompt")},
	{"/prompts/postHistory", twin.Text, since2("/post_history_instructions")},
	{"/prompts/depthInjections", depthPrompt, extension("/depth_prompt", "")},
	{"/greetings/first", twin.Text, everywhere("/first_mes")},
	{"/greetings/alternates", greetings, since2("/alternate_greetings")},
	{"/greetings/groupOnly", twin.TextList, [4]place{V2: kept("/extensions/group_only_greetings", tavernOnly), V3: need("/group_only_greetings")}},
	{"/examples", twin.Text, everywhere("/mes_example")},
	{"/media/assets", assets, [4]place{V3: may("/assets")}},
	{"/attribution/creator", twin.Text, with1(kept("/creator", oldTavern), since2("/creator"))},
	{"/attribution/version", twin.Text, since2("/character_version")},
	{"/attribution/source", twin.TextList, only3("/source", "/source")},
	{"/attribution/created", twin.Seconds, only3("/creation_date", "/created")},
	{"/attribution/modified", twin.Seconds, only3("/modification_date", "/modified")},
	{"/discovery/tags", twin.Tags, with1(kept("/tags", oldTavern), since2("/tags"))},
	{"/discovery/creatorNotes", twin.Text, with1(kept("/creatorcomment", oldTavern), since2("/creator_notes"))},
	{"/discovery/multilingual", twin.TextMap, only3("/creator_notes_multilingual", "/multilingual")},
	{"/settings/talkativeness", twin.Number, with1(kept("/talkativeness", oldTavern), extension("/talkativeness", ""))},
	{"/variants", twin.Codec{}, [4]place{}},
	{"/worldName", twin.Text, extension("/world", "")},
}, own()...)

// A Field is one row of the correspondence, for the generated reference. A place
// that a version does not have is "".
type Field struct {
	Path, V1, V2, V3 string
	Programs         []string // places in the extensions of programs, in cards that have them
}

// Fields lists what the codec carries, in the order of the canonical body.
func Fields() []Field {
	rows := make([]Field, len(fields))
	for i, f := range fields {
		rows[i] = Field{Path: f.path}
		for v, to := range map[Version]*string{V1: &rows[i].V1, V2: &rows[i].V2, V3: &rows[i].V3} {
			if f.at[v].ptr != "" {
				*to = v.root() + f.at[v].ptr
			}
		}
		for _, h := range homes[f.path] {
			rows[i].Programs = append(rows[i].Programs, V2.root()+h.bag+h.ptr)
		}
	}
	return rows
}
