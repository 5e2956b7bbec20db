package studio

import (
	"context"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// The bounds of folders.
const (
	maxDepth   = 8
	maxEntries = 500       // of one answer
	maxFile    = 1 << 20   // bytes of a file that is read as text
	maxSearch  = 256 << 10 // bytes of a file whose text is searched
	maxHits    = 50
)

// The codes of folders. Those of an adapter stand beside its own code.
const (
	CodeFolder     fault.Code = "FOLDER_UNKNOWN" // no such folder is shared
	CodeFolderPath fault.Code = "FOLDER_PATH"    // a path that may not be asked for
	CodeFolderText fault.Code = "FOLDER_BINARY"  // the file is no text
)

// The standing grant: what every studio gives, without being shared.
const (
	standing     = "studio"
	standingFile = "Export" // what people exported, as files
	standingTree = "pieces" // every piece as a file that can only be read
)

// A Place is a path in a shared folder.
type Place struct {
	Grant string // the folder's name; "" is the studio's Export folder
	Path  string // with slashes, as fs.ValidPath has it; "." is the folder itself
}

// A FileEntry is one line of a listing.
type FileEntry struct {
	Path  string `json:"path"`            // from the name of the shared folder on
	Type  string `json:"type"`            // file, folder, link, other
	Bytes int64  `json:"bytes,omitempty"` // of a file
	Note  string `json:"note,omitempty"`  // why it is not entered
}

// Folders are the folders that a person shared. Nothing outside of them can be reached
// through it, whatever links there are.
type Folders interface {
	// Names are those of the shared folders.
	Names(ctx context.Context) ([]string, error)
	// Walk lists what is below a place, depth levels of it and at most entries; more says
	// that there is more. Links are named and never followed.
	Walk(ctx context.Context, at Place, depth, entries int) (list []FileEntry, more bool, err error)
	// Read gives a regular file of at most so many bytes.
	Read(ctx context.Context, at Place, most int64) ([]byte, error)
}

// FolderAction is what folder.search does.
type FolderAction string

// Enum lists the actions.
func (FolderAction) Enum() []string { return []string{"list", "search", "read"} }

// FolderIn asks about shared folders.
type FolderIn struct {
	Action FolderAction `json:"action,omitempty" jsonschema:"list gives what is in a folder, search finds names and texts, read gives a text file; list if left out"`
	Path   string       `json:"path,omitempty" jsonschema:"a path that begins with the name of a shared folder, such as cards/ada.json; leave out to see which folders are shared"`
	Query  string       `json:"query,omitempty" jsonschema:"for search: text to find in names and in text files, taken literally, upper and lower case alike"`
	Depth  int          `json:"depth,omitempty" jsonschema:"for list: how many levels, 1 to 8; 1 if left out"`
	Offset int          `json:"offset,omitempty" jsonschema:"for read: the character to begin at"`
	Limit  int          `json:"limit,omitempty" jsonschema:"for read: how many characters at most, 1 to 32000; 12000 if left out"`
}

// FolderOut is what was found.
type FolderOut struct {
	Entries    []FileEntry `json:"entries,omitzero"`
	More       bool        `json:"more,omitempty"` // there is more than one answer holds
	Path       string      `json:"path,omitempty"`
	Text       *string     `json:"text,omitempty"`
	Characters int         `json:"characters,omitempty"` // of the whole file
	Offset     int         `json:"offset,omitempty"`
	NextOffset int         `json:"next_offset,omitempty"`
}

func folderTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "folder.search", Title: "Search shared folders", Effect: tool.Read, Exposure: tool.Direct,
		Summary: "List, search and read files in folders that the person shared, and in the studio itself.",
		Description: "Nothing else on the machine can be reached, and nothing is written. studio/Export holds what was exported, studio/pieces every piece " +
			"as kind/id.json. Bring a file into the studio with folder.import.",
	}, func(ctx context.Context, _ tool.Call, in FolderIn) (tool.Reply[FolderOut], error) {
		out, err := d.folder(ctx, in)
		return tool.Reply[FolderOut]{Out: out}, err
	})
}

func (d Deps) folder(ctx context.Context, in FolderIn) (FolderOut, error) {
	const op = "folder.search"
	clean, err := cleanPath(in.Path)
	if err != nil {
		return FolderOut{}, err
	}
	depth, err := bounded(op, in.Depth, 1, maxDepth)
	if err != nil {
		return FolderOut{}, err
	}
	switch in.Action {
	case "read":
		return d.readShared(ctx, clean, in)
	case "search":
		if strings.TrimSpace(in.Query) == "" {
			return FolderOut{}, fault.New(fault.Invalid, op, "the query is empty").WithHint("give a text to find, or action list")
		}
		return d.searchShared(ctx, clean, in.Query)
	}
	list, more, err := d.walk(ctx, clean, depth, maxEntries)
	return FolderOut{Entries: list, More: more}, err
}

// cleanPath refuses what no shared folder could mean; "" is all of them.
func cleanPath(p string) (string, error) {
	p = strings.TrimSuffix(p, "/")
	if p == "" || p == "." {
		return "", nil
	}
	if !fs.ValidPath(p) || strings.ContainsAny(p, "\x00\\") || len(p) > 4096 {
		return "", fault.New(CodeFolderPath, "folder.path", "the path %q is none in a shared folder", short80(p)).
			WithHint("begin with a folder that list shows, with / between, and no .. in it")
	}
	for _, part := range strings.Split(p, "/") {
		if strings.HasPrefix(part, ".") {
			return "", fault.New(CodeFolderPath, "folder.path", "the path %q is hidden, and what is hidden is not shared", short80(p)).WithHint("ask the person to put the file elsewhere")
		}
	}
	return p, nil
}

// walk lists below a path, over all that is shared.
func (d Deps) walk(ctx context.Context, p string, depth, most int) (list []FileEntry, more bool, err error) {
	list = []FileEntry{}
	if p == "" {
		names, err := d.Folders.Names(ctx)
		for _, n := range append([]string{standing}, names...) {
			list = append(list, FileEntry{Path: n, Type: "folder"})
			if depth > 1 && err == nil {
				var below []FileEntry
				below, more, err = d.walk(ctx, n, depth-1, most-len(list))
				list = append(list, below...)
			}
			if len(list) >= most {
				return list[:most], true, err
			}
		}
		return list, more, err
	}
	head, rest, _ := strings.Cut(p, "/")
	if head != standing {
		at := Place{head, rest}
		if rest == "" {
			at.Path = "."
		}
		return d.Folders.Walk(ctx, at, depth, most)
	}
	switch first, below, _ := strings.Cut(rest, "/"); {
	case first == "":
		list = append(list, FileEntry{Path: standing + "/" + standingFile, Type: "folder"}, FileEntry{Path: standing + "/" + standingTree, Type: "folder"})
		for _, sub := range list[:2] {
			if depth > 1 && err == nil && len(list) < most {
				var deeper []FileEntry
				var cut bool
				deeper, cut, err = d.walk(ctx, sub.Path, depth-1, most-len(list))
				list, more = append(list, deeper...), more || cut
			}
		}
		return list, more, err
	case first == standingFile:
		return d.Folders.Walk(ctx, Place{"", path.Join(".", below)}, depth, most)
	case first == standingTree:
		return d.walkPieces(ctx, below, depth, most)
	}
	return nil, false, noFolder(p)
}

func noFolder(p string) error {
	return fault.New(CodeFolder, "folder.path", "%q is in no folder that is shared", short80(p)).
		WithHint("call folder.search with action list and no path to see the folders; only the person shares more, with soundstage folder share")
}

// walkPieces lists the virtual tree: a folder a kind, a file a piece.
func (d Deps) walkPieces(ctx context.Context, below string, depth, most int) (list []FileEntry, more bool, err error) {
	kind, file, _ := strings.Cut(below, "/")
	if file != "" {
		return nil, false, fault.New(CodeFolderPath, "folder.path", "%q is a file", short80(below)).WithHint("use action read")
	}
	list = []FileEntry{}
	prefix, last := standing+"/"+standingTree+"/", ""
	for s, err := range store.All(ctx, d.Store, store.Query{Kind: kind}) {
		if err != nil {
			return list, false, err
		}
		if kind == "" && s.Kind != last {
			list, last = append(list, FileEntry{Path: prefix + s.Kind, Type: "folder"}), s.Kind
		}
		if kind != "" || depth > 1 {
			list = append(list, FileEntry{Path: prefix + s.Ref.String() + ".json", Type: "file", Bytes: s.Size})
		}
		if len(list) > most {
			return list[:most], true, nil
		}
	}
	return list, false, nil
}

// bytesAt is a file of what is shared.
func (d Deps) bytesAt(ctx context.Context, p string, most int64) ([]byte, error) {
	head, rest, _ := strings.Cut(p, "/")
	if rest == "" {
		return nil, fault.New(CodeFolderPath, "folder.read", "%q names no file", short80(p)).WithHint("give a path of a file that list shows")
	}
	if head != standing {
		return d.Folders.Read(ctx, Place{head, rest}, most)
	}
	first, below, _ := strings.Cut(rest, "/")
	switch {
	case first == standingFile && below != "":
		return d.Folders.Read(ctx, Place{"", below}, most)
	case first == standingTree:
		ref, ok := strings.CutSuffix(below, ".json")
		kind, id, two := strings.Cut(ref, "/")
		if !ok || !two {
			break
		}
		piece, err := d.stored(ctx, "folder.read", store.Ref{Kind: kind, ID: id}, 0)
		return piece.Body, err
	}
	return nil, noFolder(p)
}

func (d Deps) readShared(ctx context.Context, p string, in FolderIn) (FolderOut, error) {
	const op = "folder.read"
	raw, err := d.bytesAt(ctx, p, maxFile)
	if err != nil {
		return FolderOut{}, err
	}
	if !isText(raw) {
		return FolderOut{}, fault.New(CodeFolderText, op, "%q is no text file", short80(p)).
			WithHint("a card or another file of a platform comes into the studio with folder.import")
	}
	page, next, err := Page(op, string(raw), in.Offset, in.Limit, result.MaxRead, maxPage)
	return FolderOut{Path: p, Text: &page, Characters: utf8.RuneCount(raw), Offset: in.Offset, NextOffset: next}, err
}

func isText(raw []byte) bool { return utf8.Valid(raw) && !strings.ContainsRune(string(raw), 0) }

// searchShared finds a text in names, and in files that are short texts.
func (d Deps) searchShared(ctx context.Context, p, query string) (FolderOut, error) {
	list, more, err := d.walk(ctx, p, maxDepth, 4*maxEntries)
	if err != nil {
		return FolderOut{}, err
	}
	out := FolderOut{Entries: []FileEntry{}, More: more}
	want := store.Fold(query)
	for _, e := range list {
		hit := strings.Contains(store.Fold(path.Base(e.Path)), want)
		if !hit && e.Type == "file" && e.Bytes <= maxSearch {
			raw, err := d.bytesAt(ctx, e.Path, maxSearch)
			if err != nil {
				continue // gone, or not readable: it is no hit
			}
			folded := store.Fold(string(raw))
			if i := strings.Index(folded, want); i >= 0 && isText(raw) {
				hit, e.Note = true, "found in its text"
			}
		}
		if hit && len(out.Entries) == maxHits {
			out.More = true
			break
		}
		if hit {
			out.Entries = append(out.Entries, e)
		}
		if ctx.Err() != nil {
			return out, fault.Wrap(ctx.Err(), fault.Cancelled, "folder.search", "the search was not finished")
		}
	}
	return out, nil
}
