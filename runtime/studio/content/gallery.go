package content

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/carrier"
)

// A Gallery finds the picture that stands for a piece, in its body and in its originals.
// It gives no bytes away, and fetches nothing.
type Gallery struct{}

// Picture is the first picture that is there: the portrait, then what a body names as an
// icon or as its default item, then any item.
func (Gallery) Picture(p store.Piece) (studio.Picture, string) {
	body, err := canon.ParseTree(p.Body)
	if err != nil {
		return studio.Picture{}, "its body does not parse"
	}
	missing := "it names none"
	for _, at := range pictureRefs(p.Kind, body) {
		pic, why := look(p, body.At(at).Text())
		if why == "" {
			pic.Path = at
			return pic, ""
		}
		if missing == "it names none" {
			missing = at + " " + why
		}
	}
	return studio.Picture{}, missing
}

// pictureRefs are the pointers of references to pictures, the best first.
func pictureRefs(kind string, body *canon.Node) []string {
	var first, rest []string
	add := func(list, ref, better string, is func(*canon.Node) bool) {
		for i, v := range body.At(list).Items() {
			at := list + "/" + strconv.Itoa(i) + ref
			if is(v) {
				first = append(first, at)
			} else if better == "" || v.Field("type").Text() == better {
				rest = append(rest, at)
			}
		}
	}
	switch kind {
	case KindCharacter:
		first = append(first, "/media/portrait")
		add("/media/assets", "/uri", "icon", func(v *canon.Node) bool {
			return v.Field("type").Text() == "icon" && v.Field("name").Text() == "main"
		})
	case KindPersona:
		first = append(first, "/portrait")
	case KindPack:
		standard := body.Field("default").Text()
		add("/items", "/ref", "", func(v *canon.Node) bool { return standard != "" && v.Field("id").Text() == standard })
	}
	kept := first[:0]
	for _, at := range append(first, rest...) {
		if body.At(at).Text() != "" {
			kept = append(kept, at)
		}
	}
	return kept
}

// look checks that a reference leads to a picture.
func look(p store.Piece, ref string) (studio.Picture, string) {
	scheme, rest, _ := strings.Cut(ref, ":")
	switch strings.ToLower(scheme) {
	case "data":
		return inline(rest)
	case "http", "https":
		u, err := url.Parse(ref)
		if err != nil || u.Host == "" {
			return studio.Picture{}, "is no address"
		}
		return studio.Picture{Source: "url", MIME: imageType(u.Path)}, ""
	case "original":
		return original(p, func(e store.Escrow) bool { return e.Format == rest || rest == "" })
	case "ccdefault":
		return original(p, func(store.Escrow) bool { return true })
	case "__asset", "asset":
		return asset(p, strings.TrimPrefix(rest, "//"))
	case "embeded", "embedded", "archive":
		return archived(p, strings.TrimPrefix(rest, "//"))
	}
	return studio.Picture{}, "is a reference of a kind that is not known here"
}

// inline is a picture in a data URI.
func inline(rest string) (studio.Picture, string) {
	head, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return studio.Picture{}, "is a data: URI that is not base64"
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return studio.Picture{}, "is a data: URI that does not decode"
	}
	return pictured("data", raw)
}

// pictured wants bytes to begin as a picture does.
func pictured(source string, raw []byte) (studio.Picture, string) {
	for _, t := range pictures {
		if len(raw) > t.at && bytes.HasPrefix(raw[t.at:], []byte(t.magic)) {
			return studio.Picture{Source: source, MIME: "image/" + t.name, Bytes: len(raw)}, ""
		}
	}
	return studio.Picture{}, "leads to what is no picture"
}

// original is the picture that a card came in.
func original(p store.Piece, is func(store.Escrow) bool) (studio.Picture, string) {
	for _, e := range p.Escrow {
		if is(e) {
			if pic, why := pictured("original", e.Raw); why == "" {
				return pic, ""
			}
		}
	}
	return studio.Picture{}, "leads to an original that is no picture, or is not there"
}

// asset is a picture in a chunk of the file that the piece came in, or in its archive.
func asset(p store.Piece, id string) (studio.Picture, string) {
	for _, e := range p.Escrow {
		if carrier.Sniff(e.Raw) != carrier.PNG {
			continue
		}
		if f, err := carrier.Read(e.Raw); err == nil && f.Assets[id] {
			return studio.Picture{Source: "asset", MIME: imageType(id)}, ""
		}
	}
	if pic, why := archived(p, id); why == "" {
		pic.Source = "asset"
		return pic, ""
	}
	return studio.Picture{}, "leads to an asset that is not in the original file"
}

// archived is a picture in the archive that the piece came in.
func archived(p store.Piece, name string) (studio.Picture, string) {
	for _, e := range p.Escrow {
		r, err := zip.NewReader(bytes.NewReader(e.Raw), int64(len(e.Raw)))
		if err != nil {
			continue
		}
		for _, f := range r.File {
			if path.Clean(f.Name) == path.Clean(name) && !f.FileInfo().IsDir() && strings.HasPrefix(imageType(f.Name), "image/") {
				return studio.Picture{Source: "archive", MIME: imageType(f.Name), Bytes: int(min(f.UncompressedSize64, carrier.MaxFile))}, ""
			}
		}
	}
	return studio.Picture{}, "leads into an archive that is not there, or does not hold it"
}

// pictures are the types that are known by their first bytes.
var pictures = []struct {
	name, magic string
	at          int
}{{"png", "\x89PNG\r\n\x1a\n", 0}, {"jpeg", "\xff\xd8\xff", 0}, {"gif", "GIF8", 0}, {"webp", "WEBP", 8}, {"avif", "ftypavif", 4}, {"bmp", "BM", 0}}

// imageType is what the end of a name says; "" is nothing.
func imageType(name string) string {
	switch ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")); ext {
	case "png", "jpeg", "gif", "webp", "avif", "bmp":
		return "image/" + ext
	case "jpg":
		return "image/jpeg"
	case "svg":
		return "image/svg+xml"
	}
	return ""
}
